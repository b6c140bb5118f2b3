//! Tabs whose browser is gone for a moment: what they told stays, and a browser that comes back goes on.

use baton_api::debug::TabToken;
use baton_debug::relay::TabSender;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a tab waits for its browser.
const PATIENCE: Duration = Duration::from_mins(5);

/// The tabs that wait for their browsers. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Parked(Arc<Mutex<Waiting>>);

#[derive(Debug, Default)]
struct Waiting {
    /// With the key of its browser, and the turn in which it began to wait.
    tabs: HashMap<TabToken, (TabSender, String, u64)>,
    turns: u64,
}

impl Parked {
    /// Keeps a tab until its browser, the one with this key, comes back.
    pub(crate) fn park(&self, tab: TabSender, key: &str) {
        tab.offline();
        let (token, turn) = {
            let mut waiting = self.waiting();
            waiting.turns += 1;
            let (token, turn) = (tab.token().clone(), waiting.turns);
            waiting.tabs.insert(token.clone(), (tab, key.to_owned(), turn));
            (token, turn)
        };
        let parked = self.clone();
        tokio::spawn(async move {
            tokio::time::sleep(PATIENCE).await;
            let mut waiting = parked.waiting();
            if waiting.tabs.get(&token).is_some_and(|(_, _, since)| *since == turn) {
                let gone = waiting.tabs.remove(&token);
                // A tab that ends asks the relay, which must not wait for this.
                drop(waiting);
                drop(gone);
            }
        });
    }

    /// The tab, if it waits for the browser with this key.
    pub(crate) fn take(&self, token: &TabToken, key: &str) -> Option<TabSender> {
        let mut waiting = self.waiting();
        if waiting.tabs.get(token).is_none_or(|(_, of, _)| of != key) {
            return None;
        }
        waiting.tabs.remove(token).map(|(tab, ..)| tab)
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
