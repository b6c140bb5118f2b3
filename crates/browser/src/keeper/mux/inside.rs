//! What is inside of a page, frames in processes of their own and dedicated workers, reaches clients through
//! the keeper.
//!
//! The one idea: whenever any session begins to attach to what is inside of a page, the browser looks at the
//! page's frames anew, and ends every session of a frame that only starts, the keeper's as well (`UpdateFrames`
//! in `content/browser/devtools/frame_auto_attacher.cc`). So where the keeper prepares frames, it alone is
//! attached to them by the browser, from the page's beginning on. What a client wishes it notes, attaches the
//! client to each frame and worker, and tells it of them as the browser would.
//!
//! A target waits for the keeper until every client that wanted to be waited for has let it go.

use super::prepare::RUN;
use super::{Call, ClientId, Mux, Params, Route};
use crate::cdp::{Envelope, quoted};
use crate::keeper::mux;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::{HashMap, HashSet};

/// What the keeper knows of what is inside of pages.
#[derive(Debug, Default)]
pub(super) struct Inside {
    /// What clients wish, by their session.
    wishes: HashMap<String, AttachRequest>,
    /// Frames and workers, by target.
    children: HashMap<String, Child>,
    /// Clients that are being attached to one.
    coming: Vec<Coming>,
    /// Calls that are answered when that is done, by the number of the first.
    answers: HashMap<u64, UnansweredCall>,
    next_answer: u64,
}

/// What a client said of what is inside of a target (`Target.setAutoAttach`).
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct AttachRequest {
    auto_attach: bool,
    wait_for_debugger_on_start: bool,
    filter: Option<Vec<Filtered>>,
}

/// One line of a filter: the first that fits a target decides.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Filtered {
    #[serde(rename = "type")]
    kind: Option<String>,
    exclude: bool,
}

impl AttachRequest {
    fn has(&self, kind: &str) -> bool {
        // Without one, all are wanted but for browsers and tabs, which are in no page.
        let Some(filter) = &self.filter else { return true };
        let fits = |line: &&Filtered| line.kind.as_deref().is_none_or(|wanted| wanted == kind);
        filter.iter().find(fits).is_some_and(|line| !line.exclude)
    }
}

/// A frame in a process of its own, or a worker.
#[derive(Debug)]
struct Child {
    /// The keeper's own session.
    own: String,
    /// As the browser calls it.
    kind: String,
    /// The target that it is inside of.
    parent: String,
    waits: bool,
    /// Those for whom it waits: sessions of clients on it, or on what it is inside of as long as they come.
    holders: HashSet<String>,
}

/// A client that is being attached.
#[derive(Debug)]
struct Coming {
    root: String,
    /// The session on which the client hears of it.
    under: String,
    target: String,
    is_waited_for: bool,
}

/// A call of a client that is not answered yet.
#[derive(Debug)]
struct UnansweredCall {
    client: ClientId,
    id: u64,
    session: String,
    left: usize,
}

impl Mux {
    /// Whether a client's call is about what is inside of a target that the keeper prepares; then it is seen to.
    pub(super) fn is_about_inside(
        &mut self,
        client: ClientId,
        id: u64,
        method: &str,
        session: Option<&str>,
        params: Option<&RawValue>,
    ) -> bool {
        let Some(session) = session else { return false };
        match method {
            "Target.setAutoAttach" if self.is_kept_inside(session) => {
                let wish = serde_json::from_str(mux::text(params)).unwrap_or_default();
                self.wish(client, id, session, wish);
                true
            }
            RUN if self.sessions.get(session).is_some_and(|route| route.is_relayed) => {
                if let Some(route) = self.sessions.get_mut(session) {
                    route.waits = false;
                }
                self.hold_no_more(session);
                self.answer(client, mux::reply(id, Some(session), "result", "{}"));
                true
            }
            _ => false,
        }
    }

    /// Whether what is inside of a session's target comes from the keeper.
    fn is_kept_inside(&self, session: &str) -> bool {
        let target = self.sessions.get(session).and_then(|route| route.target.as_deref());
        target.is_some_and(|target| self.reaches_inside() && self.prepares(target))
    }

