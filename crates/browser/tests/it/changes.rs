//! A capture of what changed says the same as one that reads everything.

use crate::fixture::{evaluate, eventually};
use crate::site::{Page, Site};
use crate::story::{Running, key_of, profile};
use baton_browser::capture::Depth;
use baton_browser::keeper::Role;
use baton_browser::live::Live;
use baton_session::State;
use baton_testing::Dice;

async fn site() -> Site {
    let script = include_str!("pages/changes.js");
    let top = "<iframe src='http://inner.localhost:{port}/inner'></iframe>";
    Site::builder()
        .page("/", Page::html(format!("<script>{script}</script>{top}")))
        .page("/inner", Page::html(format!("<script>{script}</script>")))
        .start()
        .await
}

/// What a second observer finds who knows nothing; without what only the first can know.
async fn read_anew(running: &Running) -> State {
    let link = running.kept.connect(Role::Client).await;
    let observer = Live::start(link, State::default()).await.unwrap();
    let captured = observer.capture(Depth::Whole, false).await.unwrap();
    assert_eq!(captured.unread, []);
    comparable(captured.state)
}

fn comparable(mut state: State) -> State {
    state.environment = baton_session::Environment::default();
    state.tabs.sort_by(|a, b| a.id.cmp(&b.id));
    state
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_pages_do_the_changes_add_up() {
    let ((_folder, profile), site) = (profile(), site().await);
    let running = Running::start(&profile).await;
    let tabs = [site.url("a", "/"), site.url("a", "/?second"), site.url("b", "/")];
    let mut pages = Vec::new();
    for url in &tabs {
        pages.push(running.open(url).await);
    }
    let mut dice = Dice::new();
    for round in 0..30 {
        for _ in 0..=dice.roll(8) {
            let page = &pages[usize::try_from(dice.roll(3)).unwrap()];
            let place = if dice.roll(3) == 0 { "inside" } else { "change" };
            let call =
                format!("{place}({}, {}, {})", dice.roll(13), dice.roll(1000), dice.roll(1000));
            assert_eq!(evaluate(page, &call).await, "done", "{call}");
        }
        let whole = read_anew(&running).await;
        let equal = async || comparable(running.changed().await) == whole;
        eventually(&format!("the changes of round {round} are known"), equal).await;
    }
    running.crash().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_is_made_again_empty_is_read_again() {
    let ((_folder, profile), site) = (profile(), site().await);
    let url = site.url("a", "/");
    let running = Running::start(&profile).await;
    let page = running.open(&url).await;
    let records = |state: &State| {
        let databases = &state.origins.get(&key_of(&url))?.databases;
        databases.first().map(|database| database.stores[0].records.len())
    };
    evaluate(&page, "fill('login', 3)").await;
    assert_eq!(records(&running.capture().await), Some(3));
    // A logout: no event tells of records.
    evaluate(&page, "remove('login').then(() => fill('login', 0))").await;
    eventually("it is known to be empty", async || records(&running.changed().await) == Some(0))
        .await;
    running.crash().await;
}
