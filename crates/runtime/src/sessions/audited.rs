//! The verbs as doors call them: done, and noted in the audit log.
//!
//! The files of the verbs are private to this folder, so no door can pass the log by.

use super::files::OpenedFile;
use crate::audit::{Action, Note};
use crate::error::RuntimeError;
use crate::here::Runtime;
use crate::life::Wish;
use crate::request::{Caller, Reference};
use baton_api::{
    AttachSession, ExportSession, ExportView, ImportSession, ImportView, KeepContext, OpenSession,
    PassSession, ResumeResult, ResumeSession, RollBack, SessionFile, SessionView, SnapshotView,
    StateView, SwitchDebug,
};
use baton_browser::cdp::Transport;
use baton_browser::keeper::{HostRule, ProxyUrl};
use baton_session::certificate::MAX_CERTIFICATES;
use baton_session::egress::{Egress, MAX_HOSTS, SYSTEM};
use baton_session::receipt::{ItemKind, ReceiptItem};
use baton_session::{AgentName, Certificate, Environment, Receipt, SessionName};
use bytes::Bytes;
use futures_util::Stream;
use secrecy::SecretString;
use std::fmt::Display;

/// Opens a session: see `lifecycle.rs`.
pub async fn open(
    context: &Runtime,
    caller: &Caller,
    request: OpenSession,
) -> Result<SessionView, RuntimeError> {
    let begins = Begins {
        action: Action::Open,
        name: request.name.clone(),
        reveal: request.reveal,
        allowed: allowed(&request.environment),
    };
    let opened = super::lifecycle::open(context, caller, request).await;
    begins.end(context, caller, opened).await
}

/// Attaches to a browser: see `lifecycle.rs`.
pub async fn attach(
    context: &Runtime,
    caller: &Caller,
    request: AttachSession,
) -> Result<SessionView, RuntimeError> {
    let (action, name) = (Action::Attach, request.name.clone());
    let begins = Begins { action, name, reveal: false, allowed: Vec::new() };
    let attached = super::lifecycle::attach(context, caller, request).await;
    begins.end(context, caller, attached).await
}

/// Resumes a session: see `lifecycle.rs`.
pub async fn resume(
    context: &Runtime,
    caller: &Caller,
    reference: &str,
    request: ResumeSession,
) -> Result<ResumeResult, RuntimeError> {
    let wish = Wish::of(context, caller, Action::Resume, reference).await?;
    let resumed = Box::pin(super::lifecycle::resume(&wish, request)).await;
    end_started(wish, resumed).await
}

/// Takes a session back to a snapshot: see `lifecycle.rs`.
pub async fn rollback(
    context: &Runtime,
    caller: &Caller,
    reference: &str,
    request: RollBack,
) -> Result<ResumeResult, RuntimeError> {
    let to: String = request.to.chars().take(36).collect();
    let wish = Wish::of(context, caller, Action::Rollback, reference).await?.with("to", to);
    let rolled = Box::pin(super::lifecycle::rollback(&wish, &request)).await;
    end_started(wish, rolled).await
}

/// Notes how it ended, and what did not come back.
async fn end_started(
    wish: Wish<'_>,
    started: Result<ResumeResult, RuntimeError>,
) -> Result<ResumeResult, RuntimeError> {
    let receipt = started.as_ref().ok().and_then(|started| started.session.receipt.as_ref());
    let wish = match receipt {
        Some(receipt) => wish.with_losses(receipt),
        None => wish,
    };
    wish.end(started).await
}

/// Takes a snapshot now: see `lifecycle.rs`.
pub async fn capture(
    context: &Runtime,
    caller: &Caller,
    reference: impl Into<Reference<'_>>,
) -> Result<SnapshotView, RuntimeError> {
    let wish = Wish::of(context, caller, Action::Capture, reference).await?;
    let captured = Box::pin(super::lifecycle::capture(&wish)).await;
    wish.end(captured).await
}

/// Closes a session: see `lifecycle.rs`.
pub async fn close(
    context: &Runtime,
    caller: &Caller,
    reference: &str,
) -> Result<SessionView, RuntimeError> {
    let wish = Wish::of(context, caller, Action::Close, reference).await?;
    let closed = Box::pin(super::lifecycle::close(&wish)).await;
    wish.end(closed).await
}

/// Abandons a session: see `lifecycle.rs`.
pub async fn abandon(
    context: &Runtime,
    caller: &Caller,
    reference: impl Into<Reference<'_>>,
) -> Result<SessionView, RuntimeError> {
    let wish = Wish::of(context, caller, Action::Abandon, reference).await?;
    let abandoned = Box::pin(super::lifecycle::abandon(&wish)).await;
    wish.end(abandoned).await
}

