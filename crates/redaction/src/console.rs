//! What was given to the console: a list of values, some of which name the next one.

use crate::HIDDEN;
use crate::json;
use crate::kind::Kind;
use crate::names::Weight;
use crate::prints::prints_secret;
use crate::work::Work;

/// The arguments, a JSON array, and the message without their secrets.
pub(crate) fn redact(work: &mut Work<'_>, args: &str, message: &str) -> (String, String) {
    let texts = texts(args);
    let mut hidden = vec![false; texts.len()];
    for at in 0..texts.len() {
        let Some(text) = texts[at].text else { continue };
        for (next, weight) in says_of_next(work, text) {
            let value = texts.get(at + next).and_then(|one| one.text);
            // `"password", "token", "…"`: a name is hidden too, and names what comes behind it.
            if value.is_some_and(|value| work.hides(weight, value)) {
                hidden[at + next] = true;
            }
        }
    }
    let (mut out, mut from, mut message) =
        (String::with_capacity(args.len()), 0, message.to_owned());
    for (one, _) in texts.iter().zip(&hidden).filter(|(_, hidden)| **hidden) {
        out.push_str(&args[from..one.start]);
        out.push('"');
        out.push_str(HIDDEN);
        out.push('"');
        from = one.end;
        if let Some(text) = one.text.filter(|text| text.len() >= 3) {
            message = message.replace(text, HIDDEN);
        }
    }
    out.push_str(&args[from..]);
    // What they show as a secret is one in the message too.
    let args = json::redact(work, &out, Kind::Prose);
    (args, work.text(&message, Kind::Prose).into_owned())
}

/// An argument: where it stands and, when it is a text without escapes, that.
struct Argument<'a> {
    start: usize,
    end: usize,
    text: Option<&'a str>,
}

/// The arguments of a list, without those within others.
fn texts(args: &str) -> Vec<Argument<'_>> {
    let bytes = args.as_bytes();
    let (mut all, mut depth, mut at, mut start) = (Vec::new(), 0usize, 0, None);
    while let Some(c) = bytes.get(at) {
        match c {
            b'"' => {
                let end = bytes[at + 1..].iter().enumerate().scan(false, |escaped, (length, c)| {
                    let is_end = *c == b'"' && !*escaped;
                    *escaped = *c == b'\\' && !*escaped;
                    Some((length, is_end))
                });
                let length = end.filter(|(_, is_end)| *is_end).map(|(length, _)| length).next();
                let Some(length) = length else { break };
                let text = &args[at + 1..at + 1 + length];
                if depth == 1 {
                    let plain = (!text.contains('\\')).then_some(text);
                    all.push(Argument { start: at, end: at + length + 2, text: plain });
                    start = None;
                }
                at += length + 2;
                continue;
            }
            b'[' | b'{' => {
                depth += 1;
                if depth == 2 {
                    start = Some(at);
                }
            }
            b']' | b'}' => {
                depth = depth.saturating_sub(1);
                if depth == 1
                    && let Some(start) = start.take()
                {
                    all.push(Argument { start, end: at + 1, text: None });
                }
            }
            b'-' | b'0'..=b'9' | b't' | b'f' | b'n' if depth == 1 => {
                let fits = |c: &&u8| c.is_ascii_alphanumeric() || matches!(**c, b'-' | b'+' | b'.');
                let length = bytes[at..].iter().take_while(fits).count();
                all.push(Argument {
                    start: at,
                    end: at + length,
                    text: Some(&args[at..at + length]),
                });
                at += length;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    all
}

/// Which of the next arguments a text says something of: the one behind a name, and those that a format
/// puts behind one (`"password: %s"`, Console Standard, section 2.2.1).
fn says_of_next(work: &mut Work<'_>, text: &str) -> Vec<(usize, Weight)> {
    let mut said = Vec::new();
    let mut count = 0;
    for (at, _) in text.match_indices('%').take(16) {
        let is_format = matches!(
            text.as_bytes().get(at + 1),
            Some(b's' | b'o' | b'O' | b'd' | b'i' | b'f' | b'c')
        );
        if is_format {
            count += 1;
            let weight = name_at_end(work, &text[..at]);
            if weight > Weight::Plain {
                said.push((count, weight));
            }
        }
    }
    if prints_secret(text) {
        said.push((1, Weight::Secret));
    }
    if count == 0 {
        let weight = name_at_end(work, text);
        if weight > Weight::Plain {
            said.push((1, weight));
        }
    }
    said
}

/// What the name says with which a text ends, before a colon, an arrow or nothing.
fn name_at_end(work: &mut Work<'_>, text: &str) -> Weight {
    let text = text.trim_end_matches(|c: char| {
        c.is_whitespace() || matches!(c, ':' | '=' | '>' | '-' | '"' | '\'' | '(')
    });
    let start = text
        .char_indices()
        .rev()
        .take(40)
        .take_while(|(_, c)| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ' ' | '/'));
    let Some((start, _)) = start.last() else { return Weight::Plain };
    let words: Vec<&str> = text[start..].split(' ').collect();
    // The last two words: `api key`, `new password`.
    let last = words[words.len().saturating_sub(2)..].join(" ");
    work.weigh(&last)
}