    fn wish(&mut self, client: ClientId, id: u64, session: &str, wish: AttachRequest) {
        let inside = self.inside_of(session);
        let (is_wanted, waits) = (wish.auto_attach, wish.wait_for_debugger_on_start);
        let coming = self.inside.coming.iter().filter(|one| one.under == session);
        let kept: HashSet<String> = self
            .relayed_under(session)
            .into_iter()
            .map(|one| one.1)
            .chain(coming.map(|one| one.target.clone()))
            .collect();
        let new = inside.filter(|(target, child)| {
            is_wanted && wish.has(&child.kind) && !kept.contains(*target)
        });
        let new: Vec<(String, bool)> =
            new.map(|(target, child)| (target.clone(), waits && child.waits)).collect();
        if is_wanted {
            self.inside.wishes.insert(session.to_owned(), wish);
        } else {
            self.inside.wishes.remove(session);
            self.end_relayed_under(session, Some(client));
        }
        if new.is_empty() {
            self.answer(client, mux::reply(id, Some(session), "result", "{}"));
            return;
        }
        self.inside.next_answer += 1;
        let number = self.inside.next_answer;
        let answer = UnansweredCall { client, id, session: session.to_owned(), left: new.len() };
        self.inside.answers.insert(number, answer);
        for (target, is_waited_for) in new {
            self.relay(session, &target, is_waited_for, Some(number));
        }
    }