/// Deletes a session: see `lifecycle.rs`.
pub async fn delete(
    context: &Runtime,
    caller: &Caller,
    reference: &str,
) -> Result<(), RuntimeError> {
    let wish = Wish::of(context, caller, Action::Delete, reference).await?;
    let deleted = Box::pin(super::lifecycle::delete(&wish)).await;
    wish.end(deleted).await
}

/// Passes a session to another agent: see `lifecycle.rs`.
pub async fn pass(
    context: &Runtime,
    caller: &Caller,
    reference: &str,
    request: &PassSession,
) -> Result<SessionView, RuntimeError> {
    let to = request.to.as_ref().map_or("nobody", AgentName::as_str);
    let mut wish = Wish::of(context, caller, Action::Pass, reference).await?.with("to", to);
    if let Some(agent) = &caller.agent {
        wish = wish.with("by", agent.to_string());
    }
    if let Some(reason) = &request.reason {
        wish = wish.with("reason", cut(reason));
    }
    let passed = Box::pin(super::lifecycle::pass(&wish, request)).await;
    wish.end(passed).await
}

/// Passes a session to a person, until they give it back: see `lifecycle.rs`.
pub(super) async fn begin_turn(
    context: &Runtime,
    caller: &Caller,
    reference: &str,
    person: &AgentName,
    reason: &str,
) -> Result<Option<AgentName>, RuntimeError> {
    let wish = Wish::of(context, caller, Action::Pass, reference).await?;
    let wish = wish.with("to", person.as_str()).with("by", person.as_str());
    let wish = wish.with("reason", cut(reason));
    let begun = Box::pin(super::lifecycle::begin_turn(&wish, person, reason)).await;
    wish.end(begun).await
}

/// Switches on or off whether what the tabs of a session do is recorded: see `lifecycle.rs`.
pub async fn debug(
    context: &Runtime,
    caller: &Caller,
    reference: &str,
    switch: SwitchDebug,
) -> Result<SessionView, RuntimeError> {
    let wish = Wish::of(context, caller, Action::Debug, reference).await?;
    let wish = wish.with("on", switch.on.to_string());
    let wish = if switch.reveal { wish.with("reveal", "true") } else { wish };
    let switched = Box::pin(super::lifecycle::debug(&wish, switch)).await;
    wish.end(switched).await
}

/// Connects to a session's browser, with a ticket or without: see `lifecycle.rs`.
pub async fn connect(
    context: &Runtime,
    caller: &Caller,
    reference: &str,
    ticket: Option<&SecretString>,
) -> Result<Transport, RuntimeError> {
    let wish = Wish::of(context, caller, Action::Connect, reference).await?;
    let connected = crate::sessions::lifecycle::connect(&wish, ticket).await;
    wish.end(connected).await
}

/// Opens a file of a session: see `files.rs`.
pub async fn get_file(
    context: &Runtime,
    caller: &Caller,
    reference: &str,
    name: &str,
) -> Result<OpenedFile, RuntimeError> {
    let wish = Wish::of(context, caller, Action::GetFile, reference).await?;
    let wish = wish.with("file", cut(name));
    let opened = super::files::get(&wish, name).await;
    wish.end(opened).await
}

/// Puts a file among those of a session: see `files.rs`.
pub async fn put_file<E: Display>(
    context: &Runtime,
    caller: &Caller,
    reference: &str,
    name: &str,
    bytes: impl Stream<Item = Result<Bytes, E>>,
) -> Result<SessionFile, RuntimeError> {
    let wish = Wish::of(context, caller, Action::PutFile, reference).await?;
    let wish = wish.with("file", cut(name));
    let put = super::files::write_file(&wish, name, bytes).await;
    wish.end(put).await
}

/// Removes a file of a session: see `files.rs`.
pub async fn remove_file(
    context: &Runtime,
    caller: &Caller,
    reference: &str,
    name: &str,
) -> Result<(), RuntimeError> {
    let wish = Wish::of(context, caller, Action::RemoveFile, reference).await?;
    let wish = wish.with("file", cut(name));
    let removed = super::files::remove(&wish, name).await;
    wish.end(removed).await
}

/// A text of a caller, no longer than the log takes it.
fn cut(text: &str) -> String {
    text.chars().take(200).collect()
}

/// Shows a session's state: see `snapshots.rs`. Secret values are shown only to a key with the
/// scope `reveal`, and only once that is in the log.
pub async fn state(
    context: &Runtime,
    caller: &Caller,
    reference: &str,
    reveal: bool,
) -> Result<StateView, RuntimeError> {
    if !reveal {
        let session = context.find(&caller.owner, reference).await?;
        return super::show::state(context, &session, false).await;
    }
    let wish = Wish::to_reveal(context, caller, Action::Reveal, reference).await?;
    let shown = super::show::state(context, &wish.session, true).await;
    wish.end(shown).await
}

