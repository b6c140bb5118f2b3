//! Asks a node for a verb, and tells how that ended.

use crate::step::Verb;
use baton_api::sandbox::{BrowserSession, CreateSandbox};
use baton_api::sync::{HandedView, Handing, SaveSession};
use baton_api::{Client, ClientError, ErrorCode, OpenSession, PassSession};
use baton_session::{AgentName, SessionId, SessionName};
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// How long an answer may take, whatever stands still: a node's longest wait for a peer, and some more.
const ANSWER_LIMIT: Duration = Duration::from_secs(140);
/// A snapshot that there never was.
const NOWHERE: &str = "00000000-0000-7000-8000-000000000000";

/// The session, as verbs are told of it.
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
pub(crate) struct Asking {
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

/// The agents that there are; 0 is nobody.
pub(crate) fn agent(number: u8) -> Option<AgentName> {
    let name = ["", "kimi", "codex"].get(usize::from(number)).copied().unwrap_or_default();
    name.parse().ok()
}

impl Asking {
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
