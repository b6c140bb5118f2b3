//! Pages that ask for files: in a frame of another site beside one that never rests, while a guest drives, and until
//! nobody does.

use super::driving::mouse;
use super::guests::{self, Guest, secret, wanted};
use super::{LIMIT, Viewer};
use crate::test_nodes;
use axum::Router;
use axum::extract::State;
use axum::response::Html;
use axum::routing::get;
use baton_api::AskPerson;
use baton_api::live::{LiveChooser, MouseKind, ViewerMessage};
use baton_playground::{Page, Site};
use reqwest::Method;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::time::timeout;

/// When a click is made once more that led to no question: a page may not have been ready for it.
const AGAIN: Duration = Duration::from_secs(2);

/// Asks for a file, and says to the page around it what it got.
const FIELD: &str = "<!doctype html><style>body{margin:0}input{display:block;width:200px;height:60px}</style>
<input type=file onchange=\"files[0].text().then((text) => parent.postMessage(files[0].name + ' ' + text, '*'))\">";

/// A page with such a frame, and one of advertisements.
async fn outer(State(field): State<Arc<OnceLock<String>>>) -> Html<String> {
    let field = field.get().cloned().unwrap_or_default();
    Html(format!(
        "<!doctype html><title>outer</title><style>body{{margin:0}}iframe{{display:block;border:0}}</style>
         <iframe src='{field}' width=300 height=100></iframe><iframe id=ads src=/ad width=300 height=100></iframe>
         <script>globalThis.ads = 0; globalThis.given = []; ads_frame = document.getElementById('ads');
         ads_frame.onload = () => globalThis.ads++; onmessage = (event) => given.push(event.data)</script>"
    ))
}

