//! The audit log: who did what, and how it ended. All entries are written here, but for those of local keys
//! that the database revokes by itself.
//!
//! The one idea: *noted before it is acknowledged*. What was done and cannot be noted is an error to
//! its caller, and a secret that cannot be noted is not handed out. What failed stays the error
//! that it is, noted or not.

use crate::error::RuntimeError;
use crate::here::Runtime;
use crate::request::{self, Actor, Caller, PageBound};
use baton_api::{Answers, AuditList, AuditView, ErrorCode, ListAudit, Scope};
use baton_session::receipt::ItemKind;
use baton_session::{AuditOutcome, Owner, Receipt};
use baton_store::{AuditEntry, Store, StoreError, clock};
use serde_json::{Map, Value};
use std::cell::{Cell, OnceCell};

/// The longest subject, in characters: it may be what a caller typed.
const SUBJECT_LIMIT: usize = 200;

/// What is audited. An action that only reads is not, unless it shows secrets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// A request that its key does not allow, or that something is wrong with.
    Request,
    /// A session was opened.
    Open,
    /// A session was made of a browser that Baton did not start.
    Attach,
    /// A session was brought back.
    Resume,
    /// A session was taken back to one of its snapshots.
    Rollback,
    /// A session was captured, because a client asked for it.
    Capture,
    /// A session was closed.
    Close,
    /// A session was closed without a last snapshot.
    Abandon,
    /// A session was removed.
    Delete,
    /// A session was captured and ended here, to run on another node of the cluster.
    Move,
    /// A tool connected to a session's browser.
    Connect,
    /// A person began to watch a session's browser.
    Watch,
    /// A person no longer watches it.
    EndWatch,
    /// A file of a session was read.
    GetFile,
    /// A file was put among those of a session.
    PutFile,
    /// A file of a session was removed.
    RemoveFile,
    /// A session was passed from one agent to another.
    Pass,
    /// A person was asked to do something in a session.
    Ask,
    /// They opened what they were asked to.
    OpenAsk,
    /// What a person was asked to do ended.
    EndAsk,
    /// Somebody whom the settings name was not told of an ask.
    TellPerson,
    /// What the tabs of a session do began to be recorded, or is no longer.
    Debug,
    /// The secrets of a session were shown.
    Reveal,
    /// The secrets of a tab were shown.
    RevealTab,
    /// Secrets of a tab began to be kept, as the person at its browser wants it, or are no longer.
    KeepTab,
    /// A session was given out as a file.
    Export,
    /// A session was made of a file.
    Import,
    /// A session was made of a context in the browser of another one.
    KeepContext,
    /// A key was made.
    CreateKey,
    /// A key was revoked.
    RevokeKey,
    /// A person signed in to the node's page, with a key or with a code that stands for one.
    SignIn,
    /// A person signed out of it.
    SignOut,
    /// A service came behind the proxy, or something else is said of it.
    PutUpstream,
    /// A service left it.
    RemoveUpstream,
    /// A sandbox was made.
    CreateSandbox,
    /// A command was run in a sandbox.
    ExecSandbox,
    /// A person began to watch the display of a sandbox through the node.
    WatchSandbox,
    /// A session was handed in to a sandbox, which has it until that ends.
    CheckOut,
    /// A sandbox was ended.
    DeleteSandbox,
    /// A session became a revision.
    Save,
    /// A session was pulled from a peer.
    Pull,
    /// A session was pushed to a peer.
    Push,
    /// What logs in goes from a session to a peer: noted before anything of it is given.
    Give,
    /// A session came from a peer, or from a client as a file.
    Receive,
    /// A session that ran here was given to another node.
    HandOver,
    /// A session was taken from a node that does not answer.
    TakeOver,
    /// A person decides what a site may.
    Permit,
    /// A person chose between revisions.
    ResolveConflict,
    /// A peer was registered.
    RegisterPeer,
    /// A person invited another node.
    InvitePeer,
    /// An invitation was taken back.
    CancelInvitation,
    /// A node joined by an invitation of this one.
    RedeemInvitation,
    /// This node joined another one by an invitation of that.
    JoinPeer,
    /// This node listens for peers from now on, or no more.
    ListenForPeers,
    /// A person compared the fingerprint of a peer.
    ConfirmPeer,
    /// A person set how much a peer is given, and how much is taken from it.
    LimitPeer,
    /// A peer was forgotten.
    RemovePeer,
    /// A webhook was switched off for what moves.
    TellWebhook,
    /// What a node of a cluster runs began to be brought to other nodes.
    DrainNode,
    /// It takes new sessions again.
    EndDrain,
    /// A node of a cluster that is gone for good was forgotten.
    ForgetNode,
    /// A node asked with a token that opens nothing.
    RefuseToken,
    /// A node asked with a key of ours, or a token of a client, for the first time, or with that of another
    /// one.
    AdmitPeer,
}