/// Shows one session in full: see `show.rs`. What may be secret in the addresses of its tabs is shown only
/// to a key with the scope `reveal`, and only once that is in the log.
pub async fn show_to(
    context: &Runtime,
    caller: &Caller,
    reference: &str,
    reveal: bool,
) -> Result<SessionView, RuntimeError> {
    if !reveal {
        return super::show::show(context, &caller.owner, reference).await;
    }
    let wish = Wish::to_reveal(context, caller, Action::Reveal, reference).await?;
    let shown = super::show::show_revealed(context, wish.session.clone()).await;
    wish.end(shown).await
}

/// Gives a session out as a file: see `transfer.rs`. It is given only to a key with the scope
/// `reveal`, and only once that is in the log.
pub async fn export(
    context: &Runtime,
    caller: &Caller,
    reference: impl Into<Reference<'_>>,
    query: ExportSession,
) -> Result<ExportView, RuntimeError> {
    let wish = Wish::to_reveal(context, caller, Action::Export, reference).await?;
    let wish = wish.with("format", query.format.as_str());
    let exported = Box::pin(super::transfer::export(context, wish.session.clone(), query)).await;
    let wish = match &exported {
        Ok(view) => wish.with_losses(&damage(&view.receipt)),
        Err(_) => wish,
    };
    wish.end(exported).await
}

/// What is damaged: what a form of file has no word for is nothing that was lost.
fn damage(receipt: &Receipt) -> Receipt {
    let is_it = |item: &&ReceiptItem| item.kind == ItemKind::Part;
    receipt.losses().filter(is_it).cloned().collect()
}

/// Makes a session of a file: see `transfer.rs`.
pub async fn import(
    context: &Runtime,
    caller: &Caller,
    request: ImportSession,
) -> Result<ImportView, RuntimeError> {
    let wanted = request.name.clone();
    let imported = super::transfer::import(context, &caller.owner, request).await;
    let made = imported.as_ref().ok().map(|view| &view.session.session);
    let name = made.map(|made| made.name.clone()).or(wanted).map(String::from);
    let name = name.unwrap_or_else(|| "a file without a name".to_owned());
    let subject = made.map_or_else(|| name.clone(), |made| made.id.to_string());
    let note = Note::new(&caller.actor, &caller.owner, Action::Import, subject);
    note.with("name", name).end(&context.store, imported).await
}

/// Makes a session of what a context holds: see `transfer.rs`.
pub async fn keep_context(
    context: &Runtime,
    caller: &Caller,
    reference: &str,
    request: KeepContext,
) -> Result<ImportView, RuntimeError> {
    let wish = Wish::of(context, caller, Action::KeepContext, reference).await?;
    let wish = wish.with("as", request.name.to_string());
    let kept = Box::pin(super::transfer::keep(&wish, request)).await;
    wish.end(kept).await
}

/// A session that is to be made.
struct Begins {
    action: Action,
    name: SessionName,
    /// Whether the secrets of its tabs are kept.
    reveal: bool,
    /// Whom its browser trusts and where it may go, by the names that the log has for that.
    allowed: Vec<(&'static str, Vec<String>)>,
}

impl Begins {
    /// Notes it; when it was not made, its name is the subject.
    async fn end(
        self,
        context: &Runtime,
        caller: &Caller,
        begun: Result<SessionView, RuntimeError>,
    ) -> Result<SessionView, RuntimeError> {
        let subject = match &begun {
            Ok(view) => view.session.id.to_string(),
            Err(_) => self.name.to_string(),
        };
        let note = Note::new(&caller.actor, &caller.owner, self.action, subject);
        let note = note.with("name", self.name.to_string());
        let note = if self.reveal { note.with("reveal", "true") } else { note };
        let allowed = self.allowed.into_iter().filter(|(_, all)| !all.is_empty());
        let note = allowed.fold(note, |note, (name, all)| note.with(name, all));
        note.end(&context.store, begun).await
    }
}

/// Whom a browser is to trust beside its maker's list, and where it may go; what is no host and no address of
/// a proxy may be a secret, and is not noted.
fn allowed(environment: &Environment) -> Vec<(&'static str, Vec<String>)> {
    let certificates = environment.certificates.iter().take(MAX_CERTIFICATES);
    let Egress { only, proxy, .. } = environment.egress.clone().unwrap_or_default();
    let is_host = |host: &String| host.parse::<HostRule>().is_ok();
    let is_proxy = |proxy: &String| proxy == SYSTEM || proxy.parse::<ProxyUrl>().is_ok();
    vec![
        ("trusts", certificates.map(Certificate::place).collect()),
        ("only", only.into_iter().filter(is_host).take(MAX_HOSTS).collect()),
        ("proxy", proxy.into_iter().filter(is_proxy).collect()),
    ]
}
