//! Codes behind the `#` of the page's address: what each is exchanged for, once.
//!
//! The one idea: a browser comes to the page with nothing else, be it from the command line or from a provider. So a
//! code stands for a key, for a person whom a rule lets in, or for why it does not: the page shows that as it shows
//! any other refusal, and nobody else's words reach it by an address. Whoever comes back from a provider is known by a
//! cookie beside the code: else one person could lead another one's browser to it, who would then be the first. What it
//! stands for is in the memory of one node, whose mark is at its end: so another one of its cluster knows whom to ask.

use super::halves::{COOKIE_NAME, PageHash, TAG_LENGTH, cookies, hash, marked, random, secure};
use super::live::PageKey;
use super::own::lock;
use axum::http::HeaderMap;
use baton_runtime::RuntimeError;
use baton_session::NodeMark;
use baton_store::clock::Deadline;
use baton_sync::oidc::{Person, SignInRefusal};
use secrecy::{ExposeSecret, SecretString};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How long a code counts: a browser is started with it.
const CODE_LIMIT: Duration = Duration::from_mins(2);
/// Where the cookie beside a code is shown, and nowhere else: the page redeems codes there.
const REDEEMED_AT: &str = "/page/session";
/// How many codes there may be of one key, or of one person.
const CODES_OF_ONE: usize = 20;
/// How many refusals are kept; one more makes the oldest one go.
const MOST_REFUSALS: usize = 256;

/// What a code stands for.
#[derive(Clone)]
pub(crate) enum PageCode {
    /// A key that signs the page in.
    Key(PageKey),
    /// A person whom a rule lets in.
    Person(Box<Person>),
    /// Why nobody is signed in.
    Refused(Box<SignInRefusal>),
}

impl PageCode {
    /// Whether both count as those of one.
    fn is_of_the_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Key(one), Self::Key(other)) => one.id == other.id,
            (Self::Person(one), Self::Person(other)) => one.id == other.id,
            _ => false,
        }
    }

    /// Whether it counts in one browser alone: in that which came back from the provider. That of a key is made
    /// before any browser is there.
    fn is_of_one_browser(&self) -> bool {
        !matches!(self, Self::Key(_))
    }
}

/// A code, this once.
pub(crate) struct NewCode {
    /// What stands behind `#`.
    pub(crate) code: SecretString,
    /// How long it counts.
    pub(crate) limit: Duration,
    /// What the browser keeps in which alone it counts; none where it counts in any.
    half: Option<SecretString>,
}

impl NewCode {
    /// The header that gives the browser what it needs beside the code, if it needs something.
    pub(crate) fn cookie(&self, is_secure: bool) -> Option<String> {
        let half = self.half.as_ref()?.expose_secret();
        let tag = self.code.expose_secret().get(..TAG_LENGTH)?;
        let (seconds, end) = (self.limit.as_secs(), secure(is_secure));
        // The page itself shows it, so it comes along from no other site.
        Some(format!(
            "{COOKIE_NAME}{tag}={half}; Path={REDEEMED_AT}; Max-Age={seconds}; HttpOnly; SameSite=Strict{end}"
        ))
    }
}

/// A code that was redeemed, until it is clear that it is used up.
pub(crate) struct RedeemedCode {
    code: PageHash,
    kept: KeptCode,
}

impl RedeemedCode {
    /// What it stands for.
    pub(crate) fn stands_for(&self) -> PageCode {
        self.kept.stands_for.clone()
    }
}

/// A code that was given out.
struct KeptCode {
    stands_for: PageCode,
    /// The hash of what its browser keeps; none where it counts in any.
    half: Option<PageHash>,
    until: Deadline,
}

/// The codes of a node. Cheap to clone.
#[derive(Clone)]
pub(crate) struct PageCodes {
    codes: Arc<Mutex<HashMap<PageHash, KeptCode>>>,
    node: NodeMark,
}

impl PageCodes {
    /// None yet, of the node with this mark: each code ends with it.
    pub(crate) fn new(node: NodeMark) -> Self {
        Self { codes: Arc::default(), node }
    }

    /// A new code.
    pub(crate) fn create(&self, stands_for: PageCode) -> Result<NewCode, RuntimeError> {
        let codes = &mut lock(&self.codes);
        codes.retain(|_, kept| !kept.until.is_over());
        let of_the_same = codes.values().filter(|kept| kept.stands_for.is_of_the_same(&stands_for));
        let wait = of_the_same.clone().map(|kept| kept.until.left()).min().unwrap_or_default();
        if of_the_same.count() >= CODES_OF_ONE {
            let what = "codes for the page of one key";
            return Err(RuntimeError::TooManyTickets { what, most: CODES_OF_ONE, wait });
        }
        if matches!(stands_for, PageCode::Refused(_)) {
            make_room(codes);
        }
        let code = marked(&random(), self.node);
        let half = stands_for.is_of_one_browser().then(random);
        let kept = KeptCode {
            stands_for,
            half: half.as_ref().map(|half| hash(half.expose_secret())),
            until: Deadline::after(CODE_LIMIT),
        };
        codes.insert(hash(code.expose_secret()), kept);
        Ok(NewCode { code, limit: CODE_LIMIT, half })
    }

