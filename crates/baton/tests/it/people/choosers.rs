//! A page that asks for files, in a frame of another site beside one that never rests.

use super::driving::mouse;
use super::{LIMIT, Viewer};
use crate::test_nodes;
use axum::Router;
use axum::extract::State;
use axum::response::Html;
use axum::routing::get;
use baton_api::live::{LiveChooser, MouseKind, ViewerMessage};
use baton_playground::{Page, Site};
use std::sync::{Arc, OnceLock};
use tokio::time::timeout;

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
    viewer.tabs.as_ref()?.tabs.iter().find_map(|tab| tab.chooser)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_frame_of_another_site_gets_a_file_and_no_other_frame_ends_the_question() {
    let test_node = test_nodes::test_node().await;
    let field = Arc::new(OnceLock::new());
    let pages = Router::new()
        .route("/", get(outer))
        .route("/field", get(async || Html(FIELD)))
        .route("/ad", get(async || Html("<!doctype html>Buy!")))
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
                for _ in 0..20 {
                    ada.hear().await;
                }
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
