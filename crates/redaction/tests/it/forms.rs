//! Forms in which secrets come: written before the redactor, by those who did not know how it would look. Those
//! of `fresh` were written when it was there, without a look at it: 37 of the 230 came out at first. So were the last
//! 260 of the others: 67 of them came out at first.

use crate::{Line, redactor};
use baton_testing::cases;
use proptest::prelude::*;
use proptest::string::string_regex;
use serde::Deserialize;

const FORMS: [(&str, &str); 11] = [
    ("addresses", include_str!("../forms/addresses.json")),
    ("bad", include_str!("../forms/bad.json")),
    ("bodies", include_str!("../forms/bodies.json")),
    ("console", include_str!("../forms/console.json")),
    ("fresh", include_str!("../forms/fresh.json")),
    ("headers", include_str!("../forms/headers.json")),
    ("json", include_str!("../forms/json.json")),
    ("languages", include_str!("../forms/languages.json")),
    ("markup", include_str!("../forms/markup.json")),
    ("shapes", include_str!("../forms/shapes.json")),
    ("sockets", include_str!("../forms/sockets.json")),
];

/// One form, with a secret in it.
#[derive(Debug, Clone, Deserialize)]
struct Form {
    name: String,
    secret: String,
    /// What must not be seen, where the secret stands in another writing.
    #[serde(default)]
    shows: Vec<String>,
    /// What stands around it and is none.
    #[serde(default)]
    keep: Vec<String>,
    #[serde(flatten)]
    line: Line,
}

impl Form {
    /// The form with its own secret in it.
    fn planted(self) -> Self {
        let secret = self.secret.clone();
        self.with(&secret)
    }

    /// The form with this one in it.
    fn with(mut self, secret: &str) -> Self {
        secret.clone_into(&mut self.secret);
        self.line.text = self.line.text.map(|text| text.replace("{secret}", &self.secret));
        let args = serde_json::to_string(&self.line.args).unwrap();
        let secret = serde_json::to_string(&self.secret).unwrap();
        let args = args.replace("{secret}", secret.trim_matches('"'));
        self.line.args = serde_json::from_str(&args).unwrap();
        self
    }

    /// What came out of it, and what around it did not.
    fn shown(&self) -> (bool, Vec<&str>, String) {
        let shown = self.line.shown(&mut redactor());
        let mut secrets = self.shows.iter().chain([&self.secret]);
        let came_out = secrets.any(|secret| shown.contains(secret.as_str()));
        let bare = |text: &str| text.replace([' ', '\n'], "");
        let is_lost = |keep: &&String| !bare(&shown).contains(&bare(keep));
        let lost = self.keep.iter().filter(is_lost).map(String::as_str).collect();
        (came_out, lost, shown)
    }
}

/// The forms without their secrets.
fn empty_forms() -> impl Iterator<Item = (&'static str, Form)> {
    FORMS.into_iter().flat_map(|(file, text)| {
        let forms: Vec<Form> = serde_json::from_str(text).unwrap();
        forms.into_iter().map(move |form| (file, form))
    })
}

fn forms() -> impl Iterator<Item = (&'static str, Form)> {
    empty_forms().map(|(file, form)| (file, form.planted()))
}

/// The forms that come out, for no rule can know. `docs/reference/limits.md` tells of them, and the extension's
/// tests read the same list.
const COME_OUT: &str = include_str!("../forms/come_out.json");

#[test]
fn of_all_forms_few_come_out() {
    let (mut count, mut out, mut lost) = (0, Vec::new(), 0);
    for (file, form) in forms() {
        let (came_out, keeps, shown) = form.shown();
        count += 1;
        lost += usize::from(!keeps.is_empty());
        if came_out {
            out.push(format!("{file}: {}", form.name));
        }
        if std::env::var_os("BATON_SHOW_FORMS").is_some() && (came_out || !keeps.is_empty()) {
            println!("{file}: {}, lost {keeps:?}\n{:?}\n{shown}\n", form.name, form.line);
        }
    }
    assert_eq!(count, 1768);
    let come_out: Vec<String> = serde_json::from_str(COME_OUT).unwrap();
    assert_eq!(out, come_out);
    // What stands beside a secret and is none: of a value that is a secret from end to end, all goes.
    assert!(lost <= 56, "of {lost} forms more is hidden than had to be");
}

proptest! {
    #![proptest_config(cases(24))]

    /// A line that was harmless with one number in it is not looked through again with another one: that may
    /// hide nothing less.
    #[test]
    fn a_number_is_hidden_whatever_stood_in_its_place_before(
        (before, now) in (5_usize..=12).prop_flat_map(|length| {
            let number = || string_regex(&format!("[0-9]{{{length}}}")).unwrap();
            (number(), number())
        })
    ) {
        for (file, form) in empty_forms() {
            let (first, second) = (form.clone().with(&before), form.with(&now));
            let mut knows_first = redactor();
            first.line.shown(&mut knows_first);
            let (shown, fresh) =
                (second.line.shown(&mut knows_first), second.line.shown(&mut redactor()));
            let is_hidden = |text: &str| !text.contains(&now);
            prop_assert!(is_hidden(&shown) || !is_hidden(&fresh), "{file}: {}", second.name);
        }
    }
}
