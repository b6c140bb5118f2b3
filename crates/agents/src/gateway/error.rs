//! Why an agent does not answer.

use std::time::Duration;

/// Why an agent does not answer.
#[derive(Debug, thiserror::Error)]
pub enum GatewayRefusal {
    /// There is no such agent.
    #[error(
        "expected a model among {known}, found {found:?}\n[gateway] in the settings names agents"
    )]
    UnknownModel {
        /// What was asked for.
        found: String,
        /// What there is.
        known: String,
    },
    /// The agent's command did not end well.
    #[error("expected agent {name} to end with code 0, found that it {how}{complaint}")]
    Agent {
        /// Which agent.
        name: String,
        /// How it ended.
        how: String,
        /// The end of what it complained about, behind a colon, or nothing.
        complaint: String,
    },
    /// The model of the agent that is built in does not answer as expected.
    #[error("the model of [gateway.upstream] gives no answer: {why}")]
    Upstream {
        /// What was found instead; never a secret.
        why: String,
    },
    /// The agent took too long.
    #[error(
        "expected an answer within {limit:?}, found none\ngateway.limit says how long an agent may take"
    )]
    TooSlow {
        /// How long it may take.
        limit: Duration,
    },
}
