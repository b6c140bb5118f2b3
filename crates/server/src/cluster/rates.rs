//! How often callers ask, over all nodes of a cluster.
//!
//! The one idea: each node counts for itself and tells the others, at its beat, who used up a good part of a minute's
//! worth; they take that off what they give. So a caller who comes to all nodes in turn has one minute's worth, a few
//! seconds late, and nobody asks the database about a request. Who asks little costs nothing, and is told to nobody.

use baton_net::rates::{Rates, Spender, Spent};
use baton_session::json;
use baton_store::{ClusterMember, Store, StoreError};
use std::collections::HashMap;

/// What was heard of the others.
pub(super) struct SharedRates {
    rates: Rates,
    /// How often each caller had asked each start of a node when that was last heard.
    known: HashMap<(String, Spender), u64>,
    /// What was told last.
    told: String,
}

impl SharedRates {
    /// Nothing was told or heard yet.
    pub(super) fn new(rates: Rates) -> Self {
        Self { rates, known: HashMap::new(), told: String::new() }
    }

    /// Tells the others, where there is something new, and hears what they told.
    pub(super) async fn exchange(
        &mut self,
        store: &Store,
        own: &ClusterMember,
    ) -> Result<(), StoreError> {
        let spent = self.rates.spent();
        let text = if spent.is_empty() { String::new() } else { json::text(&spent) };
        if text != self.told {
            store.tell_rates(own.node, &text).await?;
            self.told = text;
        }
        self.hear(store.hear_rates(own).await?);
        Ok(())
    }

    fn hear(&mut self, told: Vec<(String, String)>) {
        let before = std::mem::take(&mut self.known);
        for (start, text) in told {
            // What a node of another version says may be something else.
            let Ok(spent) = serde_json::from_str::<Vec<Spent>>(&text) else { continue };
            for Spent { who, total } in spent {
                let entry = (start.clone(), who);
                let known = before.get(&entry).copied().unwrap_or_default();
                let more = total.saturating_sub(known);
                if more > 0 {
                    self.rates.spent_elsewhere(&entry.1, more);
                }
                self.known.insert(entry, total);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use baton_net::rates::RateLimits;

    #[test]
    fn what_another_node_tells_again_counts_once() {
        let limits = RateLimits { requests_per_minute: 100, ..RateLimits::default() };
        let rates = Rates::new(limits);
        let mut shared = SharedRates::new(rates.clone());
        let told = |total| {
            let who = Spender::Key("ada".to_owned());
            vec![("a".to_owned(), json::text(&[Spent { who, total }]))]
        };
        shared.hear(told(50));
        shared.hear(told(50));
        shared.hear(told(90));
        let left = (0..100).take_while(|_| rates.asked("ada").is_ok()).count();
        assert!((10..13).contains(&left), "{left}");
        // What a node of another version says is passed over; one that is heard anew counts from the start.
        shared.hear(vec![("b".to_owned(), "something else".to_owned())]);
        shared.hear(told(90));
        let wait = rates.asked("ada").unwrap_err();
        assert!(wait.as_millis() > 0);
    }
}
