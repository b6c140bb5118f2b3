//! Which targets exist, and which of them are hidden from whom.
//!
//! A page of Chromium is two targets: a `tab`, announced first, and its page, announced next. Both
//! must be hidden, so the pairs are kept. A hidden target stays hidden for a while after its end,
//! because the news of its end reaches the keeper before it reaches the clients.

use super::super::protocol::Role;
use super::ClientId;
use super::frame::TargetInfo;
use std::collections::{HashMap, HashSet, VecDeque};

/// How many ended targets are remembered.
const GONE: usize = 1024;

#[derive(Debug, Default)]
pub(super) struct Targets {
    anchor: Option<String>,
    hidden: HashMap<String, ClientId>,
    twins: HashMap<String, String>,
    last_tab: Option<String>,
    pages: HashSet<String>,
    gone: VecDeque<String>,
}

impl Targets {
    /// A target was announced to the keeper itself.
    pub(super) fn created(&mut self, info: &TargetInfo<'_>) {
        let id = info.id.as_ref().to_owned();
        match info.kind.as_ref() {
            "tab" => self.last_tab = Some(id),
            kind => {
                if kind == "page" {
                    self.pages.insert(id.clone());
                }
                if let Some(tab) = self.last_tab.take() {
                    self.twins.insert(tab.clone(), id.clone());
                    self.twins.insert(id, tab);
                }
            }
        }
    }

    /// A target ended; answers whether it was the anchor.
    pub(super) fn destroyed(&mut self, id: &str) -> bool {
        self.pages.remove(id);
        self.gone.push_back(id.to_owned());
        if self.gone.len() > GONE
            && let Some(oldest) = self.gone.pop_front()
        {
            self.hidden.remove(&oldest);
            self.twins.remove(&oldest);
        }
        let was_anchor = self.anchor.as_deref() == Some(id);
        if was_anchor && let Some(anchor) = self.anchor.take() {
            // No client has this number, and a keeper's page is hidden from the node as well.
            self.hidden.insert(anchor, ClientId::MAX);
        }
        was_anchor
    }

    /// `id` is the anchor from now on.
    pub(super) fn set_anchor(&mut self, id: &str) {
        self.anchor = Some(id.to_owned());
    }

    /// `id` is hidden from everyone but `client`'s role.
    pub(super) fn hide(&mut self, id: &str, client: ClientId) {
        self.hidden.insert(id.to_owned(), client);
    }

    /// The hidden targets that `client` made and that live.
    pub(super) fn hidden_by(&self, client: ClientId) -> Vec<String> {
        let made = self.hidden.iter().filter(|(_, by)| **by == client).map(|(id, _)| id);
        made.filter(|id| !self.gone.contains(id)).cloned().collect()
    }

    /// Whether a client of this role may know of the target.
    pub(super) fn visible(&self, role: Role, id: &str) -> bool {
        let twin = self.twins.get(id).map(String::as_str);
        [Some(id), twin].into_iter().flatten().all(|id| self.shows(role, id))
    }

    fn shows(&self, role: Role, id: &str) -> bool {
        if self.anchor.as_deref() == Some(id) {
            return false;
        }
        match self.hidden.get(id) {
            None => true,
            Some(by) => role == Role::Node && *by != ClientId::MAX,
        }
    }

    /// Whether a page exists that people and agents see.
    pub(super) fn any_visible_page(&self) -> bool {
        self.pages.iter().any(|id| self.visible(Role::Client, id))
    }
}
