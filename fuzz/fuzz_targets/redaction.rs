//! Redaction: whatever a tab sends, in each grammar, a secret that was seen does not come out again, what was
//! JSON is JSON still, and what is left is no longer than its marks make it.

#![no_main]

use baton_redaction::{HIDDEN, Names, Redactor, ShownAddress};

/// A secret that is seen first, and then stands in the input.
const SECRET: &str = "Zq7xK9mQ2vB7pL4w";
/// What bodies say to be; none of them is a picture, which stays as it is.
const MIMES: [&str; 12] = [
    "",
    "application/json",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=b",
    "text/html",
    "application/xml",
    "text/event-stream",
    "text/javascript",
    "text/csv",
    "text/plain",
    "application/graphql",
    "application/x-ndjson",
];
/// Names of headers that are read in ways of their own.
const HEADERS: [&str; 8] = [
    "cookie",
    "set-cookie",
    "authorization",
    "sec-websocket-protocol",
    "location",
    "content-security-policy",
    "www-authenticate",
    "x-other",
];

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let [grammar, at, text @ ..] = input else { return };
    let Ok(text) = str::from_utf8(text) else { return };
    let mut redactor = Redactor::new(Names::default(), [7; 16]);
    let seen = redactor.header("authorization", &format!("Bearer {SECRET}"));
    assert_eq!(seen, "Bearer [redacted]");
    // The secret stands between words, so that nothing before it makes another one of it.
    let at = text.floor_char_boundary(usize::from(*at) * text.len() / 255);
    let planted = format!("{} {SECRET} {}", &text[..at], &text[at..]);
    let (said, was_json) = match grammar % 8 {
        0 => (redactor.address(&planted), false),
        1 => (redactor.line(&planted), false),
        2 if grammar / 8 % 2 == 0 => (redactor.socket("1", &planted), is_json(&planted)),
        // The same in two messages, of which the second begins with the secret.
        2 => {
            let (first, second) = planted.split_at(at + 1);
            (redactor.socket("1", first) + &redactor.socket("1", second), false)
        }
        3 => {
            let (args, message) = redactor.console("[]", &planted);
            (args + &message, false)
        }
        4 => (redactor.console(&planted, "").0, is_json(&planted)),
        5 => (redactor.header(HEADERS[usize::from(*grammar) / 8 % 8], &planted), false),
        _ => {
            let mime = MIMES[usize::from(*grammar) / 8 % 12];
            (redactor.body(&planted, Some(mime)), is_json(&planted))
        }
    };
    assert!(!said.contains(SECRET), "{said:?} of {planted:?}");
    assert!(!was_json || is_json(&said), "{said:?} is no JSON as {planted:?} was");
    assert!(said.len() <= (planted.len() + 1) * HIDDEN.len() * 2, "{} bytes", said.len());
    let shown = ShownAddress::of(&planted);
    // Shown once more it may hide more, of what is no address, and shows nothing that it did not.
    let again = ShownAddress::of(shown.as_str());
    let mut parts = again.as_str().split(HIDDEN);
    assert!(parts.all(|part| shown.as_str().contains(part)), "{again:?} of {shown:?}");
    assert!(!redactor.base64(text, None).0.contains(SECRET));
});

fn is_json(text: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}
