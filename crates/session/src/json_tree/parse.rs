//! JSON text read as JavaScript reads it: strings of any UTF-16, members in their order.
//!
//! `serde_json` checks the text first, so this reader meets valid JSON only and takes every byte
//! once.

use super::{Json, MAX_VALUE_DEPTH};
use crate::text::Text;
use serde_json::value::RawValue;

/// How deep JSON may be nested: a level of a value takes up to three levels of JSON.
const MAX_DEPTH: usize = 3 * MAX_VALUE_DEPTH + 16;

/// Reads a whole text.
pub(crate) fn parse(text: &[u8]) -> serde_json::Result<Json> {
    let valid: &RawValue = serde_json::from_slice(text)?;
    Ok(Reader { json: valid.get(), at: 0 }.value(0))
}

struct Reader<'a> {
    json: &'a str,
    at: usize,
}

impl Reader<'_> {
    /// The next byte that is no white space.
    fn peek(&mut self) -> Option<u8> {
        let rest = &self.json.as_bytes()[self.at..];
        self.at += rest.iter().position(|byte| !byte.is_ascii_whitespace())?;
        self.json.as_bytes().get(self.at).copied()
    }

    /// The text up to the next byte that `ends` it, which is not taken.
    fn take_until(&mut self, ends: impl Fn(u8) -> bool) -> &str {
        let rest = &self.json[self.at..];
        let length = rest.bytes().position(ends).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    fn value(&mut self, depth: usize) -> Json {
        match self.peek() {
            Some(b'{' | b'[') if depth > MAX_DEPTH => self.skip(),
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => Json::Text(self.text()),
            _ => match self.take_until(|byte| b",]} \t\r\n".contains(&byte)) {
                "null" => Json::Null,
                "true" => Json::Bool(true),
                "false" => Json::Bool(false),
                // Out of range becomes an infinity, as in JavaScript.
                number => Json::Number(number.parse().unwrap_or(f64::NAN)),
            },
        }
    }

    fn array(&mut self, depth: usize) -> Json {
        let mut items = Vec::new();
        self.at += 1;
        loop {
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']' | b'}') => break self.at += 1,
                Some(_) => items.push(self.value(depth + 1)),
                None => break,
            }
        }
        Json::Array(items)
    }

    fn object(&mut self, depth: usize) -> Json {
        let mut members = Vec::new();
        self.at += 1;
        loop {
            match self.peek() {
                Some(b'"') => {
                    let name = self.text();
                    if self.peek() == Some(b':') {
                        self.at += 1;
                    }
                    members.push((name, self.value(depth + 1)));
                }
                Some(b'}' | b']') => break self.at += 1,
                Some(_) => self.at += 1,
                None => break,
            }
        }
        Json::Object(members)
    }

    /// Passes over an array or object that is nested too deep, without following it.
    fn skip(&mut self) -> Json {
        let mut open = 0usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => {
                    self.text();
                    continue;
                }
                b'[' | b'{' => open += 1,
                b']' | b'}' => open = open.saturating_sub(1),
                _ => {}
            }
            self.at += 1;
            if open == 0 {
                break;
            }
        }
        Json::TooDeep
    }

    /// A string, from its opening quote.
    fn text(&mut self) -> Text {
        self.at += 1;
        let plain = |byte| byte == b'"' || byte == b'\\';
        let start = self.take_until(plain).to_owned();
        if self.byte() == Some(b'"') {
            return start.into();
        }
        let mut units: Vec<u16> = start.encode_utf16().collect();
        loop {
            match self.byte() {
                Some(b'u') => units.push(self.code_unit()),
                Some(escape) => units.push(escaped(escape)),
                None => break,
            }
            units.extend(self.take_until(plain).encode_utf16());
            if self.byte() != Some(b'\\') {
                break;
            }
        }
        Text::from_utf16(&units)
    }

    /// The next byte, which is ASCII in valid JSON wherever this is called.
    fn byte(&mut self) -> Option<u8> {
        let byte = self.json.as_bytes().get(self.at).copied();
        self.at += usize::from(byte.is_some());
        byte
    }

    /// The four digits of a `\u` escape.
    fn code_unit(&mut self) -> u16 {
        let digits = self.json.get(self.at..self.at + 4).unwrap_or_default();
        self.at += digits.len();
        u16::from_str_radix(digits, 16).unwrap_or(0xfffd)
    }
}

/// What a short escape such as `\n` stands for.
fn escaped(byte: u8) -> u16 {
    u16::from(match byte {
        b'b' => 0x08,
        b'f' => 0x0c,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        itself => itself,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_those_of_javascript() {
        let text = |json: &str| match parse(json.as_bytes()).unwrap() {
            Json::Text(text) => text.to_utf16(),
            other => panic!("expected a string, found {}", other.kind()),
        };
        let utf16 = |text: &str| text.encode_utf16().collect::<Vec<u16>>();
        assert_eq!(text(r#""""#), utf16(""));
        assert_eq!(text(r#""\"\\\/\b\f\n\r\t""#), utf16("\"\\/\u{8}\u{c}\n\r\t"));
        assert_eq!(text(r#""é\u00e9\ud83d\ude00😀""#), utf16("éé😀😀"));
        assert_eq!(text(r#""a\ud800""#), vec![0x61, 0xd800]);
        assert_eq!(text(r#""\udfff\ud800b""#), vec![0xdfff, 0xd800, 0x62]);
    }

    #[test]
    fn everything_else_is_read_too() {
        let json = r#" {"b" : [ ] , "a":[1 , -2.5e3,1e999, true,false,null,{}], "b":"]}" } "#;
        let members = [
            ("b", Json::Array(Vec::new())),
            (
                "a",
                Json::Array(vec![
                    Json::Number(1.0),
                    Json::Number(-2500.0),
                    Json::Number(f64::INFINITY),
                    Json::Bool(true),
                    Json::Bool(false),
                    Json::Null,
                    Json::Object(Vec::new()),
                ]),
            ),
            ("b", Json::text("]}")),
        ];
        assert_eq!(parse(json.as_bytes()).unwrap(), Json::object(members));
        for broken in ["", "[1,]", "{\"a\"}", "\"\\x\"", "[1] 2", "\"\u{1}\"", "nul"] {
            assert!(parse(broken.as_bytes()).is_err(), "{broken}");
        }
        assert!(parse(b"\"\xff\"").is_err(), "no UTF-8");
    }

    #[test]
    fn what_is_too_deep_is_passed_over() {
        let deep = format!(r#"[{}"]"{}, 5]"#, "[".repeat(100_000), "]".repeat(100_000));
        let Json::Array(items) = parse(deep.as_bytes()).unwrap() else { panic!("an array") };
        assert_eq!(items.len(), 2);
        assert_eq!(items[1], Json::Number(5.0));
    }
}
