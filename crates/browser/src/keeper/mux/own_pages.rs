//! Pages of the browser's own, which clients are not shown, whoever opened them.
//!
//! The one idea: a page becomes one of them without a call of a client, too, when a person goes there or a script
//! of an extension does. The browser tells the keeper so before it answers anything from the new document, for both
//! come on one pipe. So what clients have on the page ends there, and whatever is answered later reaches nobody.

use super::{ClientId, Mux, TargetDescription, event};
use crate::cdp::quoted;
use crate::keeper::protocol::Role;
use crate::targets::{Shows, shows};

impl TargetDescription<'_> {
    /// Whether it is a page of the browser's own, other than an empty one.
    pub(super) fn is_of_browser(&self) -> bool {
        matches!(shows(&self.url), Shows::OfTheBrowser)
    }
}

impl Mux {
    /// A target is at this address from now on.
    pub(super) fn went(&mut self, info: &TargetDescription<'_>) {
        // Who started the browser themselves may do whatever it does.
        let is_own = info.is_of_browser() && !self.setup.is_theirs;
        if self.targets.went(&info.id, is_own) {
            self.end_for_clients(&info.id);
        }
    }

    /// Ends the sessions of clients on a target.
    fn end_for_clients(&mut self, target: &str) {
        let mut ending: Vec<(String, ClientId, String)> = Vec::new();
        for (session, route) in &self.sessions {
            let client = route.client.filter(|client| {
                let is_it = route.target.as_deref() == Some(target) && !route.hidden;
                is_it && self.clients.get(client).is_some_and(|one| one.role == Role::Client)
            });
            if let Some((client, parent)) = client.zip(route.parent.clone()) {
                ending.push((session.clone(), client, parent));
            }
        }
        for (session, client, parent) in ending {
            // One that was told of on another that ended is gone with it.
            let Some(route) = self.forget(&session) else { continue };
            let Some((_, root)) = self.client(client) else { continue };
            let at = if route.is_relayed { &root } else { &parent };
            if route.waits {
                self.send_own(Some(&session), super::prepare::RUN, "{}");
            }
            self.detach(Some(at), &session);
            let told = Some(parent.as_str()).filter(|parent| *parent != root);
            let (session, target) = (quoted(&session), quoted(target));
            let params = format!("{{\"sessionId\":{session},\"targetId\":{target}}}");
            self.answer(client, event("Target.detachedFromTarget", told, &params));
        }
    }
}
