//! Marks: what stands around values and is read by no grammar shows no secret that was seen, and stays as it was.

use crate::redactor;
use baton_redaction::Redactor;

/// A secret that was seen before.
const SECRET: &str = "Zq7xK9mQ2vB7pL4w";

fn knowing() -> Redactor {
    let mut redactor = redactor();
    redactor.header("authorization", &format!("Bearer {SECRET}"));
    redactor
}

#[test]
fn what_was_seen_is_hidden_in_what_nothing_else_reads() {
    let mut redactor = knowing();
    for (name, value) in [
        ("sec-websocket-protocol", "chat of SECRET, v1"),
        ("cookie", "theme SECRET=dark; page=2"),
        ("set-cookie", "a=1; Path=/of/SECRET; Secure"),
        ("set-cookie", "a=1; Path=/, SECRET at all; Secure"),
    ] {
        let shown = redactor.header(name, &value.replace("SECRET", SECRET));
        assert!(!shown.contains(SECRET), "{name}: {shown}");
    }
    for (mime, body) in [
        ("multipart/form-data", "--b of SECRET\r\nContent-Type: text/plain\r\n\r\nada\r\n"),
        ("text/csv", "name;token;the SECRET\nada;eve;x\n"),
        ("application/json", "{\"a\":1, SECRET : 2}"),
    ] {
        let shown = redactor.body(&body.replace("SECRET", SECRET), Some(mime));
        assert!(!shown.contains(SECRET), "{mime}: {shown}");
    }
}

#[test]
fn what_ends_a_section_of_markup_stays() {
    let body = "<login><password><![CDATA[correct horse]]></password><page>2</page></login>";
    let shown = "<login><password><![CDATA[[redacted]]]></password><page>2</page></login>";
    assert_eq!(redactor().body(body, Some("application/xml")), shown);
}
