//! What is said between a tool at work and its client: a person is asked, and hears that long work goes on.
//!
//! A person is asked before something that cannot be taken back, or that lets a login leave. Older protocols send
//! the client a request of ours in the middle of the call; 2026-07-28 answers the call with what is to be asked,
//! and the client calls again with the person's answer.

use super::answer::Failure;
use baton_session::printable::Printable;
use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationSchema, InputRequest, InputResponses, ProgressNotificationParam, ProgressToken,
    ProtocolVersion,
};
use rmcp::service::{Peer, RequestContext};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::time::Duration;
use tokio::time::{Instant, MissedTickBehavior, interval};

/// The name of our question among those of an answer.
const QUESTION: &str = "confirm";
/// How long a person may think.
const LIMIT: Duration = Duration::from_secs(90);

/// How a person is asked.
pub(super) enum Confirm {
    /// Not at all: the person who set this client up agreed beforehand.
    Agreed,
    /// No person can be asked.
    Nobody,
    /// By a request to the client, in the middle of the call.
    Request(Peer<RoleServer>),
    /// By an answer that makes the client ask and call again.
    Round(Option<Heard>),
}

/// What a person answered, as the client says when it calls again.
pub(super) struct Heard {
    /// What they were asked about.
    about: Option<String>,
    answers: InputResponses,
}

impl Confirm {
    /// How a person is asked in this call.
    pub(super) fn of(
        is_unattended: bool,
        params: &mut CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Self {
        if is_unattended {
            return Self::Agreed;
        }
        let capabilities = context.client_capabilities().unwrap_or_default();
        // A client that names no mode means forms.
        let asks =
            capabilities.elicitation.is_some_and(|can| can.form.is_some() || can.url.is_none());
        let rounds = context
            .protocol_version()
            .is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str());
        match (asks, rounds) {
            (false, _) => Self::Nobody,
            (true, true) => Self::Round(params.input_responses.take().map(|answers| {
                let about = params.request_state.take();
                Heard { about, answers }
            })),
            (true, false) => Self::Request(context.peer.clone()),
        }
    }

    /// Whether a person can be asked: who agreed beforehand has seen nothing of what is asked now.
    pub(super) fn can_ask(&self) -> bool {
        matches!(self, Self::Request(_) | Self::Round(_))
    }

    /// Returns when a person agrees to `what`, a sentence about `subject`, such as the id of a session;
    /// `command` does the same at a terminal.
    pub(super) async fn ask(
        self,
        subject: impl Display,
        what: String,
        command: String,
    ) -> Result<(), Failure> {
        let about = subject.to_string();
        let answer = match self {
            Self::Agreed => return Ok(()),
            Self::Nobody => return Err(Failure::NobodyToAsk { what, command }),
            Self::Request(peer) => {
                let asked =
                    peer.create_elicitation_with_timeout(question(&what), Some(LIMIT)).await;
                match asked {
                    Ok(answer) => answer,
                    Err(error) => {
                        tracing::info!(%error, "nobody answered whether to go on");
                        return Err(Failure::NobodyToAsk { what, command });
                    }
                }
            }
            Self::Round(heard) => {
                // Who agreed to something about another one has not been asked about this one.
                let heard = heard.filter(|heard| heard.about.as_ref() == Some(&about));
                let Some(mut heard) = heard else {
                    let request = InputRequest::Elicitation(ElicitRequest::new(question(&what)));
                    let requests = BTreeMap::from([(QUESTION.to_owned(), request)]);
                    return Err(Failure::Ask { requests, about });
                };
                let answer = heard.answers.remove(QUESTION).unwrap_or_default();
                serde_json::from_value(answer)
                    .unwrap_or_else(|_| ElicitResult::new(ElicitationAction::Cancel))
            }
        };
        match answer.action {
            ElicitationAction::Accept => Ok(()),
            _ => Err(Failure::Declined { what }),
        }
    }
}

/// A question without fields: agreeing is the answer.
fn question(what: &str) -> ElicitRequestParams {
    ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: Printable::for_model(what).into(),
        requested_schema: ElicitationSchema::new(BTreeMap::new()),
    }
}

/// How often a client hears of it.
const PAUSE: Duration = Duration::from_secs(1);

/// Where the client hears that long work goes on, so that it does not give up; nowhere when it did not ask.
pub(super) struct Progress(Option<(Peer<RoleServer>, ProgressToken)>);

impl Progress {
    /// That of a call.
    pub(super) fn of(context: &RequestContext<RoleServer>) -> Self {
        let token = context.meta.get_progress_token();
        Self(token.map(|token| (context.peer.clone(), token)))
    }

    /// Does `work`, and says at its begin and every second that it goes on.
    pub(super) async fn during<T>(&self, doing: &str, work: impl Future<Output = T>) -> T {
        let Some((peer, token)) = &self.0 else { return work.await };
        let begun = Instant::now();
        let mut ticks = interval(PAUSE);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        tokio::pin!(work);
        loop {
            tokio::select! {
                biased;
                done = &mut work => return done,
                _ = ticks.tick() => {
                    let seconds = begun.elapsed().as_secs_f64().round();
                    let told = ProgressNotificationParam::new(token.clone(), seconds)
                        .with_message(format!("{doing}, {seconds} s"));
                    // A client that has left hears nothing; the work is finished all the same.
                    let _ = peer.notify_progress(told).await;
                }
            }
        }
    }
}
