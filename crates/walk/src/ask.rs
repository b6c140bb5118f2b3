//! Asks a node: for a verb, and how that ended; and what it holds of a session, and how that stands, as is
//! seen before a verb and after.

use crate::stage::Stage;
use crate::step::Verb;
use anyhow::{Result, ensure};
use baton_api::sandbox::{BrowserSession, CreateSandbox};
use baton_api::sync::{HandedView, Handing, SaveSession};
use baton_api::{Client, ClientError, ErrorCode, OpenSession, PassSession};
use baton_session::{
    AgentName, Lifecycle, NodeId, Owner, Part, PartRef, SessionId, SessionName, State, parts,
};
use baton_store::{Snapshot, Store, StoreError};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// How long an answer may take, whatever stands still: a node's longest wait for a peer, and some more.
const ANSWER_LIMIT: Duration = Duration::from_secs(140);
/// A snapshot that there never was.
const NOWHERE: &str = "00000000-0000-7000-8000-000000000000";

/// The session, as verbs get it.
#[derive(Debug, Clone)]
pub(crate) struct Subject {
    pub(crate) id: SessionId,
    pub(crate) name: SessionName,
    /// The other session of this name.
    pub(crate) rival: Option<SessionId>,
    /// The sandbox that has it.
    pub(crate) sandbox: Option<String>,
}

/// A verb that is asked for.
#[derive(Debug, Clone)]
pub(crate) struct VerbCall {
    pub(crate) client: Client,
    pub(crate) at: usize,
    pub(crate) verb: Verb,
    pub(crate) agent: Option<AgentName>,
    /// To which snapshot it goes back.
    pub(crate) snapshot: Option<String>,
}

/// How it ended.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) ended: Ended,
    pub(crate) returned: Instant,
    pub(crate) took: Duration,
}

#[derive(Debug)]
pub(crate) enum Ended {
    /// Done; with who handed it over, and what was made.
    Done { handed: Option<HandedView>, made: Option<String> },
    /// Refused, with the code and the words.
    Refused(ErrorCode, String),
    /// The node left before it answered.
    Unknown(String),
    /// It did not answer in time.
    Hangs,
}

impl Ended {
    pub(crate) fn is_done(&self) -> bool {
        matches!(self, Self::Done { .. })
    }

    pub(crate) fn was_handed(&self) -> bool {
        let Self::Done { handed: Some(handed), .. } = self else { return false };
        handed.how == Handing::HandedOver
    }

    pub(crate) fn was_taken(&self) -> bool {
        let Self::Done { handed: Some(handed), .. } = self else { return false };
        handed.how == Handing::TakenOver
    }
}

/// The agents that there are; 0 is none.
pub(crate) fn agent(number: u8) -> Option<AgentName> {
    let name = ["", "kimi", "codex"].get(usize::from(number)).copied().unwrap_or_default();
    name.parse().ok()
}

impl VerbCall {
    pub(crate) async fn ask(&self, subject: &Subject) -> Asked {
        let begun = Instant::now();
        let ended = match timeout(ANSWER_LIMIT, self.call(subject)).await {
            Ok(Ok((handed, made))) => Ended::Done { handed, made },
            Ok(Err(ClientError::Problem(problem))) => {
                Ended::Refused(problem.code, problem.detail.clone())
            }
            Ok(Err(ClientError::TimedOut { .. })) | Err(_) => Ended::Hangs,
            Ok(Err(error)) => Ended::Unknown(error.to_string()),
        };
        Asked { ended, returned: Instant::now(), took: begun.elapsed() }
    }

    async fn call(
        &self,
        subject: &Subject,
    ) -> Result<(Option<HandedView>, Option<String>), ClientError> {
        let client = self.client.clone().as_agent(self.agent.clone());
        let session = subject.id.to_string();
        match self.verb {
            Verb::Capture => client.capture_session(&session).await.map(|_| (None, None)),
            Verb::Save { to_peers } => {
                let request = SaveSession { sync_to_peers: to_peers, ..SaveSession::default() };
                client.save_session(&session, &request).await.map(|_| (None, None))
            }
            Verb::Resume => client.resume_session(&session).await.map(|done| (done.handed, None)),
            Verb::Rollback { .. } => {
                let to = self.snapshot.clone().unwrap_or_else(|| NOWHERE.to_owned());
                let rolled = client.roll_back_session(&session, &to).await;
                rolled.map(|done| (done.handed, None))
            }
            Verb::Close => client.close_session(&session).await.map(|_| (None, None)),
            Verb::Pass { to } => {
                let request = PassSession { to: agent(to), reason: Some("a walk".to_owned()) };
                client.pass_session(&session, &request).await.map(|_| (None, None))
            }
            Verb::Pull => {
                let peer = format!("node{}", 1 - self.at);
                client.pull_session(&peer, &session).await.map(|_| (None, None))
            }
            Verb::HandIn { has_login } => {
                let domains = if has_login { Vec::new() } else { vec!["nowhere.test".to_owned()] };
                let session = BrowserSession::reference(session);
                let request = CreateSandbox {
                    browser_session: Some(session),
                    domains,
                    ..CreateSandbox::default()
                };
                client.create_sandbox(&request).await.map(|view| (None, Some(view.id.to_string())))
            }
            Verb::End => {
                let id = subject.sandbox.as_deref().unwrap_or(NOWHERE);
                client.delete_sandbox(id).await.map(|_| (None, None))
            }
            Verb::TakeName => {
                let opened = client.open_session(&OpenSession::new(subject.name.clone(), [])).await;
                opened.map(|view| (None, Some(view.session.id.to_string())))
            }
            Verb::FreeName => {
                let Some(rival) = subject.rival else { return Ok((None, None)) };
                client.abandon_session(&rival.to_string()).await.map(|_| (None, None))
            }
        }
    }
}

