//! States made at random, whole: killed, resumed, exported, imported, and equal.
//!
//! A state is what one tab and the sites in it hold: everything but the environment, drawn kind by
//! kind from what is easily lost. A session has [`TABS`] of them, each drawn on its own, and one
//! environment. Page scripts and answers of a server write them, as sites do, and other scripts read
//! them back, with no word of Baton's own. A seed decides all of it; it stands in the output of a
//! test that fails, and `BATON_TEST_SEED` with `BATON_SOAK_ROUNDS=1` makes the same session again.

mod carry;
mod picture;
mod site;
mod way;
mod window;
mod world;

use crate::test_nodes::test_node;
use baton_api::OpenSession;
use baton_playground::TestNode;
use baton_session::cookie::SourceScheme;
use baton_session::{SessionId, State};
use baton_testing::{Dice, SEED, rounds, seed};
use carry::{carry, resume};
use picture::Picture;
use site::Sites;
use url::Url;
use way::TabTrail;
use window::Window;

/// How many sessions when nobody asks for more.
const ROUNDS: u64 = 4;
/// How many more at most, until every kind was met.
const MORE: u64 = 8;
/// How many states a session has.
const TABS: usize = 6;
/// How many steps a tab goes before it is captured.
const STEPS: usize = 2;
/// How often a page is asked that is too busy to answer a capture: beside other stories on a slow
/// machine none of six may answer in time for a minute.
const CAPTURES: usize = 20;
/// What a run must have met, so that it never passes because little was written.
const MET: [&str; 32] = [
    "localStorage \"",
    "sessionStorage \"",
    "IndexedDB \"",
    "cache \"",
    "file \"",
    "worker http",
    "cookie: ",
    " > ",
    "__Host-",
    "\"topLevelSite\"",
    "\\ud83d",
    "\\u0000",
    "Date(",
    "RegExp(",
    "Map(",
    "Set(",
    "Error(",
    "BigInt(",
    "Float64Array(",
    "DataView(",
    "ArrayBuffer(",
    "and on",
    "Blob(",
    "File(",
    "CryptoKey(",
    "-0",
    "NaN",
    "undefined",
    "#0",
    "next = ",
    "state = Object(",
    "by \"",
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_sites_keep_comes_back_here_and_elsewhere() {
    let sites = Sites::start().await;
    let [mut home, mut away] = [test_node().await, test_node().await];
    let first = seed();
    let mut met = String::new();
    let missing =
        |met: &str| MET.into_iter().filter(|kind| !met.contains(kind)).collect::<Vec<_>>();
    for round in 0.. {
        // Chance decides what is written: a few rounds more bring what is still to be met.
        let is_enough = rounds(ROUNDS) < ROUNDS || missing(&met).is_empty();
        if round >= rounds(ROUNDS) && (is_enough || round >= rounds(ROUNDS) + MORE) {
            assert!(is_enough, "nothing was met of {:?}", missing(&met));
            break;
        }
        let seed = first.wrapping_add(round);
        println!("{SEED}={seed} BATON_SOAK_ROUNDS=1");
        let (before, differences) = Story::new(&sites, seed).tell(&mut home, &mut away).await;
        let log = [home.log_tail(), away.log_tail()].join("\n");
        assert!(differences.is_empty(), "\n{}\n{log}", differences.join("\n"));
        met.extend(before.0.into_iter().flat_map(|(place, text)| [place, " = ".into(), text]));
    }
    home.clear().await.unwrap();
    away.clear().await.unwrap();
}

/// One session: its sites, and what was seen of it before everybody died.
struct Story {
    name: String,
    dice: Dice,
    pages: Vec<Url>,
    tabs: Vec<Url>,
}

impl Story {
    fn new(sites: &Sites, seed: u64) -> Self {
        let mut dice = Dice::of(seed);
        let (pages, tabs) = (0..TABS).map(|number| sites.page_of(&mut dice, number)).unzip();
        Self { name: format!("states-{seed}"), dice, pages, tabs }
    }

    /// Says what there was, and what did not come back.
    async fn tell(mut self, home: &mut TestNode, away: &mut TestNode) -> (Picture, Vec<String>) {
        let environment = world::environment(&mut self.dice);
        let request = OpenSession {
            environment,
            ..OpenSession::new(self.name.parse().unwrap(), self.tabs.clone())
        };
        let id = home.client().unwrap().open_session(&request).await.unwrap().session.id;
        let ways = self.fill(home, id).await;
        let before = self.look(home, id).await;
        let captured = self.capture(home).await;
        home.kill_everybody(&[id]).await.unwrap();
        home.start_node().await.unwrap();

        let mut differences = Vec::new();
        let mut compare = |when: &str, (seen, state): (Picture, Picture)| {
            let all = before.differences(&seen).into_iter().chain(captured.differences(&state));
            differences.extend(all.map(|line| format!("{when}: {line}")));
        };
        let lost_here = resume(home, &self.name);
        compare("resumed", (self.look(home, id).await, self.capture(home).await));

        carry(home, away, &self.name, self.dice.roll(2) == 0);
        let lost_away = resume(away, &self.name);
        let id_away = away.client().unwrap().fetch_session(&self.name).await.unwrap().session.id;
        compare("imported", (self.look(away, id_away).await, self.capture(away).await));
        // First of all: what the receipts tell is why other lines differ.
        differences.splice(0..0, lost_here.into_iter().chain(lost_away));
        let window = Window::of(away, id_away).await;
        for way in &ways {
            differences.extend(way.go_again(&window).await);
        }
        for test_node in [home, away] {
            test_node.client().unwrap().abandon_session(&self.name).await.unwrap();
        }
        (before, differences)
    }

    /// Writes every state and lets the tabs go their ways.
    async fn fill(&mut self, test_node: &TestNode, id: SessionId) -> Vec<TabTrail> {
        let window = Window::of(test_node, id).await;
        for number in 0..TABS {
            let seed = format!("{} {number}", self.name);
            let refused = window.tab(number).await.evaluate(&format!("fill('{seed}')")).await;
            assert_eq!(refused, serde_json::json!([]));
        }
        // What no tab shows any more is read by nobody.
        self.take(test_node).await;
        let mut ways: Vec<TabTrail> = (0..TABS).map(TabTrail::of).collect();
        for step in 0..STEPS {
            for way in &mut ways {
                way.step(&window, &mut self.dice, &format!("{} {step}", self.name)).await;
            }
            // Of an entry that is left, the page tells nothing any more.
            self.take(test_node).await;
        }
        let front = usize::try_from(self.dice.roll(TABS as u64)).unwrap();
        window.activate(&window.tab(front).await).await;
        ways
    }

    /// Everything that can be seen of the session.
    async fn look(&self, test_node: &TestNode, id: SessionId) -> Picture {
        let window = Window::of(test_node, id).await;
        let mut picture = Picture::default();
        for number in 0..TABS {
            picture.0.extend(picture::tab(&window, number).await.0);
        }
        picture.0.extend(picture::stored(&window, &self.pages).await.0);
        picture
    }

    /// Captures the session. What did not answer in time is named, and asked again.
    async fn take(&self, test_node: &TestNode) {
        for _ in 0..CAPTURES {
            let captured = test_node.client().unwrap().capture_session(&self.name).await.unwrap();
            // What is never kept is named each time.
            if captured.unread.iter().all(|unread| unread.kind.is_some()) {
                return;
            }
        }
        panic!("expected all pages to answer\n{}", test_node.log_tail());
    }

    /// What a capture says, without what means nothing to another browser.
    async fn capture(&self, test_node: &TestNode) -> Picture {
        let client = test_node.client().unwrap();
        self.take(test_node).await;
        let state = client.fetch_state(&self.name, true).await.unwrap().state;
        let mut state: State = serde_json::from_value(state).unwrap();
        for cookie in state.cookies.iter_mut().filter(|cookie| cookie.secure) {
            cookie.source_scheme = SourceScheme::Secure;
        }
        for tab in &mut state.tabs {
            tab.id.clear();
            tab.history.entries.iter_mut().for_each(|entry| entry.id = 0);
        }
        let mut picture = Picture::default();
        picture.note_leaves("captured", &serde_json::to_value(state).unwrap());
        picture
    }
}
