//! The way that a tab goes before it is captured, and the same way gone again afterwards.

use super::picture::Picture;
use super::window::{Tab, Window};
use baton_testing::Dice;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What a tab left behind at each entry of its history, and in its sessionStorage.
#[derive(Debug, Default)]
pub(super) struct TabTrail {
    number: usize,
    entries: BTreeMap<u64, Value>,
    session: Picture,
}

impl TabTrail {
    /// The way of a tab that has not gone anywhere.
    pub(super) fn of(number: usize) -> Self {
        Self { number, ..Self::default() }
    }

    /// Goes one step, writes something there, and scrolls.
    pub(super) async fn step(&mut self, window: &Window, dice: &mut Dice, seed: &str) {
        let tab = window.tab(self.number).await;
        let seed = format!("{seed} {}", dice.roll(1_000_000));
        // The first tab stays where it is, so that each session has what a step inside leaves.
        let step = if self.number == 0 { 0 } else { dice.roll(6) };
        match step {
            0 | 1 => drop(tab.evaluate(&format!("stepInside('{seed}')")).await),
            2 => leave(&tab, &seed, "null").await,
            3 => leave(&tab, &seed, "0").await,
            4 => back(&tab).await,
            _ => {}
        }
        let scroll = [dice.roll(2000), dice.roll(4000)].map(|pixels| pixels * dice.roll(2));
        let side = "document.documentElement.dir === 'rtl' ? -1 : 1";
        tab.evaluate(&format!("scrollTo(({side}) * {}, {})", scroll[0], scroll[1])).await;
        // A tab that stores nothing of its own has no other reason to be visited by a resume.
        if seed.bytes().map(u64::from).sum::<u64>() % 3 > 0 {
            tab.evaluate(&format!("fillSession(diceOf('{seed}'))")).await;
        }
        self.remember(&tab).await;
    }

    /// Goes to every entry again, and says what is not as it was.
    pub(super) async fn go_again(&self, window: &Window) -> Vec<String> {
        let tab = window.tab(self.number).await;
        let (mut wanted, mut found) = (self.session.clone(), Picture::default());
        for (at, here) in &self.entries {
            let (_, entries) = tab.history().await.unwrap();
            let id = &entries[usize::try_from(*at).unwrap()]["id"];
            tab.call("Page.navigateToHistoryEntry", json!({ "entryId": id })).await;
            tab.arrive(*at).await;
            tab.scroll_settles(here["scroll"].as_str().unwrap()).await;
            wanted.note(format!("entry {at}"), here);
            found.note(format!("entry {at}"), &tab.evaluate("here()").await);
            found.note_all("", &tab.evaluate("lookAtSession()").await);
        }
        let differences = wanted.differences(&found);
        differences
            .into_iter()
            .map(|line| format!("tab {}, gone again: {line}", self.number))
            .collect()
    }

    /// Notes what there is at the entry where the tab is.
    async fn remember(&mut self, tab: &Tab) {
        let (current, entries) = tab.history().await.unwrap();
        self.entries.insert(current, tab.evaluate("here()").await);
        self.entries.retain(|at, _| *at < entries.len() as u64);
        self.session.note_all("", &tab.evaluate("lookAtSession()").await);
    }
}

/// Leaves for another page: this one again, or in the whole tab what a frame shows.
async fn leave(tab: &Tab, seed: &str, frame: &str) {
    tab.evaluate(&format!("leaveFor({frame}, '{seed}')")).await;
    tab.wait_for(&format!("asked.get('at') === '{seed}'")).await;
    tab.settle().await;
}

/// Goes back, if there is anything behind.
async fn back(tab: &Tab) {
    let (current, _) = tab.history().await.unwrap();
    if current > 0 {
        tab.evaluate("void setTimeout(() => history.back())").await;
        tab.arrive(current - 1).await;
    }
}