/// Names of cookies.
pub(crate) type Marks = BTreeSet<String>;

/// Whose sessions are walked.
pub(crate) fn owner() -> Result<Owner> {
    Ok("local".parse()?)
}

/// What a resume at a node would bring back, and all that its revisions hold that nothing covers.
pub(crate) async fn at(stage: &impl Stage, at: usize, session: SessionId) -> Result<Marks> {
    let (store, owner) = (stage.store(at), owner()?);
    let mut held = Marks::new();
    if let Some(snapshot) = store.last_good_snapshot(session).await? {
        held.extend(of(store, snapshot).await?);
    }
    if let Some((_, shared)) = store.fetch_shared(&owner, session).await? {
        for revision in shared.replica.whole().filter(|revision| !revision.deleted) {
            let content = store.fetch_content(&owner, session, revision.id()).await?;
            if let Some(content) = content {
                held.extend(read(store, content.parts).await?);
            }
        }
    }
    Ok(held)
}

/// All snapshots of a session at a node, for the developer who reads of a loss.
pub(crate) async fn tell(stage: &impl Stage, at: usize, session: SessionId) -> Result<String> {
    let mut told = String::new();
    for snapshot in history(stage, at, session).await? {
        let Snapshot { id, reason, sibling, shrunk, taken_at, .. } = &snapshot;
        let _ = write!(
            told,
            "\n  node {at}: {id} {taken_at} {reason:?} sibling {sibling} shrunk {shrunk}"
        );
        let marks = of(stage.store(at), snapshot).await?;
        let _ = write!(told, " {marks:?}");
    }
    Ok(told)
}

/// The snapshots of a session at a node, the newest first.
pub(crate) async fn history(
    stage: &impl Stage,
    at: usize,
    session: SessionId,
) -> Result<Vec<Snapshot>> {
    let found = stage.store(at).list_history(session, None, 50).await?;
    Ok(found.into_iter().collect::<Result<_, StoreError>>()?)
}

/// What a snapshot holds.
pub(crate) async fn of(store: &Store, snapshot: Snapshot) -> Result<Marks> {
    read(store, snapshot.parts).await
}

async fn read(store: &Store, parts: Vec<PartRef>) -> Result<Marks> {
    let wanted: Vec<PartRef> = parts.into_iter().filter(|part| !part.kind.is_picture()).collect();
    let found = store.fetch_parts(&owner()?, &wanted).await?;
    let found: Vec<Part> = found.into_iter().collect::<Result<_, StoreError>>()?;
    let (state, invalid) = parts::join(&found);
    ensure!(invalid.is_empty(), "parts are damaged: {invalid:?}");
    Ok(marks(&state))
}

/// The names of a state's cookies.
pub(crate) fn marks(state: &State) -> Marks {
    state.cookies.iter().map(|cookie| cookie.name.clone()).collect()
}

/// How things stand before a verb.
pub(crate) struct Before {
    pub(crate) marks: [Option<Marks>; 2],
    pub(crate) looks: [Option<Look>; 2],
    /// Whether both nodes run, and nothing stands still.
    pub(crate) is_calm: bool,
    /// Whether nothing changes by itself.
    pub(crate) is_settled: bool,
}

/// How a session stands at a node.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Look {
    pub(crate) browser: Option<u64>,
    pub(crate) state: Option<Lifecycle>,
    pub(crate) agent: Option<AgentName>,
    /// Whether this node holds it, as far as peers go.
    pub(crate) is_held: bool,
    pub(crate) has_conflicts: bool,
    pub(crate) home: Option<NodeId>,
}