impl Action {
    /// The word in the log.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Open => "session.open",
            Self::Attach => "session.attach",
            Self::Resume => "session.resume",
            Self::Debug => "session.debug",
            Self::Rollback => "session.rollback",
            Self::Capture => "session.capture",
            Self::Close => "session.close",
            Self::Abandon => "session.abandon",
            Self::Delete => "session.delete",
            Self::Move => "session.move",
            Self::Connect => "session.connect",
            Self::Watch => "session.watch",
            Self::EndWatch => "session.watch_end",
            Self::GetFile => "file.get",
            Self::PutFile => "file.put",
            Self::RemoveFile => "file.remove",
            Self::Pass => "session.pass",
            Self::Ask => "session.ask",
            Self::OpenAsk => "session.ask_open",
            Self::EndAsk => "session.ask_end",
            Self::TellPerson => "session.ask_tell",
            Self::Reveal => "session.reveal",
            Self::RevealTab => "debug.reveal",
            Self::KeepTab => "debug.keep_secrets",
            Self::Export => "session.export",
            Self::Import => "session.import",
            Self::KeepContext => "session.keep_context",
            Self::CreateKey => "key.create",
            Self::RevokeKey => AuditEntry::REVOKE_KEY,
            Self::SignIn => "page.sign_in",
            Self::SignOut => "page.sign_out",
            Self::PutUpstream => "cocoon.put",
            Self::RemoveUpstream => "cocoon.remove",
            Self::CreateSandbox => "sandbox.create",
            Self::WatchSandbox => "sandbox.watch",
            Self::ExecSandbox => "sandbox.exec",
            Self::CheckOut => "session.lend",
            Self::DeleteSandbox => "sandbox.delete",
            Self::Save => "session.save",
            Self::Pull => "session.pull",
            Self::Push => "session.push",
            Self::Give => "session.give",
            Self::Receive => "session.receive",
            Self::HandOver => "session.hand_over",
            Self::TakeOver => "session.take_over",
            Self::Permit => "session.permit",
            Self::ResolveConflict => "session.resolve",
            Self::RegisterPeer => "peer.register",
            Self::InvitePeer => "peer.invite",
            Self::CancelInvitation => "peer.cancel_invitation",
            Self::RedeemInvitation => "peer.redeem_invitation",
            Self::JoinPeer => "peer.join",
            Self::ListenForPeers => "peer.listen",
            Self::ConfirmPeer => "peer.confirm",
            Self::LimitPeer => "peer.limit",
            Self::RemovePeer => "peer.remove",
            Self::DrainNode => "node.drain",
            Self::EndDrain => "node.drain_end",
            Self::ForgetNode => "node.forget",
            Self::TellWebhook => "webhook.tell",
            Self::RefuseToken => "peer.refuse",
            Self::AdmitPeer => "peer.admit",
        }
    }
}

/// An entry to be: everything but how it ends.
#[derive(Debug)]
pub struct Note {
    actor: Actor,
    owner: Owner,
    action: Action,
    subject: String,
    detail: Map<String, Value>,
}

impl Note {
    /// `actor` does something to `subject`, which belongs to `owner`.
    pub fn new(actor: &Actor, owner: &Owner, action: Action, subject: impl Into<String>) -> Self {
        let (actor, owner, subject) = (actor.clone(), owner.clone(), subject.into());
        Self { actor, owner, action, subject, detail: Map::new() }
    }

