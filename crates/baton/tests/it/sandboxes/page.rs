//! A person at the node's page sees the display of a sandbox, and uses it: no port, no password, no viewer of their own.

use super::agent::tools;
use super::scene::{Scene, reference};
use crate::telling::{Story, tell, wanted_shots};
use axum::Router;
use axum::response::Html;
use axum::routing::get;
use baton_api::sandbox::CreateSandbox;
use baton_playground::Site;
use baton_playground::tools::Npm;
use std::time::Duration;

/// How long the whole story may take.
const LIMIT: Duration = Duration::from_mins(6);

/// A page that is one colour, and takes what somebody types, the tabulator too. It knows which keys are held.
const NOTES: &str = r#"<!doctype html><title>Notes</title><style>body{margin:0}
textarea{position:fixed;inset:0;width:100%;height:100%;border:0;background:#0a7b5c;font:24px monospace}</style>
<textarea id="notes" autofocus></textarea><script>
const held = new Set();
addEventListener('keydown', (event) => {
  held.add(event.key);
  if (event.key !== 'Tab') return;
  event.preventDefault();
  notes.setRangeText('|', notes.selectionStart, notes.selectionEnd, 'end');
});
addEventListener('keyup', ({ key }) => held.delete(key));
</script>"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_sees_and_types_into_the_display_of_a_sandbox() {
    let npm = Npm::install().await.unwrap();
    let site = Router::new().route("/", get(|| async { Html(NOTES) }));
    let scene = Scene::set_at(Site::start(site).await.unwrap(), &tools(&npm)).await;
    scene.session("shop").await;
    let request = CreateSandbox {
        flavor: Some("tools".to_owned()),
        enable_vnc: true,
        browser_session: Some(reference("shop")),
        ..CreateSandbox::default()
    };
    let data = scene.test_node.data().path().to_owned();
    let variables = [("DATA", data.as_os_str())];
    let text = include_str!("page.mjs");
    let story = Story { text, variables: &variables, shots: wanted_shots(), limit: LIMIT };
    let mut sandbox = None;
    let mut password = String::new();
    let seen = tell(story, async |what| match what {
        "make a sandbox" => {
            let made = scene.client().create_sandbox(&request).await.unwrap();
            password = made.vnc.clone().unwrap().password.unwrap();
            let id = made.id.to_string();
            sandbox = Some(made);
            id
        }
        "open the notes in it" => {
            let line = format!("$AB open {} >&2 && $AB get title", scene.url());
            scene.says(sandbox.as_ref().unwrap(), &line).await
        }
        "what was typed" => {
            let line = "$AB eval 'document.querySelector(\"#notes\").value'";
            scene.says(sandbox.as_ref().unwrap(), line).await
        }
        "which keys are held there" => {
            let line = "$AB eval '[...held].join()'";
            scene.says(sandbox.as_ref().unwrap(), line).await
        }
        "the password of its port" => password.clone(),
        "make one without a display" => {
            let flavor = Some("tools".to_owned());
            let bare = CreateSandbox { flavor, ..CreateSandbox::default() };
            scene.client().create_sandbox(&bare).await.unwrap().id.to_string()
        }
        "end the sandbox" => {
            scene.end(sandbox.as_ref().unwrap()).await;
            "done".to_owned()
        }
        other => panic!("nobody knows how to {other}"),
    })
    .await;
    insta::assert_snapshot!(seen, @"
    a sandbox that was made elsewhere, and whose session it has
    what its browser shows
    what a person types there
    out of it by keys
    that somebody looked is noted
    into it and out of it by keys alone
    nothing while nobody looks
    a display on a phone
    a display that goes dark with its key
    and with its page
    nothing for who may not
    a sandbox without a display
    one that is ended in the page
    a sandbox that ends takes its display along
    ");
    assert!(!scene.test_node.log().contains(&password));
    scene.strike().await;
}
