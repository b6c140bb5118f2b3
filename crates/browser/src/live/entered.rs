//! Where a password was entered: by tab, for the few minutes in which a sign-in follows.
//!
//! The one idea: that a password was entered is known, and what it was never leaves its page. A sign-in at a
//! provider comes back to the site that sent the person there, in the same tab or in the one that opened it, so
//! those sites belong to it.

use crate::targets::TargetId;
use baton_session::Site;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// For how long what changes is taken for the answer to a password.
const LIMIT: Duration = Duration::from_mins(2);
/// How many tabs are noted at once, and how many sites of each.
const TABS: usize = 64;
const SITES: usize = 4;

/// A password that was entered in a tab.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entered {
    /// The tab, by its id.
    pub tab: String,
    /// The sites that may have been signed in to.
    pub sites: BTreeSet<Site>,
    /// When it was entered.
    since: Instant,
}

/// Where passwords were entered of late.
#[derive(Debug, Default)]
pub(crate) struct EnteredPasswords(BTreeMap<String, Entered>);

impl EnteredPasswords {
    /// A password was entered in a tab, on a page of these sites.
    pub(super) fn entered(
        &mut self,
        tab: &TargetId,
        sites: impl IntoIterator<Item = Site>,
        now: Instant,
    ) {
        self.forget_old(now);
        let tab = tab.to_string();
        if self.0.len() >= TABS && !self.0.contains_key(&tab) {
            return;
        }
        let known = self.0.remove(&tab).map(|known| known.sites).unwrap_or_default();
        let sites = sites.into_iter().chain(known).take(SITES).collect();
        self.0.insert(tab.clone(), Entered { tab, sites, since: now });
    }

    /// A tab went to a site: back from where the password was entered, perhaps.
    pub(super) fn visited(&mut self, tab: &TargetId, site: Site, now: Instant) {
        self.forget_old(now);
        if let Some(known) = self.0.get_mut(tab.as_str())
            && known.sites.len() < SITES
        {
            known.sites.insert(site);
        }
    }

    /// All that are not too long ago.
    pub(super) fn all(&mut self, now: Instant) -> Vec<Entered> {
        self.forget_old(now);
        self.0.values().cloned().collect()
    }

    /// The sign-in that followed was seen; one that was entered since is another.
    pub(super) fn forget(&mut self, entered: &Entered) {
        if self.0.get(&entered.tab).is_some_and(|known| known.since == entered.since) {
            self.0.remove(&entered.tab);
        }
    }

    fn forget_old(&mut self, now: Instant) {
        self.0.retain(|_, known| now.saturating_duration_since(known.since) < LIMIT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(host: &str) -> Site {
        Site::of_host(host)
    }

    fn tab(id: &str) -> TargetId {
        TargetId::new(id)
    }

    #[test]
    fn where_a_tab_comes_back_to_belongs_to_the_sign_in() {
        let (mut passwords, now) = (EnteredPasswords::default(), Instant::now());
        passwords.visited(&tab("A"), site("shop.test"), now);
        assert!(passwords.all(now).is_empty(), "nothing was entered");
        passwords.entered(&tab("A"), [site("provider.test")], now);
        passwords.visited(&tab("A"), site("shop.test"), now);
        passwords.visited(&tab("B"), site("other.test"), now);
        let [entered] = &passwords.all(now)[..] else { panic!("expected one") };
        assert_eq!(entered.sites, [site("provider.test"), site("shop.test")].into());

        // A second factor is entered before the first was seen to be answered.
        passwords.entered(&tab("A"), [site("provider.test")], now + Duration::from_secs(1));
        passwords.forget(entered);
        let [second] = &passwords.all(now)[..] else { panic!("expected another") };
        passwords.forget(second);
        assert!(passwords.all(now).is_empty());
    }

    #[test]
    fn what_was_entered_is_over_after_a_while_and_bounded() {
        let (mut passwords, now) = (EnteredPasswords::default(), Instant::now());
        for n in 0..2 * TABS {
            passwords.entered(&tab(&n.to_string()), [site("a.test")], now);
        }
        for n in 0..2 * SITES {
            passwords.visited(&tab("0"), site(&format!("s{n}.test")), now);
        }
        let all = passwords.all(now);
        assert_eq!((all.len(), all[0].sites.len()), (TABS, SITES));
        assert!(passwords.all(now + LIMIT).is_empty());
    }
}
