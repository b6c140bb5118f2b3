//! Protocols of lines: what is said to servers of mail, chat, files and data to sign in.
//!
//! The one idea: a verb at the beginning of a line says which of its arguments is the secret.

use crate::look::Look;
use crate::names::Weight;
use crate::search::{Search, Words, each};
use std::ops::Range;

impl Search<'_, '_> {
    /// `machine … login … password x`, over lines.
    pub(crate) fn netrc(&mut self) {
        let mut from = 0;
        while let Some(at) = self.text[from..].find("machine ").map(|at| from + at) {
            let begins = at == 0 || self.bytes[at - 1].is_ascii_whitespace();
            from = at + 8;
            let mut words = Words { text: self.text, at };
            while let Some(key) = words.next().filter(|_| begins) {
                let is_password = match &self.text[key] {
                    "password" => true,
                    "machine" | "login" | "account" => false,
                    _ => break,
                };
                let Some(value) = words.next() else { break };
                from = value.end;
                if is_password {
                    self.judge(Weight::Secret, value);
                }
            }
        }
    }

    /// Lines of protocols, and of files with one secret a line.
    pub(crate) fn protocols(&mut self) {
        let is_one = !self.text.trim_end().contains('\n');
        let (mut at, mut waits) = (0, Waits::Nothing);
        for line in self.text.split_inclusive('\n') {
            let start = at;
            at += line.len();
            self.pgpass(line.trim_end(), start);
            let length = line.trim_end_matches(['\0', '\n', '\r', ' ']).len();
            if length > 4096 {
                continue;
            }
            let end = start + length;
            let mut words: Vec<Range<usize>> =
                Words { text: &self.text[..end], at: start }.take(9).collect();
            waits = self.answer(waits, &words);
            if words.len() > 8 || words.is_empty() {
                continue;
            }
            let skipped = self.before_verb(&words);
            words.drain(..skipped);
            waits = self.command(&words, is_one, waits);
        }
    }

    /// `write(4, "PASS x\r\n", 8)`: lines of protocols in quotes, as who watches a program has them.
    pub(crate) fn quoted_protocols(&mut self) {
        const END: &str = "\\r\\n";
        for (end, _) in each(self.text, END) {
            let start = self.text.ceil_char_boundary(end.saturating_sub(512));
            let before = &self.text[start..end];
            let Some(open) = before.rfind(['"', '\'']) else { continue };
            // Several lines may stand in one.
            let line = before[open..].rfind(END).map_or(open + 1, |at| open + at + END.len());
            let mut words: Vec<Range<usize>> =
                Words { text: &self.text[..end], at: start + line }.take(9).collect();
            if (2..=8).contains(&words.len()) {
                let skipped = self.before_verb(&words);
                words.drain(..skipped);
                self.command(&words, false, Waits::Nothing);
            }
        }
    }

    /// `host:port:database:user:password`.
    fn pgpass(&mut self, line: &str, start: usize) {
        if line.len() > 512 || line.bytes().filter(|c| *c == b':').count() != 4 {
            return;
        }
        let parts: Vec<&str> = line.split(':').collect();
        let is_port = parts[1] == "*"
            || (parts[1].len() >= 4 && parts[1].bytes().all(|c| c.is_ascii_digit()));
        let is_name = |part: &&str| {
            !part.is_empty()
                && part.bytes().all(|c| c.is_ascii_alphanumeric() || b"-._*".contains(&c))
        };
        let is_line = is_port && parts[..4].iter().all(is_name) && !parts[4].contains(' ');
        if is_line {
            let end = start + line.len();
            self.judge(Weight::Secret, end - parts[4].len()..end);
        }
    }