    /// What is inside of a session's target.
    fn inside_of<'a>(
        &'a self,
        session: &str,
    ) -> impl Iterator<Item = (&'a String, &'a Child)> + use<'a> {
        let target = self.sessions.get(session).and_then(|route| route.target.clone());
        let all = self.inside.children.iter();
        all.filter(move |(_, child)| target.as_ref() == Some(&child.parent))
    }

    /// The sessions of a client that it was told of on this one, with their targets.
    fn relayed_under(&self, session: &str) -> Vec<(String, String)> {
        let is_one = |route: &Route| route.is_relayed && route.parent.as_deref() == Some(session);
        let all = self.sessions.iter().filter(|(_, route)| is_one(route));
        all.filter_map(|(id, route)| Some((id.clone(), route.target.clone()?))).collect()
    }

    /// Ends the sessions of a client that it was told of on this one.
    pub(super) fn end_relayed_under(&mut self, session: &str, client: Option<ClientId>) {
        let Some((_, root)) = client.and_then(|client| self.client(client)) else { return };
        for (one, _) in self.relayed_under(session) {
            self.detach(Some(&root), &one);
        }
    }

    /// Whether a call names a session to which the keeper attached its client.
    pub(super) fn is_relayed(&self, params: Option<&RawValue>) -> bool {
        let session = Params::parse(params).session;
        let route = session.and_then(|session| self.sessions.get(session.as_ref()));
        route.is_some_and(|route| route.is_relayed)
    }

    /// Attaches a client to a target that is inside of that of its session.
    fn relay(&mut self, session: &str, target: &str, is_waited_for: bool, answer: Option<u64>) {
        let client = self.sessions.get(session).and_then(|route| route.client);
        let Some((_, root)) = client.and_then(|client| self.client(client)) else { return };
        if is_waited_for && let Some(child) = self.inside.children.get_mut(target) {
            child.holders.insert(session.to_owned());
        }
        let (under, target) = (session.to_owned(), target.to_owned());
        let params = format!("{{\"targetId\":{},\"flatten\":true}}", quoted(&target));
        let call = Call::Relay { under: under.clone(), target: target.clone(), answer };
        self.inside.coming.push(Coming { root: root.clone(), under, target, is_waited_for });
        self.send(Some(&root), "Target.attachToTarget", &params, call);
    }

    /// The keeper is attached to something inside of another target, and has prepared it.
    pub(super) fn came_inside(
        &mut self,
        own: &str,
        target: &str,
        kind: &str,
        parent: &str,
        waits: bool,
    ) {
        let child = Child {
            own: own.to_owned(),
            kind: kind.to_owned(),
            parent: parent.to_owned(),
            waits,
            holders: HashSet::new(),
        };
        self.inside.children.insert(target.to_owned(), child);
        let of_parent = |session: &String| {
            let route = self.sessions.get(session);
            route.is_some_and(|route| route.target.as_deref() == Some(parent))
        };
        let wishes = self.inside.wishes.iter();
        let wishes = wishes.filter(|(session, wish)| wish.has(kind) && of_parent(session));
        let wishes: Vec<(String, bool)> = wishes
            .map(|(session, wish)| (session.clone(), waits && wish.wait_for_debugger_on_start))
            .collect();
        for (session, is_waited_for) in wishes {
            self.relay(&session, target, is_waited_for, None);
        }
        self.let_go_if_free(target);
    }

    /// Lets a target go for which nobody waits any more.
    fn let_go_if_free(&mut self, target: &str) {
        let Some(child) = self.inside.children.get_mut(target) else { return };
        if child.waits && child.holders.is_empty() {
            child.waits = false;
            let own = child.own.clone();
            self.let_run(&own);
        }
    }

    /// A session of a client waits for nothing any more.
    fn hold_no_more(&mut self, session: &str) {
        let all = self.inside.children.iter_mut();
        let freed: Vec<String> = all
            .filter_map(|(target, child)| child.holders.remove(session).then(|| target.clone()))
            .collect();
        for target in freed {
            self.let_go_if_free(&target);
        }
    }

    /// A session ended, the keeper's or a client's.
    pub(super) fn forget_inside(&mut self, session: &str) {
        self.inside.wishes.remove(session);
        self.inside.children.retain(|_, child| child.own != session);
        self.hold_no_more(session);
    }

    /// A client left: what it waited for does not come any more.
    pub(super) fn forget_client_inside(&mut self, client: ClientId, root: Option<&str>) {
        self.inside.coming.retain(|one| root != Some(&one.root));
        self.inside.answers.retain(|_, answer| answer.client != client);
        let sessions = &self.sessions;
        self.calls.retain(|_, call| match call {
            Call::Relay { under, .. } => sessions.contains_key(under),
            _ => true,
        });
    }

    /// Whether an event is about what is inside of a page, and its client was told of it.
    pub(super) fn tells_of_inside(
        &mut self,
        client: ClientId,
        session: &str,
        method: &str,
        envelope: &Envelope<'_>,
    ) -> bool {
        let params = Params::parse(envelope.params);
        let Some(child) = params.session.as_deref() else { return false };
        match method {
            "Target.attachedToTarget" => {
                let is_it = |one: &Coming| {
                    one.root == session && params.target_id() == Some(one.target.as_str())
                };
                let Some(at) = self.inside.coming.iter().position(is_it) else { return false };
                let coming = self.inside.coming.remove(at);
                self.came(client, child, coming, mux::text(envelope.params), &params);
                true
            }
            "Target.detachedFromTarget" => {
                let route = self.sessions.get(child).filter(|route| route.is_relayed);
                let Some(parent) = route.and_then(|route| route.parent.clone()) else {
                    return false;
                };
                self.forget(child);
                let event = mux::event(method, Some(&parent), mux::text(envelope.params));
                self.answer(client, event);
                true
            }
            _ => false,
        }
    }

    /// A client was attached.
    fn came(
        &mut self,
        client: ClientId,
        session: &str,
        coming: Coming,
        text: &str,
        params: &Params<'_>,
    ) {
        let Coming { root, under, target, is_waited_for } = coming;
        if !self.sessions.contains_key(&under) {
            self.detach(Some(&root), session);
            return;
        }
        let child = self.inside.children.get_mut(&target);
        let waits = is_waited_for && child.as_ref().is_some_and(|child| child.waits);
        if let Some(child) = child
            && child.holders.remove(&under)
        {
            child.holders.insert(session.to_owned());
        }
        let route = Route {
            client: Some(client),
            parent: Some(under.clone()),
            hidden: false,
            target: Some(target),
            waits,
            is_relayed: true,
        };
        self.sessions.insert(session.to_owned(), route);
        if let Some(info) = &params.info {
            self.prepare_for_client(session, &info.kind);
        }
        let mut event: Value = serde_json::from_str(text).unwrap_or_default();
        event["waitingForDebugger"] = waits.into();
        self.answer(
            client,
            mux::event("Target.attachedToTarget", Some(&under), &event.to_string()),
        );
    }

    /// The browser answered whether a client was attached.
    pub(super) fn relay_answered(
        &mut self,
        under: &str,
        target: &str,
        answer: Option<u64>,
        envelope: &Envelope<'_>,
    ) {
        if envelope.error.is_some() {
            // It ended before.
            self.inside.coming.retain(|one| one.under != under || one.target != target);
            if let Some(child) = self.inside.children.get_mut(target) {
                child.holders.remove(under);
            }
            self.let_go_if_free(target);
        }
        let Some(number) = answer else { return };
        let Some(waiting) = self.inside.answers.get_mut(&number) else { return };
        waiting.left -= 1;
        if waiting.left == 0
            && let Some(UnansweredCall { client, id, session, .. }) =
                self.inside.answers.remove(&number)
            && self.sessions.contains_key(&session)
        {
            self.answer(client, mux::reply(id, Some(&session), "result", "{}"));
        }
    }
}