    /// A code, the one time that it counts, in the browser whose request has these headers; else what was found in the
    /// place of one that counts.
    pub(crate) fn redeem(
        &self,
        code: &str,
        headers: &HeaderMap,
    ) -> Result<RedeemedCode, &'static str> {
        let shown = code.get(..TAG_LENGTH).and_then(|tag| cookies(headers, tag).next()).map(hash);
        let codes = &mut lock(&self.codes);
        let code = hash(code);
        // Of another browser's code nothing is used up.
        if codes.get(&code).is_some_and(|kept| kept.half.is_some() && kept.half != shown) {
            return Err("one with which another browser came back");
        }
        let found = codes.remove(&code).filter(|kept| !kept.until.is_over());
        let kept = found.ok_or("one that does not count, or no longer")?;
        Ok(RedeemedCode { code, kept })
    }

    /// Has a code count once more, for as long as it would have: nothing came of it.
    pub(crate) fn put_back(&self, RedeemedCode { code, kept }: RedeemedCode) {
        lock(&self.codes).insert(code, kept);
    }
}

/// Anybody can be refused, so refusals take no more room than this.
fn make_room(codes: &mut HashMap<PageHash, KeptCode>) {
    let refusals = codes.iter().filter(|(_, kept)| matches!(kept.stands_for, PageCode::Refused(_)));
    let oldest = refusals.clone().min_by_key(|(_, kept)| kept.until).map(|(hash, _)| *hash);
    if refusals.count() >= MOST_REFUSALS
        && let Some(oldest) = oldest
    {
        codes.remove(&oldest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::header::COOKIE;

    fn mark() -> NodeMark {
        NodeMark::at_end_of("8f3a52c1").unwrap()
    }

    fn key(id: &str) -> PageCode {
        let owner = "ada".parse().unwrap();
        PageCode::Key(PageKey { secret_hash: [7; 32], id: id.to_owned(), owner, person: None })
    }

    fn refusal() -> PageCode {
        PageCode::Refused(Box::new(SignInRefusal::NotOffered))
    }

    /// The headers of the browser that was given this code.
    fn its_browser(new: &NewCode) -> HeaderMap {
        let cookie = new.cookie(true).unwrap();
        let pair = cookie.split(';').next().unwrap();
        [(COOKIE, pair.parse().unwrap())].into_iter().collect()
    }

    #[test]
    fn a_code_counts_once_and_one_key_has_a_bounded_number_of_them() {
        let codes = PageCodes::new(mark());
        let new = codes.create(key("a")).unwrap();
        assert_eq!(new.cookie(true), None, "no browser is there when it is made");
        let redeem = || codes.redeem(new.code.expose_secret(), &HeaderMap::new());
        let redeemed = redeem().unwrap();
        assert!(redeemed.stands_for().is_of_the_same(&key("a")));
        assert!(redeem().is_err());
        codes.put_back(redeemed);
        assert!(redeem().is_ok(), "nothing came of it before");
        assert_eq!(redeem().err(), Some("one that does not count, or no longer"));
        for _ in 0..CODES_OF_ONE {
            codes.create(key("a")).unwrap();
        }
        assert!(codes.create(key("a")).is_err());
        codes.create(key("b")).unwrap();
    }

    #[test]
    fn a_code_of_one_browser_counts_in_no_other_and_is_not_used_up_there() {
        let codes = PageCodes::new(mark());
        let (new, other) = (codes.create(refusal()).unwrap(), codes.create(refusal()).unwrap());
        let cookie = new.cookie(true).unwrap();
        for wanted in ["; Path=/page/session;", "; HttpOnly", "; SameSite=Strict", "; Secure"] {
            assert!(cookie.contains(wanted), "{cookie}");
        }
        let redeem = |headers: &HeaderMap| codes.redeem(new.code.expose_secret(), headers);
        let mut forged = its_browser(&new);
        let tag = &new.code.expose_secret()[..TAG_LENGTH];
        forged.insert(COOKIE, format!("{COOKIE_NAME}{tag}=guessed").parse().unwrap());
        for headers in [HeaderMap::new(), its_browser(&other), forged] {
            let refused = redeem(&headers).err();
            assert_eq!(refused, Some("one with which another browser came back"));
        }
        assert!(redeem(&its_browser(&new)).is_ok());
        assert!(redeem(&its_browser(&new)).is_err(), "it counts once there, too");
    }

    #[test]
    fn refusals_push_each_other_out_and_no_code_that_signs_in() {
        let codes = PageCodes::new(mark());
        let key = codes.create(key("a")).unwrap();
        let first = codes.create(refusal()).unwrap();
        let made: Vec<_> = (0..MOST_REFUSALS).map(|_| codes.create(refusal()).unwrap()).collect();
        let redeem = |new: &NewCode| {
            let headers = if new.half.is_some() { its_browser(new) } else { HeaderMap::new() };
            codes.redeem(new.code.expose_secret(), &headers)
        };
        assert!(redeem(&first).is_err());
        assert!(made.iter().all(|new| redeem(new).is_ok()));
        assert!(redeem(&key).is_ok());
    }
}
