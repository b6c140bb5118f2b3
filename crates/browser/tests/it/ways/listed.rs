//! The listed host: its pages lead to the others.

use super::documents::{DOCUMENTS, FRAMED};
use super::elements::ELEMENTS;
use super::scripts::SERVED;
use super::way::Ways;
use std::fmt::Write as _;

/// What the listed host answers at a path.
pub(super) fn answer(ways: &Ways, path: &str) -> String {
    let (_, path) = path.split_once('/').unwrap_or_default();
    let (folder, name) = path.split_once('/').unwrap_or((path, ""));
    let name = name.trim_end_matches(".js").trim_end_matches('/');
    match folder {
        "" => page("200 OK", &elements(ways)),
        "document" => {
            let mut all = DOCUMENTS.iter().chain(FRAMED);
            let Some((_, head, body)) = all.find(|(found, ..)| *found == name) else {
                return page("404 Not Found", "");
            };
            let way = ways.of(name);
            let head = if head.is_empty() { "200 OK" } else { head };
            page(&way.fill(head), &way.fill(body))
        }
        "serve" => {
            let (_, text) = SERVED.iter().find(|(found, _)| *found == name).unwrap_or(&("", ""));
            let head = "200 OK\r\nContent-Type: text/javascript\r\nService-Worker-Allowed: /";
            page(head, &ways.of(name).fill(text))
        }
        "go" => {
            let (status, name) = name.split_once('/').unwrap_or_default();
            page(&format!("{status} Elsewhere\r\nLocation: {}", ways.of(name).url()), "")
        }
        "again" => page(&format!("302 Found\r\nLocation: /go/302/{name}"), ""),
        "download" => page(&format!("302 Found\r\nLocation: {}", ways.of(name).url()), ""),
        "video" => page("404 Not Found", ""),
        _ => page("200 OK", "<title>a</title>a"),
    }
}

/// A page with all elements.
fn elements(ways: &Ways) -> String {
    let mut text = "<title>ways</title>".to_owned();
    for (name, element) in ELEMENTS {
        // Writing to a text cannot fail.
        let _ = writeln!(text, "{}", ways.of(name).fill(element));
    }
    text
}

fn page(head: &str, body: &str) -> String {
    let is_plain = !head.contains("Content-Type");
    let kind = if is_plain { "Content-Type: text/html; charset=utf-8\r\n" } else { "" };
    let doctype = if is_plain { "<!doctype html>" } else { "" };
    let length = doctype.len() + body.len();
    format!(
        "HTTP/1.1 {head}\r\n{kind}Content-Length: {length}\r\nCache-Control: no-store\r\n\
         Connection: close\r\n\r\n{doctype}{body}"
    )
}
