//! What can be seen of a session: lines of a place and a text, and how two of them differ.

use super::window::Window;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use url::Url;

/// Places, and what is there.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Picture(pub(super) BTreeMap<String, String>);

impl Picture {
    pub(super) fn note(&mut self, place: impl Into<String>, text: &dyn ToString) {
        self.0.insert(place.into(), text.to_string());
    }

    /// Notes every line that a page said.
    pub(super) fn note_all(&mut self, prefix: &str, lines: &Value) {
        for (place, text) in lines.as_object().unwrap() {
            self.note(format!("{prefix}: {place}"), &text.as_str().unwrap());
        }
    }

    /// Notes every value in a JSON document, by the way that leads to it.
    pub(super) fn note_leaves(&mut self, place: &str, json: &Value) {
        match json {
            Value::Object(fields) => {
                for (name, value) in fields {
                    self.note_leaves(&format!("{place} {name}"), value);
                }
            }
            Value::Array(items) if items.iter().any(|item| item.is_object() || item.is_array()) => {
                for (at, item) in items.iter().enumerate() {
                    self.note_leaves(&format!("{place} {at}"), item);
                }
            }
            leaf => self.note(place, leaf),
        }
    }

    /// Each place at which `self` and `found` differ, with both texts.
    pub(super) fn differences(&self, found: &Self) -> Vec<String> {
        let places: BTreeSet<&String> = self.0.keys().chain(found.0.keys()).collect();
        let text = |picture: &Self, place| picture.0.get(place).map_or("nothing", |t| t).to_owned();
        let differ = places.into_iter().filter(|place| self.0.get(*place) != found.0.get(*place));
        differ
            .map(|place| {
                format!("{place}\n    was {}\n    is  {}", text(self, place), text(found, place))
            })
            .collect()
    }
}

/// What the sites hold that these addresses show, read in a tab of our own, and all cookies.
pub(super) async fn stored(window: &Window, urls: &[Url]) -> Picture {
    let mut picture = Picture::default();
    for (number, url) in urls.iter().enumerate() {
        let tab = window.open(url).await;
        picture.note_all(&format!("site {number}"), &tab.evaluate("look()").await);
        window.close(tab).await;
    }
    let cookies = window.call("Storage.getCookies", json!({})).await;
    for cookie in cookies["cookies"].as_array().unwrap() {
        // One that http set on this machine, Chromium takes again only as if TLS had.
        let mut cookie = cookie.clone();
        if cookie["secure"] == true {
            cookie["sourceScheme"] = json!("Secure");
        }
        let field = |name: &str| cookie[name].to_string();
        let place = ["domain", "path", "name", "partitionKey"].map(field).join(" ");
        picture.note(format!("cookie: {place}"), &cookie);
    }
    picture
}

/// What a tab holds: where it is, how it came there, and its sessionStorage.
pub(super) async fn tab(window: &Window, number: usize) -> Picture {
    let tab = window.tab(number).await;
    let mut picture = Picture::default();
    let prefix = format!("tab {number}");
    picture.note_all(&prefix, &tab.evaluate("here()").await);
    picture.note_all(&prefix, &tab.evaluate("lookAtSession()").await);
    let visible = tab.evaluate("document.visibilityState").await;
    if visible == "visible" {
        picture.note("world", &tab.evaluate("world()").await);
    }
    picture.note(format!("{prefix}: in front"), &visible);
    let (current, entries) = tab.history().await.unwrap();
    picture.note(format!("{prefix}: current"), &current);
    for (at, entry) in entries.iter().enumerate() {
        let text = format!("{} {}", entry["url"], entry["title"]);
        picture.note(format!("{prefix}: entry {at}"), &text);
    }
    picture
}
