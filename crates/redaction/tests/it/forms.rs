//! Forms in which secrets come: written before the redactor, by those who did not know how it would look.

use crate::{Line, redactor};
use serde::Deserialize;

const FORMS: [(&str, &str); 10] = [
    ("addresses", include_str!("../forms/addresses.json")),
    ("bad", include_str!("../forms/bad.json")),
    ("bodies", include_str!("../forms/bodies.json")),
    ("console", include_str!("../forms/console.json")),
    ("headers", include_str!("../forms/headers.json")),
    ("json", include_str!("../forms/json.json")),
    ("languages", include_str!("../forms/languages.json")),
    ("markup", include_str!("../forms/markup.json")),
    ("shapes", include_str!("../forms/shapes.json")),
    ("sockets", include_str!("../forms/sockets.json")),
];

/// One form, with a secret in it.
#[derive(Debug, Deserialize)]
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
    fn planted(mut self) -> Self {
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

fn forms() -> impl Iterator<Item = (&'static str, Form)> {
    FORMS.into_iter().flat_map(|(file, text)| {
        let forms: Vec<Form> = serde_json::from_str(text).unwrap();
        forms.into_iter().map(move |form| (file, form.planted()))
    })
}

/// The forms that come out: in nearly all of them nobody could know. `docs/limits.md` tells of their kinds.
const COME_OUT: [&str; 51] = [
    "addresses: path zapier catch",
    "addresses: path v1 api key (Infura)",
    "addresses: path user then password (IPTV live)",
    "bad: bad pem cut, no BEGIN line",
    "bad: bad secret wrapped at 76 in base64 block",
    "bad: bad utf-16 with BOM replaced",
    "bad: bad utf-8 read as latin-1 name",
    "bad: bad NUL bytes around the value",
    "bad: bad form overlong utf-8 in name",
    "bad: bad console ansi colours",
    "bodies: form weak name p2",
    "bodies: yaml block scalar",
    "bodies: yaml k8s secret data",
    "bodies: toml cargo registry token",
    "bodies: ruby hash inspect",
    "bodies: hcl nested variable default",
    "bodies: grpc-web-text",
    "bodies: block SSH2 putty ppk",
    "bodies: js concatenation of two halves",
    "bodies: js comment todo",
    "bodies: sql clickhouse credentials in table function",
    "bodies: shell expect send",
    "bodies: m3u iptv addresses",
    "console: console redux action logger",
    "console: console vue warn prop",
    "console: console two blanks-separated columns",
    "headers: hdr Client-Cert",
    "json: json element with id (form dump)",
    "json: json input type and typed value (recorder)",
    "json: json columns and rows",
    "json: json object keyed by secret",
    "json: json solana keypair file",
    "json: json-rpc ubus session (OpenWrt)",
    "json: webauthn prf result",
    "json: srp proof M1",
    "json: gcp secret manager payload.data",
    "json: github actions secret encrypted_value",
    "json: vault kv read",
    "json: card expiry and holder",
    "json: iban",
    "languages: lang ar رمز التحقق console",
    "languages: lang ar الرقم السري html label",
    "languages: lang fr réponse secrète html",
    "languages: lang ja 認証コード html",
    "languages: lang ko 주민등록번호 html",
    "languages: lang html numeric entity label passwort",
    "markup: xml-rpc wp.getPosts by position",
    "shapes: shape AKIA with its pair in text",
    "sockets: ws wamp AUTHENTICATE array",
    "sockets: ws guacamole args order",
    "sockets: ws elixir-like tuple reply",
];

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
    assert_eq!(count, 1278);
    assert_eq!(out, COME_OUT);
    // What stands beside a secret and is none: of a value that is a secret from end to end, all goes.
    assert!(lost <= 40, "of {lost} forms more is hidden than had to be");
}