    /// The second half of an exchange: base64 behind `AUTH LOGIN`, or Redis's length and value.
    fn answer(&mut self, waits: Waits, words: &[Range<usize>]) -> Waits {
        let [word] = words else { return waits.after_other() };
        let text = &self.text[word.clone()];
        match waits {
            Waits::Answers(left) if left > 0 => {
                let is_base64 = text.len() >= 4
                    && text.bytes().all(|c| c.is_ascii_alphanumeric() || b"+/=".contains(&c));
                if is_base64 {
                    self.judge(Weight::Secret, word.clone());
                }
                Waits::Answers(left - 1)
            }
            Waits::Bulk if text.starts_with('$') => Waits::Bulk,
            Waits::Bulk if !text.starts_with('*') => {
                self.judge(Weight::Secret, word.clone());
                Waits::Bulk
            }
            _ => Waits::Nothing,
        }
    }

    /// How many words stand before the verb: marks of who speaks, IMAP's tags, the service that is told.
    fn before_verb(&self, words: &[Range<usize>]) -> usize {
        let word = |at: usize| words.get(at).map_or("", |word| &self.text[word.clone()]);
        let bytes = word(0).as_bytes();
        let is_tag = words.len() > 2
            && bytes.len() <= 8
            && bytes[0].is_ascii_alphanumeric()
            && bytes.last().is_some_and(u8::is_ascii_digit)
            && matches!(word(1), "LOGIN" | "AUTHENTICATE" | "login" | "authenticate");
        match word(0).to_ascii_uppercase().as_str() {
            "C:" | ">" | ">>" | ">>>" | "NS" | "/NS" | "NICKSERV" | "/NICKSERV" | "QUOTE" => 1,
            "PRIVMSG" | "/MSG" | "/QUERY" if words.len() > 2 => 2,
            _ => usize::from(is_tag),
        }
    }

    /// A verb and its arguments.
    fn command(&mut self, words: &[Range<usize>], is_one: bool, waits: Waits) -> Waits {
        let Some((verb, rest)) = words.split_first() else { return waits };
        let verb = self.text[verb.clone()].trim_start_matches(':');
        let is_upper = verb.bytes().all(|c| c.is_ascii_uppercase());
        let is_told = verb.starts_with('/') || verb.contains('.');
        let verb = verb.rsplit(['/', '.']).next().unwrap_or_default();
        if !(is_upper || is_one) || verb.is_empty() || verb.len() > 12 {
            return waits;
        }
        let verb = verb.to_ascii_uppercase();
        let arguments: Vec<&str> = rest.iter().map(|word| &self.text[word.clone()]).collect();
        let Some(at) = secret_of(&verb, &arguments, is_told) else {
            return if is_upper {
                Waits::behind(&verb, &arguments).unwrap_or(waits)
            } else {
                waits
            };
        };
        let value = arguments[at];
        let look = Look::of(value);
        let is_mixed = value.len() >= 6
            && value.bytes().any(|c| c.is_ascii_digit())
            && value.bytes().any(|c| c.is_ascii_alphabetic());
        let is_word = look == Look::Plain
            && (value.bytes().all(|c| c.is_ascii_uppercase()) || value.contains('/'));
        if is_told || (is_upper && !is_word) || look >= Look::Opaque || is_mixed {
            let same = rest.iter().zip(&arguments).filter(|(_, argument)| **argument == value);
            let same: Vec<Range<usize>> = same.map(|(word, _)| word.clone()).collect();
            for word in same {
                let text = &self.text[word.clone()];
                let start =
                    word.start + text.len() - text.trim_start_matches([':', '>', '<', '!']).len();
                self.judge(Weight::Secret, start..word.end);
            }
        }
        waits
    }
}

/// What the next lines of a protocol hold.
#[derive(Clone, Copy)]
enum Waits {
    Nothing,
    /// So many lines of base64.
    Answers(u8),
    /// Redis's arguments, each behind its length.
    Bulk,
}