    /// With one thing more to know; never a secret.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.detail.insert(name.to_owned(), value.into());
        self
    }

    /// With what was lost, and which damaged snapshot was passed by, if that was so.
    #[must_use]
    pub fn with_losses(self, receipt: &Receipt) -> Self {
        let lost = receipt.losses().count();
        let mut damaged = receipt.losses().filter(|item| item.kind == ItemKind::Part);
        let passed_by = damaged.find_map(|item| item.place.strip_prefix("snapshot "));
        let this = if lost > 0 { self.with("lost", lost) } else { self };
        match passed_by {
            Some(snapshot) => this.with("insteadOf", snapshot),
            None => this,
        }
    }

    /// Names the subject, which may be known only afterwards.
    #[must_use]
    pub fn about(self, subject: impl Into<String>) -> Self {
        Self { subject: subject.into(), ..self }
    }

    /// Notes how it ended, and gives that back. Fails with `NotNoted` when it was done and the log
    /// does not take it.
    pub async fn end<T, E: Answers + From<RuntimeError>>(
        self,
        store: &Store,
        ended: Result<T, E>,
    ) -> Result<T, E> {
        let action = self.action.as_str();
        match ended {
            Ok(done) => match self.append(store, AuditOutcome::Done).await {
                Ok(()) => Ok(done),
                Err(source) => Err(RuntimeError::NotNoted { action, source }.into()),
            },
            Err(error) => Err(self.failed(store, error).await),
        }
    }

    /// Notes an error, and gives it back.
    pub async fn failed<E: Answers>(self, store: &Store, error: E) -> E {
        self.refused(store, error.code()).await;
        error
    }

    /// Notes that it was refused with this code.
    pub async fn refused(self, store: &Store, code: ErrorCode) {
        let action = self.action.as_str();
        let denied = code == ErrorCode::Forbidden;
        let outcome = if denied { AuditOutcome::Denied } else { AuditOutcome::Failed };
        let note = self.with("code", code.as_str());
        if let Err(unnoted) = note.append(store, outcome).await {
            tracing::error!(action, error = %unnoted, "a failure is not in the audit log");
        }
    }

    /// Notes what was done; it is on disk when this returns.
    pub async fn done(self, store: &Store) -> Result<(), StoreError> {
        self.append(store, AuditOutcome::Done).await
    }

    async fn append(self, store: &Store, outcome: AuditOutcome) -> Result<(), StoreError> {
        if outcome != AuditOutcome::Done {
            is_noted();
        }
        let at = clock::now();
        let entry = AuditEntry {
            id: AuditEntry::next_id(at),
            at,
            owner: self.owner,
            actor: self.actor.to_string(),
            action: self.action.as_str().to_owned(),
            subject: tidy(&self.subject),
            outcome,
            detail: Value::Object(self.detail).to_string(),
        };
        store.append_audit(&entry).await
    }
}

/// What a caller typed, made harmless and short.
fn tidy(subject: &str) -> String {
    subject.chars().filter(|letter| !letter.is_control()).take(SUBJECT_LIMIT).collect()
}

tokio::task_local! {
    static ASKED: AuditedRequest;
}

/// An operation notes what it does, with all that it knows. But a request may be refused before any operation
/// begins, by what reads it; so the server can ask in the end whether a request failed and no entry says so.
#[derive(Default)]
pub struct AuditedRequest {
    who: OnceCell<(Actor, Owner)>,
    noted: Cell<bool>,
}

/// Answers a request. Returns the caller as well, unless that is not known, or an entry says that it failed.
pub async fn watch<T>(answer: impl Future<Output = T>) -> (T, Option<(Actor, Owner)>) {
    let watched = async {
        let answered = answer.await;
        let unnoted = ASKED.with(|asked| asked.who.get().filter(|_| !asked.noted.get()).cloned());
        (answered, unnoted)
    };
    ASKED.scope(AuditedRequest::default(), watched).await
}

/// Says who asks.
pub fn is_asked_by(caller: &Caller) {
    let who = || (caller.actor.clone(), caller.owner.clone());
    // Requests that are not watched need not say it.
    let _ = ASKED.try_with(|asked| asked.who.get_or_init(who).clone());
}

/// Says that it is noted that it failed.
fn is_noted() {
    let _ = ASKED.try_with(|asked| asked.noted.set(true));
}

/// One page of entries, newest first: the caller's own, or with the scope `admin` those of every
/// owner. Of an owner whom the caller may not see there are none.
pub async fn list(
    context: &Runtime,
    caller: &Caller,
    query: ListAudit,
) -> Result<AuditList, RuntimeError> {
    let limit = PageBound::USUAL.size(query.limit)?;
    let owner = match query.owner {
        named if caller.scopes.contains(&Scope::Admin) => named,
        Some(foreign) if foreign != caller.owner => {
            return Ok(AuditList { items: Vec::new(), next: None });
        }
        _ => Some(caller.owner.clone()),
    };
    // One more than asked for tells whether there is another page.
    let found = context.store.list_audit(owner.as_ref(), query.after, limit + 1).await?;
    let (found, next) = request::cut(found, limit, |entry| entry.id);
    Ok(AuditList { items: found.into_iter().map(view).collect(), next })
}

fn view(entry: AuditEntry) -> AuditView {
    AuditView {
        id: entry.id,
        at: entry.at,
        owner: entry.owner,
        actor: entry.actor,
        action: entry.action,
        subject: entry.subject,
        outcome: entry.outcome,
        // Only JSON is ever appended; what is not is shown as the text that it is.
        detail: serde_json::from_str(&entry.detail).unwrap_or(Value::String(entry.detail)),
    }
}

#[cfg(test)]
mod tests {
    use super::tidy;

    #[test]
    fn what_was_typed_is_short_and_harmless() {
        assert_eq!(tidy("a\0b\nc\u{1b}[31m"), "abc[31m");
        assert_eq!(tidy(&"x".repeat(1000)).len(), 200);
    }
}
