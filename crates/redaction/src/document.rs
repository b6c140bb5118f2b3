//! What a JSON document says as a whole: names that weigh in it, and nowhere else.

use crate::names::Weight;
use crate::work::Work;

/// The private members of a key (RFC 7518, section 6).
const PRIVATE: [&str; 7] = ["d", "p", "q", "dp", "dq", "qi", "k"];
/// What the two sides of SRP tell each other, and share (RFC 2945, RFC 5054).
const SRP: [&str; 7] = ["A", "B", "M", "M1", "M2", "S", "K"];

/// What an authenticator answers from keys of its own (`WebAuthn`, section 10.1.4).
const PRF: [&str; 2] = ["first", "second"];

/// What there is in a document.
pub(crate) struct Document<'a> {
    /// Variables of a GraphQL query that stand for arguments with names of secrets.
    bound: Vec<(&'a str, Weight)>,
    /// Names of secrets: of the members of keys, as RFC 7517 writes them.
    secret: &'static [&'static str],
    /// Names of what may be one.
    telling: [&'static [&'static str]; 2],
    /// Whether it is an answer of Vault, whose secrets stand in `data` within `data`.
    is_vault: bool,
    json: &'a str,
}

/// Names that weigh where a document has one of some words in it, as others have them for what is none.
const TOLD_ELSEWHERE: [(&str, &[&str]); 6] = [
    // The password of a network stands beside its name.
    ("key", &["\"ssid\"", "\"SSID\"", "\"essid\""]),
    ("wep_key0", &["\"ssid\""]),
    // What Terraform and Pulumi made at random.
    ("result", &["\"random_password\"", "RandomPassword\""]),
    // What somebody typed when a server asked.
    ("responses", &["\"keyboard-interactive\""]),
    ("answers", &["\"keyboard-interactive\""]),
    ("response", &["\"keyboard-interactive\""]),
];

impl<'a> Document<'a> {
    pub(crate) fn of(work: &mut Work<'_>, json: &'a str) -> Self {
        let is_srp = json.contains("\"M") && (json.contains("srp") || json.contains("SRP"));
        Self {
            bound: bound_variables(work, json),
            secret: if json.contains("\"kty\"") { &PRIVATE } else { &[] },
            telling: [
                if is_srp { &SRP } else { &[] },
                if json.contains("\"prf\"") { &PRF } else { &[] },
            ],
            json,
            is_vault: json.contains("\"lease_id\"") || json.contains("\"mount_type\""),
        }
    }

    /// Whether another part of the document says what stands under a name.
    fn is_told_elsewhere(&self, name: &str) -> bool {
        TOLD_ELSEWHERE
            .iter()
            .any(|(one, words)| *one == name && words.iter().any(|word| self.json.contains(word)))
    }

    /// What a name weighs here; `above` is the name of the object in which it stands.
    pub(crate) fn weigh(&self, name: &str, above: Option<&str>) -> Weight {
        let is_kept = self.is_vault && name == "data" && above == Some("data");
        if is_kept || self.secret.contains(&name) {
            return Weight::Secret;
        }
        if self.is_told_elsewhere(name) {
            return Weight::Secret;
        }
        let bound = self.bound.iter().find(|(variable, _)| *variable == name);
        let bound = bound.map_or(Weight::Plain, |(_, weight)| *weight);
        let is_telling = self.telling.iter().any(|names| names.contains(&name));
        if is_telling { bound.max(Weight::Telling) } else { bound }
    }
}

/// Arguments of a GraphQL query that are given by variables: `login(password: $p)`.
fn bound_variables<'a>(work: &mut Work<'_>, json: &'a str) -> Vec<(&'a str, Weight)> {
    if !json.contains("\"variables\"") {
        return Vec::new();
    }
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut bound = Vec::new();
    for (at, _) in json.match_indices('$').take(256) {
        let before = json[..at].trim_end();
        let Some(before) = before.strip_suffix(':') else { continue };
        let before = before.trim_end();
        let start = before.rfind(|c| !is_name(c)).map_or(0, |at| at + 1);
        let weight = work.weigh(before.get(start..).unwrap_or_default());
        let rest = &json[at + 1..];
        let variable = &rest[..rest.find(|c| !is_name(c)).unwrap_or(rest.len())];
        if weight > Weight::Plain && !variable.is_empty() {
            bound.push((variable, weight));
        }
    }
    bound
}