fn chooser(viewer: &Viewer) -> Option<LiveChooser> {
    viewer.tabs.as_ref()?.tabs.iter().find_map(|tab| tab.chooser.clone())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_frame_of_another_site_gets_a_file_and_no_other_frame_ends_the_question() {
    let test_node = test_nodes::test_node().await;
    let field = Arc::new(OnceLock::new());
    let pages = Router::new()
        .route("/", get(outer))
        .route("/field", get(async || Html(FIELD)))
        // Half a pair as a name is no text, and keeps nobody from being asked.
        .route("/ad", get(async || Html(r"<!doctype html>Buy!<script>name = '\ud800'</script>")))
        .with_state(Arc::clone(&field));
    let site = Site::start(pages).await.unwrap();
    field.set(site.url_on("other", "/field").unwrap().to_string()).unwrap();
    let address = site.url_on("shop", "/").unwrap();
    let id = test_node.open("shop", [address.clone()]).await.unwrap();
    let client = test_node.client().unwrap();
    let page = Page::attach(&test_node.keeper_socket(id), address.as_str()).await.unwrap();
    page.wait_for("globalThis.ads > 0").await.unwrap();
    client.put_file("shop", "one.txt", "1".into()).await.unwrap();
    client.put_file("shop", "two.txt", "2".into()).await.unwrap();
    let mut ada = Viewer::connect(&client.open_live("shop").await.unwrap().live_url).await;
    ada.say(&ViewerMessage::Look { width: 1280, height: 800 }).await;
    let tab = ada.tab().await;
    ada.take_over("ada").await;
    // What is held in a page is held in its frames a little later.
    let mut questions = Vec::new();
    for name in ["one.txt", "two.txt"] {
        let asked = async {
            while chooser(&ada).is_none() {
                for kind in [MouseKind::Move, MouseKind::Down, MouseKind::Up] {
                    ada.say(&mouse(tab, kind, 40.0, 30.0)).await;
                }
                let _ = timeout(AGAIN, ada.until("a chooser", |it| chooser(it).is_some())).await;
            }
        };
        timeout(LIMIT, asked).await.expect("to be asked for a file");
        let LiveChooser { question, .. } = chooser(&ada).unwrap();
        let others = "globalThis.ads = 0; ads_frame.src = '/ad?' + Math.random(), true";
        assert!(page.evaluate::<bool>(others).await.unwrap());
        page.wait_for("globalThis.ads > 0").await.unwrap();
        let files = vec![name.to_owned()];
        ada.say(&ViewerMessage::Choose { tab, question, files }).await;
        page.wait_for(&format!("given.some((it) => it.startsWith('{name} '))")).await.unwrap();
        ada.until("no question", |viewer| chooser(viewer).is_none()).await;
        questions.push(question);
    }
    assert_ne!(questions[0], questions[1]);
    // An answer that comes late is one to nothing.
    let late = ViewerMessage::Choose { tab, question: questions[0], files: Vec::new() };
    ada.say(&late).await;
    ada.until("a refusal", |viewer| !viewer.refused.is_empty()).await;
    insta::assert_snapshot!(ada.refused[0], @"choose: expected a question that stands, found one that is over");
    drop(ada);
    test_node.clear().await.unwrap();
}

/// Somebody with a key watches a session of guests.
async fn watch(scene: &guests::Scene) -> Viewer {
    let access = scene.client().open_live("shop").await.unwrap();
    let mut viewer = Viewer::connect(&access.live_url).await;
    viewer.say(&ViewerMessage::Look { width: 800, height: 600 }).await;
    viewer
}

/// One clicks there until the other one sees that a page asks for files.
async fn click_until_asked(
    drives: &mut Viewer,
    sees: &mut Viewer,
    (x, y): (f64, f64),
) -> LiveChooser {
    let tab = drives.tab().await;
    let asked = async {
        loop {
            if let Some(chooser) = chooser(sees) {
                return chooser;
            }
            for kind in [MouseKind::Move, MouseKind::Down, MouseKind::Up] {
                drives.say(&mouse(tab, kind, x, y)).await;
            }
            let _ = timeout(AGAIN, sees.until("a chooser", |it| chooser(it).is_some())).await;
        }
    };
    timeout(LIMIT, asked).await.expect("to be asked for a file")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_guest_is_not_asked_for_files_of_another_site_and_gives_it_none() {
    let scene = guests::Scene::set(test_nodes::test_node().await).await;
    let request = AskPerson { files: true, ..wanted("send the receipt") };
    let ask = scene.client().ask_person("shop", &request).await.unwrap();
    let mut guest = Guest::at(&scene, &ask);
    guest.open(&secret(&ask)).await;
    let put = guest.request(Method::PUT, "asked/files/receipt.txt").body("42 EUR");
    assert_eq!(put.send().await.unwrap().status(), 200);
    let mut ada = guest.watch().await;
    let tab = ada.tab().await;
    let framed = format!(
        "new Promise((resolve) => {{
            const frame = document.createElement('iframe');
            frame.style = 'position:absolute;left:0;top:200px;width:400px;height:200px;border:0';
            frame.onload = resolve;
            frame.src = '{}';
            document.body.append(frame);
        }}).then(() => true)",
        scene.elsewhere("/")
    );
    assert!(scene.page().await.evaluate::<bool>(&framed).await.unwrap());
    // Who has a key is told whose the question is.
    let mut bea = watch(&scene).await;
    let asked = click_until_asked(&mut ada, &mut bea, (80.0, 360.0)).await;
    assert!(asked.origin.starts_with("http://evil.localhost:"), "{asked:?}");
    assert!(asked.within.unwrap().starts_with("http://bank.localhost:"));
    let files = vec!["receipt.txt".to_owned()];
    ada.say(&ViewerMessage::Choose { tab, question: asked.question, files }).await;
    ada.until("a refusal", |viewer| {
        assert_eq!(chooser(viewer), None, "a frame of another site");
        !viewer.refused.is_empty()
    })
    .await;
    insta::assert_snapshot!(ada.refused[0], @"choose: expected a question for files of a site that is part of what was asked, found one that is over, or of another site");
    scene.test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_for_files_ends_when_nobody_drives_who_could_answer_it() {
    let scene = guests::Scene::set(test_nodes::test_node().await).await;
    let mut bea = watch(&scene).await;
    let mut ada = watch(&scene).await;
    ada.tab().await;
    ada.take_over("ada").await;
    let asked = click_until_asked(&mut ada, &mut bea, (80.0, 160.0)).await;
    assert!(asked.origin.starts_with("http://bank.localhost:"), "{asked:?}");
    assert_eq!(asked.within, None);
    ada.say(&ViewerMessage::GiveBack {}).await;
    bea.until("no question", |viewer| chooser(viewer).is_none()).await;
    scene.test_node.clear().await.unwrap();
}
