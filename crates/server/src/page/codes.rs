//! Codes behind the `#` of the page's address: what each is exchanged for, once.
//!
//! The one idea: a browser comes to the page with nothing else, be it from the command line or from a provider. So a
//! code stands for a key, for a person whom a rule lets in, or for why it does not: the page shows that as it shows
//! any other refusal, and nobody else's words reach it by an address. What it stands for is in the memory of one node,
//! whose mark is at its end: so another one of its cluster knows whom to ask.

use super::halves::{PageHash, hash, marked, random};
use super::live::PageKey;
use super::own::lock;
use baton_runtime::RuntimeError;
use baton_session::NodeMark;
use baton_sync::oidc::{Person, SignInRefusal};
use secrecy::{ExposeSecret, SecretString};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How long a code counts: a browser is started with it.
const CODE_LIMIT: Duration = Duration::from_mins(2);
/// How many codes there may be of one key, or of one person.
const CODES_OF_ONE: usize = 20;
/// How many refusals are kept; one more makes the oldest one go.
const MOST_REFUSALS: usize = 256;

/// What a code stands for.
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
}

/// The codes of a node. Cheap to clone.
#[derive(Clone)]
pub(crate) struct PageCodes {
    codes: Arc<Mutex<HashMap<PageHash, (PageCode, Instant)>>>,
    node: NodeMark,
}

impl PageCodes {
    /// None yet, of the node with this mark: each code ends with it.
    pub(crate) fn new(node: NodeMark) -> Self {
        Self { codes: Arc::default(), node }
    }

    /// A new code, and how long it counts.
    pub(crate) fn create(
        &self,
        stands_for: PageCode,
    ) -> Result<(SecretString, Duration), RuntimeError> {
        let now = Instant::now();
        let codes = &mut lock(&self.codes);
        codes.retain(|_, (_, until)| *until > now);
        let of_the_same = codes.values().filter(|(other, _)| other.is_of_the_same(&stands_for));
        let first = of_the_same.clone().map(|(_, until)| *until).min();
        if of_the_same.count() >= CODES_OF_ONE {
            let wait = first.map(|first| first.saturating_duration_since(now)).unwrap_or_default();
            let what = "codes for the page of one key";
            return Err(RuntimeError::TooManyTickets { what, most: CODES_OF_ONE, wait });
        }
        if matches!(stands_for, PageCode::Refused(_)) {
            make_room(codes);
        }
        let code = marked(&random(), self.node);
        codes.insert(hash(code.expose_secret()), (stands_for, now + CODE_LIMIT));
        Ok((code, CODE_LIMIT))
    }

    /// What a code stands for, the one time that it counts.
    pub(crate) fn redeem(&self, code: &str) -> Option<PageCode> {
        let (stands_for, until) = lock(&self.codes).remove(&hash(code))?;
        (until > Instant::now()).then_some(stands_for)
    }
}

/// Anybody can be refused, so refusals take no more room than this.
fn make_room(codes: &mut HashMap<PageHash, (PageCode, Instant)>) {
    let refusals = codes.iter().filter(|(_, (code, _))| matches!(code, PageCode::Refused(_)));
    let oldest = refusals.clone().min_by_key(|(_, (_, until))| *until).map(|(hash, _)| *hash);
    if refusals.count() >= MOST_REFUSALS
        && let Some(oldest) = oldest
    {
        codes.remove(&oldest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn a_code_counts_once_and_one_key_has_a_bounded_number_of_them() {
        let codes = PageCodes::new(mark());
        let (code, _) = codes.create(key("a")).unwrap();
        let redeemed = codes.redeem(code.expose_secret()).unwrap();
        assert!(redeemed.is_of_the_same(&key("a")));
        assert!(codes.redeem(code.expose_secret()).is_none());
        for _ in 0..CODES_OF_ONE {
            codes.create(key("a")).unwrap();
        }
        assert!(codes.create(key("a")).is_err());
        codes.create(key("b")).unwrap();
    }

    #[test]
    fn refusals_push_each_other_out_and_no_code_that_signs_in() {
        let codes = PageCodes::new(mark());
        let (code, _) = codes.create(key("a")).unwrap();
        let (first, _) = codes.create(refusal()).unwrap();
        let made: Vec<_> = (0..MOST_REFUSALS).map(|_| codes.create(refusal()).unwrap().0).collect();
        assert!(codes.redeem(first.expose_secret()).is_none());
        assert!(made.iter().all(|code| codes.redeem(code.expose_secret()).is_some()));
        assert!(codes.redeem(code.expose_secret()).is_some());
    }
}
