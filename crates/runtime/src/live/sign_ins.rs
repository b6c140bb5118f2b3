//! What sign-ins change in a running browser, weighed as it is captured.
//!
//! The one idea: cost follows the change. Nothing is compared before a password was entered. Then what its sites
//! hold is compared once, when no page of the tab asks for a password any more, with the snapshot from before and
//! a few older ones; what is new is noted by name in the snapshot itself. So a rollback to before the sign-in
//! knows nothing of it, and whoever asks where a session is logged in reads one small part.

use baton_browser::capture::Captured;
use baton_browser::live::{Entered, Live};
use baton_session::login::{SignIn, SignIns};
use baton_session::{PartKind, PartRef, Session, Site, State, parts};
use baton_store::blocking::blocking;
use baton_store::{Store, StoreError};
use jiff::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// With how many snapshots from before a password was entered what there is now is compared.
const EARLIER: u32 = 8;

/// What is known of the sign-ins in a browser.
#[derive(Default)]
pub(super) struct SignInWatch {
    /// Those that its snapshots note; none before the first capture.
    noted: Option<SignIns>,
    /// What was held before the passwords were entered of which no sign-in was seen yet, by tab.
    before: BTreeMap<String, Before>,
}

/// What was held before a password was entered.
#[derive(Clone)]
struct Before {
    parts: Vec<PartRef>,
    at: Timestamp,
}

/// Whose browser it is, and where its snapshots are.
#[derive(Clone, Copy)]
pub(super) struct Watched<'w> {
    pub(super) store: &'w Store,
    pub(super) session: &'w Session,
    pub(super) live: &'w Live,
}

impl SignInWatch {
    /// What sign-ins have changed by this capture, which follows a snapshot with the parts `last`. One that cannot
    /// be weighed is none.
    pub(super) async fn weigh(
        &mut self,
        watched: Watched<'_>,
        last: &[PartRef],
        captured: &Arc<Captured>,
        taken_at: Timestamp,
    ) -> SignIns {
        let id = watched.session.id;
        let mut noted = match self.noted.take() {
            Some(noted) => noted,
            None => watched.noted(last).await,
        };
        let entered = watched.live.entered();
        self.before.retain(|tab, _| entered.iter().any(|one| one.tab == *tab));
        for entered in entered {
            let before = || Before { parts: last.to_vec(), at: taken_at };
            let before = self.before.entry(entered.tab.clone()).or_insert_with(before).clone();
            if watched.live.asks_for_password(&entered).await {
                continue;
            }
            match watched.compare(&entered, before, captured, taken_at).await {
                Ok(seen) if seen.is_empty() => {}
                Ok(seen) => {
                    watched.live.forget_entered(&entered);
                    self.before.remove(&entered.tab);
                    for one in seen {
                        noted.note(one);
                    }
                }
                Err(error) => tracing::warn!(session = %id, %error, "a sign-in was not weighed"),
            }
        }
        noted.keep_held(&captured.state);
        self.noted = Some(noted.clone());
        noted
    }
}

impl Watched<'_> {
    /// What a snapshot with these parts notes.
    async fn noted(self, last: &[PartRef]) -> SignIns {
        let note = last.iter().filter(|part| part.kind == PartKind::SignIns).cloned();
        match self.store.fetch_parts(&self.session.owner, &note.collect::<Vec<_>>()).await {
            Ok(found) => SignIns::of(found.iter().filter_map(|part| part.as_ref().ok())),
            Err(error) => {
                tracing::warn!(session = %self.session.id, %error, "a note of sign-ins was not read");
                SignIns::default()
            }
        }
    }

    /// What the sign-in changed that followed a password.
    async fn compare(
        self,
        entered: &Entered,
        before: Before,
        captured: &Arc<Captured>,
        taken_at: Timestamp,
    ) -> Result<Vec<SignIn>, StoreError> {
        let older = self.store.list_snapshots(self.session.id, None, EARLIER).await?;
        let older = older.into_iter().filter(|one| !one.sibling && one.taken_at < before.at);
        let mut lists: Vec<Vec<PartRef>> = older.map(|one| one.parts).collect();
        lists.reverse();
        lists.push(before.parts);
        let of_site = |part: &PartRef| is_of(part, &entered.sites);
        for list in &mut lists {
            list.retain(of_site);
        }
        let mut wanted: Vec<PartRef> = lists.iter().flatten().cloned().collect();
        wanted.sort_by(|one, other| place(one).cmp(&place(other)));
        wanted.dedup();
        let found = self.store.fetch_parts(&self.session.owner, &wanted).await?;
        let (captured, sites) = (Arc::clone(captured), entered.sites.clone());
        let work = move || {
            let found: BTreeMap<_, _> = wanted.iter().map(place).zip(&found).collect();
            let read = |list: &Vec<PartRef>| -> Result<State, String> {
                let parts = list.iter().map(|part| match &found[&place(part)] {
                    Ok(part) => Ok(part),
                    Err(error) => Err(StoreError::to_string(error)),
                });
                let parts: Vec<_> = parts.collect::<Result<_, _>>()?;
                Ok(parts::join(parts).0)
            };
            // What cannot be read is not known, and nothing is new beside it.
            let Ok(past) = lists.iter().map(read).collect::<Result<Vec<State>, _>>() else {
                return Vec::new();
            };
            let Some((before, earlier)) = past.split_last() else { return Vec::new() };
            let seen = |site| SignIn::between(site, before, &captured.state, earlier, taken_at);
            sites.iter().filter_map(seen).collect()
        };
        Ok(blocking(work).await?)
    }
}

/// Whether a part tells of sign-ins at these sites.
fn is_of(part: &PartRef, sites: &BTreeSet<Site>) -> bool {
    match part.kind {
        PartKind::Cookies => sites.iter().any(|site| site.as_str() == part.name),
        PartKind::LocalStorage => part.key().is_some_and(|key| sites.contains(&key.site())),
        // Whose it is, it says itself.
        PartKind::Tab => true,
        _ => false,
    }
}

/// What tells parts apart, whichever snapshots they are of.
fn place(part: &PartRef) -> (PartKind, &str, [u8; 32]) {
    (part.kind, part.name.as_str(), part.hash.0)
}
