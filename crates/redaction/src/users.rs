//! Users of hosts: `user:password@host` without the beginning of an address, as proxies and trunks have it.

use crate::look::is_like_password;
use crate::names::Weight;
use crate::search::{Search, position};

/// What stands before a colon and a mail address and is no user.
const LABELS: [&str; 26] = [
    "acct",
    "author",
    "bcc",
    "by",
    "cc",
    "contact",
    "email",
    "from",
    "git",
    "http",
    "https",
    "im",
    "jabber",
    "mail",
    "mailto",
    "mid",
    "npm",
    "owner",
    "sip",
    "sips",
    "tel",
    "to",
    "user",
    "username",
    "workspace",
    "xmpp",
];
/// The longest user, password and host, in bytes.
const LONGEST: usize = 96;

impl Search<'_, '_> {
    /// The passwords before hosts.
    pub(crate) fn users_of_hosts(&mut self) {
        let mut from = 0;
        while let Some(at) = position(self.bytes, from, |c| c == b'@') {
            from = at + 1;
            let fits = |c: &u8| c.is_ascii_graphic() && !b"\"'`<>(){}[]\\/,;&".contains(c);
            let length =
                self.bytes[..at].iter().rev().take(LONGEST).take_while(|c| fits(c)).count();
            let Some((user, password)) =
                self.text.get(at - length..at).and_then(|word| word.split_once(':'))
            else {
                continue;
            };
            let has = |fits: fn(&u8) -> bool| user.bytes().any(|c| fits(&c));
            let is_number = user.bytes().all(|c| c.is_ascii_digit());
            let is_user = (has(u8::is_ascii_alphabetic) || is_number)
                && (2..=64).contains(&user.len())
                && user.bytes().all(|c| c.is_ascii_alphanumeric() || b"._-+=".contains(&c))
                && !LABELS.contains(
                    &user
                        .rsplit(['=', '-'])
                        .next()
                        .unwrap_or_default()
                        .to_ascii_lowercase()
                        .as_str(),
                );
            if is_user && is_like_password(password) && is_host(&self.text[from..]) {
                let start = at - password.len();
                self.judge(Weight::Secret, start..at);
            }
        }
    }
}

/// `db.example:5432`, `10.0.0.1`, `localhost`.
fn is_host(rest: &str) -> bool {
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '.' | '-'));
    let host = &rest[..end.unwrap_or(rest.len()).min(LONGEST)];
    let host = host.trim_end_matches('.');
    let mut labels = host.rsplit('.');
    let last = labels.next().unwrap_or_default();
    let count = labels.count();
    let is_name = count >= 1 && last.len() >= 2 && last.bytes().all(|c| c.is_ascii_alphabetic());
    let is_number = count == 3 && host.bytes().all(|c| c.is_ascii_digit() || c == b'.');
    is_name || is_number || host == "localhost"
}
