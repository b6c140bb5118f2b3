//! How often callers ask, over all nodes of a cluster.
//!
//! The one idea: each node counts for itself and tells the others, at its beat, who used up a good part of a minute's
//! worth; they take that off what they give. So a caller who comes to all nodes in turn has one minute's worth, a few
//! seconds late, and nobody asks the database about a request. Who asks little costs nothing, and is told to nobody.

use baton_net::rates::{Rates, Spender, Spent};
use baton_session::json;
use baton_store::{ClusterMember, Store, StoreError};
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// What was heard of the others.
pub(super) struct SharedRates {
    rates: Rates,
    /// How often each caller had asked each start of a node when that was last heard, for a while: who is told of no
    /// more may be told of again.
    known: HashMap<(String, Spender), HeardTotal>,
    /// What was told last; none before the first time, when what a former start of this node told still stands there.
    told: Option<Vec<Spent>>,
}

/// What was heard of one caller of one start of a node.
struct HeardTotal {
    total: u64,
    at: Instant,
}

/// For how long that is known. All that was counted by then has been given back.
const KNOWN: Duration = Duration::from_mins(1);

impl SharedRates {
    /// Nothing was told or heard yet.
    pub(super) fn new(rates: Rates) -> Self {
        Self { rates, known: HashMap::new(), told: None }
    }

    /// Tells the others, where there is something new, and hears what they told.
    pub(super) async fn exchange(
        &mut self,
        store: &Store,
        own: &ClusterMember,
    ) -> Result<(), StoreError> {
        let spent = self.rates.spent();
        if self.told.as_ref().is_none_or(|told| !is_same(told, &spent)) {
            let text = if spent.is_empty() { String::new() } else { json::text(&spent) };
            store.tell_rates(own.node, &text).await?;
            self.told = Some(spent);
        }
        self.hear(store.hear_rates(own).await?, Instant::now());
        Ok(())
    }

    fn hear(&mut self, told: Vec<(String, String)>, now: Instant) {
        self.known.retain(|_, heard| now.duration_since(heard.at) < KNOWN);
        for (start, text) in told {
            // What a node of another version says may be something else.
            let Ok(spent) = serde_json::from_str::<Vec<Spent>>(&text) else { continue };
            for Spent { who, total, recent } in spent {
                let entry = (start.clone(), who);
                let known = self.known.get(&entry).map(|heard| heard.total);
                let more = known.map_or(recent, |known| total.saturating_sub(known));
                if more > 0 {
                    self.rates.spent_elsewhere(&entry.1, more);
                }
                self.known.insert(entry, HeardTotal { total, at: now });
            }
        }
    }
}

/// Whether nobody asked in between: what is given back by itself is not worth a word.
fn is_same(told: &[Spent], now: &[Spent]) -> bool {
    let totals = |spent: &Spent| (spent.who.clone(), spent.total);
    told.iter().map(totals).eq(now.iter().map(totals))
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
        let now = Instant::now();
        // It has run for long: what is given back by now counts nowhere.
        let told = |recent| {
            let who = Spender::Key("ada".to_owned());
            vec![("a".to_owned(), json::text(&[Spent { who, total: 1000 + recent, recent }]))]
        };
        shared.hear(told(50), now);
        shared.hear(told(50), now);
        // Others asked more meanwhile, so it is not told of her; and what a node of another version says is passed
        // over.
        shared.hear(Vec::new(), now);
        shared.hear(vec![("b".to_owned(), "something else".to_owned())], now);
        shared.hear(told(50), now);
        shared.hear(told(60), now);
        let left = (0..100).take_while(|_| rates.asked("ada").is_ok()).count();
        assert!((40..43).contains(&left), "{left}");
        // Who was not heard of for long counts by what is not given back.
        let rates = Rates::new(limits);
        shared.rates = rates.clone();
        shared.hear(told(70), now + KNOWN);
        let left = (0..100).take_while(|_| rates.asked("ada").is_ok()).count();
        assert!((30..33).contains(&left), "{left}");
    }
}
