//! Text that others wrote, as it reaches a terminal or a model.
//!
//! The one idea: what is written out is of a type that is clean. A title, a name, an error of a peer or a
//! task on the board may hold letters that move a cursor, change what a line seems to say, or say something
//! unseen; so each output takes such a text in this form, and no string formats it otherwise.

use serde_json::Value;
use std::fmt::{self, Write as _};

/// What takes the place of a letter that is not shown.
const GONE: char = '\u{fffd}';
/// What a terminal may be sent: the colours that commands of Baton use, and their end.
const COLOURS: [&str; 7] = ["[0m", "[1m", "[2m", "[31m", "[32m", "[33m", "[36m"];

/// A text that shows what it says. Lines and tabs stay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Printable(String);

impl Printable {
    /// For a terminal, with the colours of our own.
    #[must_use]
    pub fn for_terminal(text: &str) -> Self {
        Self(clean(
            text,
            |rest| COLOURS.iter().find(|own| rest.starts_with(**own)).map(|own| own.len()),
            true,
        ))
    }

    /// For a model: what would have coloured a terminal is left out.
    #[must_use]
    pub fn for_model(text: &str) -> Self {
        Self(clean(text, sequence, false))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Printable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl From<Printable> for String {
    fn from(printable: Printable) -> Self {
        printable.0
    }
}

/// Data for a model: every text in it, names of members too.
#[must_use]
pub fn data_for_model(data: Value) -> Value {
    match data {
        Value::String(text) => Value::String(Printable::for_model(&text).into()),
        Value::Array(items) => Value::Array(items.into_iter().map(data_for_model).collect()),
        Value::Object(members) => {
            let clean = |(name, value): (String, Value)| {
                (Printable::for_model(&name).into(), data_for_model(value))
            };
            Value::Object(members.into_iter().map(clean).collect())
        }
        other => other,
    }
}

/// JSON that says the same, in which no letter is one that is not shown.
#[must_use]
pub fn json(text: &str) -> String {
    if !text.contains(|c| is_hidden(c) || is_joiner(c)) {
        return text.to_owned();
    }
    let mut clean = String::with_capacity(text.len());
    for letter in text.chars() {
        // Between values JSON has nothing but blanks of its own, so this one is in a text.
        if is_hidden(letter) || is_joiner(letter) {
            for unit in letter.encode_utf16(&mut [0; 2]) {
                // Writing to a `String` cannot fail.
                let _ = write!(clean, "\\u{unit:04x}");
            }
        } else {
            clean.push(letter);
        }
    }
    clean
}

/// Whether a letter is not shown, or changes how those around it are: controls but the end of a line and
/// the tab, marks of direction, blanks without width, and tags.
pub fn is_hidden(letter: char) -> bool {
    match letter {
        '\n' | '\t' => false,
        '\u{ad}'
        | '\u{61c}'
        | '\u{115f}'
        | '\u{1160}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{3164}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e0fff}' => true,
        letter => letter.is_control(),
    }
}

/// What joins letters, or keeps them apart: many languages are written with them.
fn is_joiner(letter: char) -> bool {
    matches!(letter, '\u{200c}' | '\u{200d}')
}

/// The text without what is hidden in it. `allowed` says how long the sequence is that follows an escape and
/// is known; it stays, or is left out.
fn clean(text: &str, allowed: impl Fn(&str) -> Option<usize>, stays: bool) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut before = ' ';
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let rest = &text[at + letter.len_utf8()..];
        let next = rest.chars().next().unwrap_or(' ');
        match letter {
            '\u{1b}' if let Some(length) = allowed(rest) => {
                let end = at + 1 + length;
                if stays {
                    clean.push_str(&text[at..end]);
                }
                while letters.next_if(|(at, _)| *at < end).is_some() {}
                continue;
            }
            // The end of a line, as some programs write it.
            '\r' if next == '\n' => {}
            letter if is_joiner(letter) => {
                let joins =
                    |letter: char| !letter.is_ascii() && !is_hidden(letter) && !is_joiner(letter);
                clean.push(if joins(before) && joins(next) { letter } else { GONE });
            }
            letter if is_hidden(letter) => clean.push(GONE),
            letter => clean.push(letter),
        }
        before = letter;
    }
    clean
}

/// How long a control sequence is that begins here, behind its escape (ECMA-48, 5.4).
fn sequence(rest: &str) -> Option<usize> {
    let body = rest.strip_prefix('[')?;
    let end = body.find(|letter: char| !matches!(letter, ' '..='?'))?;
    matches!(body[end..].chars().next(), Some('@'..='~')).then_some(end + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_hidden_is_seen_to_be_gone() {
        let foreign = "a\u{1b}]0;title\u{7}b\rc\u{9b}31md\u{202e}e\u{200b}f\u{e0041}g";
        for printable in [Printable::for_terminal(foreign), Printable::for_model(foreign)] {
            assert_eq!(
                printable.as_str(),
                "a\u{fffd}]0;title\u{fffd}b\u{fffd}c\u{fffd}31md\u{fffd}e\u{fffd}f\u{fffd}g"
            );
        }
    }

    #[test]
    fn a_terminal_keeps_our_colours_and_no_others() {
        let text = "\u{1b}[31mbad\u{1b}[0m \u{1b}[8mhidden \u{1b}[2J";
        assert_eq!(
            Printable::for_terminal(text).as_str(),
            "\u{1b}[31mbad\u{1b}[0m \u{fffd}[8mhidden \u{fffd}[2J"
        );
        assert_eq!(Printable::for_model(text).as_str(), "bad hidden ");
    }

    #[test]
    fn what_people_write_stays() {
        for text in ["a\nb\tc", "Grüße, 日本語", "می‌خواهم", "👩‍💻 at work", "שלום"]
        {
            assert_eq!(Printable::for_terminal(text).as_str(), text);
            assert_eq!(Printable::for_model(text).as_str(), text);
        }
        assert_eq!(Printable::for_model("a\r\nb").as_str(), "a\nb");
        assert_eq!(Printable::for_model("pay\u{200d}pal").as_str(), "pay\u{fffd}pal");
    }

    #[test]
    fn json_says_the_same() {
        let value = serde_json::json!({"a\u{202e}": "b\u{9b}\u{200d}\u{e0041}ä"});
        let text = json(&value.to_string());
        assert!(!text.contains(|letter| is_hidden(letter) || is_joiner(letter)), "{text}");
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
    }

    #[test]
    fn data_is_clean_in_every_place() {
        let value = serde_json::json!({"a\u{202e}": ["b\u{7}", {"c": "\u{200b}"}], "n": 1});
        let clean = data_for_model(value).to_string();
        assert!(!clean.contains(is_hidden), "{clean}");
    }
}