impl Waits {
    /// What comes behind a verb without its secret.
    fn behind(verb: &str, arguments: &[&str]) -> Option<Self> {
        match (verb, arguments) {
            ("AUTH", []) => Some(Self::Bulk),
            ("AUTH" | "AUTHENTICATE", ["LOGIN"]) => Some(Self::Answers(2)),
            ("AUTH" | "AUTHENTICATE", [one]) if is_mechanism(one) => Some(Self::Answers(1)),
            _ => None,
        }
    }

    /// A server may say something between.
    fn after_other(self) -> Self {
        if matches!(self, Self::Bulk) { Self::Nothing } else { self }
    }
}

/// Which argument of a verb is its secret.
fn secret_of(verb: &str, arguments: &[&str], is_told: bool) -> Option<usize> {
    match (verb, arguments) {
        ("AUTH" | "AUTHENTICATE", [one]) => {
            (!is_mechanism(one) && !matches!(*one, "+" | "*")).then_some(0)
        }
        ("AUTH" | "AUTHENTICATE" | "IDENTIFY" | "OPER" | "APOP" | "LOGIN", [_, _]) => Some(1),
        ("GHOST" | "RECOVER" | "REGAIN" | "RELEASE", [_, secret]) => {
            (!secret.bytes().all(|c| c.is_ascii_digit())).then_some(1)
        }
        // A key that is named as a secret: `SETEX otp:al 300 x`.
        (
            "SET" | "SETNX" | "GETSET" | "APPEND" | "PUBLISH" | "LPUSH" | "RPUSH" | "SADD",
            [key, _],
        ) if is_key_of_secret(key) => Some(1),
        ("SETEX" | "PSETEX", [key, _, _]) if is_key_of_secret(key) => Some(2),
        ("SET", [key, _, "EX" | "PX" | "NX" | "XX" | "KEEPTTL" | "ex" | "px", ..])
            if is_key_of_secret(key) =>
        {
            Some(1)
        }
        ("ACL", [set, _, rules @ ..]) if set.eq_ignore_ascii_case("SETUSER") => {
            rules.iter().position(|rule| rule.starts_with(['>', '<', '#', '!'])).map(|at| at + 2)
        }
        ("PASS" | "PASSWORD" | "PASSWD" | "IDENTIFY", [_]) => Some(0),
        ("LOGIN" | "REGISTER", [_]) | ("REGISTER", [_, _]) if is_told => Some(0),
        ("JOIN", [channel, _]) if channel.starts_with(['#', '&']) => Some(1),
        ("HELLO", [_, auth, _, _, ..]) if auth.eq_ignore_ascii_case("AUTH") => Some(3),
        ("CONFIG", [set, name, _]) => {
            let is_secret =
                set.eq_ignore_ascii_case("SET") && name.to_ascii_lowercase().contains("pass");
            is_secret.then_some(2)
        }
        _ => None,
    }
}

/// `otp:al`, `shop/password/7`.
fn is_key_of_secret(key: &str) -> bool {
    let is_secret = |part: &str| {
        let part = part.trim_matches('"').to_ascii_lowercase();
        matches!(
            part.as_str(),
            "otp"
                | "pin"
                | "password"
                | "passwd"
                | "secret"
                | "token"
                | "apikey"
                | "api_key"
                | "csrf"
                | "totp"
                | "2fa"
                | "mfa"
        ) || part.ends_with("_token")
            || part.ends_with("_secret")
            || part.ends_with("_password")
            || part.ends_with("_code") && part != "error_code"
    };
    key.split([':', '/', '.']).any(is_secret)
}

/// Ways to say who one is (the registry of SASL).
fn is_mechanism(word: &str) -> bool {
    let word = word.to_ascii_uppercase();
    [
        "PLAIN",
        "LOGIN",
        "SCRAM-",
        "XOAUTH",
        "OAUTHBEARER",
        "DIGEST-MD5",
        "CRAM-MD5",
        "EXTERNAL",
        "NTLM",
        "GSSAPI",
        "ANONYMOUS",
    ]
    .iter()
    .any(|mechanism| word.starts_with(mechanism))
}
