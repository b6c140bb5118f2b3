//! What `console.log` prints of its arguments (WHATWG Console, "Formatter").

use serde::Deserialize;
use serde_json::Value;

/// `Runtime.RemoteObject`, as far as it is printed.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Printed {
    #[serde(default, rename = "type")]
    kind: String,
    value: Option<Value>,
    unserializable_value: Option<String>,
    description: Option<String>,
    preview: Option<Preview>,
}

#[derive(Debug, Clone, Deserialize)]
struct Preview {
    #[serde(default)]
    subtype: String,
    #[serde(default)]
    overflow: bool,
    #[serde(default)]
    properties: Vec<Property>,
}

#[derive(Debug, Clone, Deserialize)]
struct Property {
    name: String,
    #[serde(default, rename = "type")]
    kind: String,
    #[serde(default)]
    value: String,
}

impl Printed {
    /// As text.
    pub(super) fn text(&self) -> String {
        if let Some(value) = &self.value {
            return value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        }
        let preview = self.preview.as_ref().filter(|preview| preview.subtype != "error");
        let other = self.unserializable_value.clone().or_else(|| preview.map(Preview::text));
        other.or_else(|| self.description.clone()).unwrap_or_else(|| self.kind.clone())
    }

    /// As data, as far as it is any.
    pub(super) fn data(&self) -> Value {
        self.value.clone().unwrap_or_else(|| Value::String(self.text()))
    }
}

impl Preview {
    fn text(&self) -> String {
        let is_list = matches!(self.subtype.as_str(), "array" | "typedarray");
        let mut shown: Vec<String> = self.properties.iter().map(|it| it.text(is_list)).collect();
        if self.overflow {
            shown.push("…".to_owned());
        }
        let shown = shown.join(", ");
        if is_list { format!("[{shown}]") } else { format!("{{{shown}}}") }
    }
}

impl Property {
    fn text(&self, in_a_list: bool) -> String {
        let value = match self.kind.as_str() {
            "string" => format!("{:?}", self.value),
            _ => self.value.clone(),
        };
        if in_a_list { value } else { format!("{}: {value}", self.name) }
    }
}

/// The arguments as one text.
pub(super) fn message(args: &[Printed]) -> String {
    let Some((first, rest)) = args.split_first() else { return String::new() };
    let mut rest = rest.iter();
    let mut text = match &first.value {
        Some(Value::String(pattern)) => fill(pattern, &mut rest),
        _ => first.text(),
    };
    for arg in rest {
        text.push(' ');
        text.push_str(&arg.text());
    }
    text
}

/// A pattern with its gaps filled; a style (`%c`) takes its argument and shows nothing.
fn fill<'args>(pattern: &str, args: &mut impl Iterator<Item = &'args Printed>) -> String {
    let mut text = String::with_capacity(pattern.len());
    let mut letters = pattern.chars().peekable();
    while let Some(letter) = letters.next() {
        let gap = letters.peek().copied().filter(|_| letter == '%');
        match gap {
            Some('%') => text.push('%'),
            Some('s' | 'd' | 'i' | 'f' | 'o' | 'O' | 'j') => match args.next() {
                Some(arg) => text.push_str(&arg.text()),
                None => text.extend(['%', gap.unwrap_or_default()]),
            },
            Some('c') => drop(args.next()),
            _ => {
                text.push(letter);
                continue;
            }
        }
        letters.next();
    }
    text
}

/// The beginning of a text, of at most so many bytes, and whether it is not all.
pub(super) fn cut(mut text: String, most: usize) -> (String, bool) {
    if text.len() <= most {
        return (text, false);
    }
    text.truncate(text.floor_char_boundary(most));
    (text, true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn printed(args: Value) -> String {
        message(&serde_json::from_value::<Vec<Printed>>(args).unwrap())
    }

    #[test]
    fn arguments_are_printed_as_a_console_does() {
        let text = |text: &str| json!({"type": "string", "value": text});
        let cases = [
            (json!([]), ""),
            (
                json!([text("a"), {"type": "number", "value": 1}, {"type": "undefined"}]),
                "a 1 undefined",
            ),
            (
                json!([text("%s is %d%% %cred"), text("it"), {"type": "number", "value": 5}, text("color: red")]),
                "it is 5% red",
            ),
            (json!([text("%s %s"), text("one")]), "one %s"),
            (json!([text("100%")]), "100%"),
            (json!([{"type": "number", "unserializableValue": "-0"}]), "-0"),
            (
                json!([{"type": "object", "description": "Object", "preview": {"properties": [
                {"name": "a", "type": "string", "value": "x"}, {"name": "b", "type": "number", "value": "2"},
            ], "overflow": true}}]),
                "{a: \"x\", b: 2, …}",
            ),
            (
                json!([{"type": "object", "subtype": "array", "preview": {"subtype": "array", "properties": [
                    {"name": "0", "type": "number", "value": "1"},
                ]}}]),
                "[1]",
            ),
            (
                json!([{"type": "object", "description": "Error: no\n    at f", "preview": {"subtype": "error"}}]),
                "Error: no\n    at f",
            ),
        ];
        for (args, expected) in cases {
            assert_eq!(printed(args), expected);
        }
    }

    #[test]
    fn a_long_text_is_cut_between_letters() {
        assert_eq!(cut("größer".to_owned(), 4), ("grö".to_owned(), true));
        assert_eq!(cut("größer".to_owned(), 100), ("größer".to_owned(), false));
    }
}
