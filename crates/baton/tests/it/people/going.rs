//! A person at the node's page goes about in the live picture as in a browser: a story that Playwright tells in a real
//! Chromium.

use crate::telling::{Story, tell, wanted_shots};
use crate::test_nodes;
use axum::Router;
use axum::response::Html;
use axum::routing::get;
use baton_playground::Site;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// How long the whole story may take.
const LIMIT: Duration = Duration::from_mins(6);

/// A page with a field, at a place that the story knows. It is called after what becomes of the field.
const FRONT: &str = r#"<!doctype html><html lang="en"><meta charset="utf-8"><title>Front</title>
<style>body{margin:0;font:20px sans-serif}input{position:absolute;left:40px;top:40px;width:400px;height:40px}</style>
<input><script>
const field = document.querySelector('input');
const tell = (what) => document.title = `${what} ${field.value}.`;
field.addEventListener('focus', () => document.title = 'At the field');
field.addEventListener('input', (event) => tell(event.isComposing ? 'Composes' : 'Has'));
field.addEventListener('compositionend', () => tell('Wrote'));
</script>"#;

/// A page that is longer than the screen, with a thing to drag. It is called after what a mouse does to it.
const COUNTER: &str = r#"<!doctype html><html lang="en"><meta charset="utf-8"><title>Counter</title>
<style>body{margin:0;height:4000px}div{position:absolute;left:40px;top:40px;width:200px;height:100px;background:#c8552b}</style>
<div></div><script>
const thing = document.querySelector('div');
const tens = (length) => Math.round(length / 10) * 10;
let from;
addEventListener('scroll', () => document.title = scrollY > 0 ? 'Below' : 'Above');
thing.addEventListener('mousedown', (event) => {
  event.preventDefault();
  from = { x: event.clientX, y: event.clientY, left: thing.offsetLeft, top: thing.offsetTop };
  document.title = 'Held';
});
addEventListener('mousemove', ({ buttons, clientX, clientY }) => {
  if (from === undefined || buttons !== 1) return;
  thing.style.left = `${from.left + clientX - from.x}px`;
  thing.style.top = `${from.top + clientY - from.y}px`;
});
addEventListener('mouseup', () => {
  if (from === undefined) return;
  const { left, top } = thing.getBoundingClientRect();
  document.title = top < 0 ? 'Dragged over the edge' : `Dragged ${tens(left - from.left)} ${tens(top - from.top)}`;
  from = undefined;
});
</script>"#;

/// A page that is called after how often one was asked for.
fn till(asked: &AtomicU32) -> Html<String> {
    let times = asked.fetch_add(1, Ordering::Relaxed) + 1;
    Html(format!(r#"<!doctype html><html lang="en"><title>Till {times}</title><h1>The till</h1>"#))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_goes_about_in_the_picture_as_in_a_browser() {
    let asked = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&asked);
    let till = get(move || std::future::ready(till(&counted)));
    let site = Router::new().route("/", get(async || Html(FRONT))).route("/till", till);
    let site = site.route("/counter", get(async || Html(COUNTER)));
    let site = Site::start(site).await.unwrap();
    let test_node = test_nodes::test_node().await;
    let address = site.url("/").unwrap();
    test_node.open("shop", [address.clone()]).await.unwrap();

    let data = test_node.data().path().to_owned();
    let variables = [("DATA", data.as_os_str()), ("SITE", address.as_str().as_ref())];
    let story = Story {
        text: include_str!("going.mjs"),
        variables: &variables,
        shots: wanted_shots(),
        limit: LIMIT,
    };
    let answer = async |what: &str| {
        assert_eq!(what, "say how often the till was asked for");
        asked.load(Ordering::Relaxed).to_string()
    };
    let seen = tell(story, answer).await;
    insta::assert_snapshot!(seen, @"
    an address, back, forward and the page anew
    an address that is refused, and the page that stays
    another tab, to and fro, and closed
    a word of an input method, from its sounds
    a word that was given up, and keys after it
    words and a correction of a keyboard on a screen
    a page that the wheel turns, to and fro
    a drag, and one that ends outside of the picture
    somebody else who drives, and nothing of what was written
    ");
    test_node.clear().await.unwrap();
}
