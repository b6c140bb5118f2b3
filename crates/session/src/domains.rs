//! A part of a state: what belongs to some domains.
//!
//! The one idea: a domain counts with all that is below it, label by label. `example.com` has
//! `www.example.com`, and never `notexample.com`. Whose something is says its own host: that of a
//! frame in another site is the frame's, not the site's around it.

use crate::receipt::Receipt;
use crate::receipt::{ItemKind, ReceiptItem};
use crate::state::State;
use crate::storage::StorageKey;
use crate::tab::Tab;
use std::fmt;
use std::str::FromStr;
use url::{Host, Url};

/// A domain and all that is below it; or one address of a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Domain(Host);

/// A text that is no domain.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected a domain such as example.com, without a scheme, port or path, found {0:?}")]
pub struct BadDomain(String);

impl FromStr for Domain {
    type Err = BadDomain;

    fn from_str(text: &str) -> Result<Self, BadDomain> {
        let name = text.strip_prefix("*.").or(text.strip_prefix('.')).unwrap_or(text);
        let name = name.strip_suffix('.').unwrap_or(name);
        let bad = || BadDomain(text.to_owned());
        let host = Host::parse(name).map_err(|_| bad())?;
        let is_bad = |label: &str| label.is_empty() || label.contains('*');
        match &host {
            Host::Domain(name) if name.split('.').any(is_bad) => Err(bad()),
            _ => Ok(Self(host)),
        }
    }
}

impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0.to_string())
    }
}

impl Domain {
    /// Whether a host, or the domain of a cookie, is this one or below it.
    pub fn has(&self, host: &str) -> bool {
        let host = host.strip_prefix('.').unwrap_or(host).trim_end_matches('.');
        let own = self.0.to_string();
        let Some(rest) = host.len().checked_sub(own.len()) else { return false };
        let (Some(below), Some(end)) = (host.get(..rest), host.get(rest..)) else { return false };
        let is_below = below.ends_with('.') && matches!(self.0, Host::Domain(_));
        end.eq_ignore_ascii_case(&own) && (below.is_empty() || is_below)
    }
}

/// Takes out of a state what belongs to none of the domains. The environment stays, permissions aside.
pub fn keep(state: &mut State, domains: &[Domain]) {
    let has = |host: &str| domains.iter().any(|domain| domain.has(host));
    let owns = |address: &str| host_of(address).is_some_and(|host| has(&host));
    state.cookies.retain(|cookie| has(&cookie.domain));
    state.origins.retain(|key, _| owns(key.origin()));
    state.tabs.retain(|tab| owns(&tab.url));
    state.tabs.iter_mut().for_each(|tab| keep_in_tab(tab, &owns));
    state.environment.permissions.retain(|permission| owns(&permission.origin));
}

/// Of a tab that stays: what it holds of others. A history that led elsewhere is left out, for its
/// entries are places in a row.
fn keep_in_tab(tab: &mut Tab, owns: &impl Fn(&str) -> bool) {
    tab.session_storage.retain(|key, _| owns(key.origin()));
    if !tab.history.entries.iter().all(|entry| owns(&entry.url)) {
        tab.history = crate::history::History::default();
    }
}

/// The lines of a receipt about these domains, and those that are about nobody's.
pub fn concerning(receipt: Receipt, domains: &[Domain]) -> Receipt {
    let has = |host: &str| domains.iter().any(|domain| domain.has(host));
    let items = receipt.items.into_iter();
    items.filter(|item| host_in(item).is_none_or(|host| has(&host))).collect()
}

/// The host in the place of an item; none when it is about no single one.
fn host_in(item: &ReceiptItem) -> Option<String> {
    if item.kind == ItemKind::Cookie {
        return item.place.split_once('/').map(|(domain, _)| domain.to_owned());
    }
    item.place.split_whitespace().find_map(|word| host_of(StorageKey::new(word).origin()))
}

fn host_of(address: &str) -> Option<String> {
    Url::parse(address).ok()?.host_str().map(str::to_owned)
}
