//! How asking a node can fail.

use crate::code::{ErrorCode, Exit};
use crate::problem::Problem;
use url::Url;

/// A request that was not answered as hoped.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The node refused.
    #[error("{}", .0.detail)]
    Problem(Box<Problem>),
    /// No node could be reached.
    #[error("expected a node at {url}, found none: {}", cause(source))]
    Unreachable {
        /// Where it was looked for.
        url: Url,
        /// What went wrong.
        source: reqwest::Error,
    },
    /// The node took longer than the limit; it may still be at work.
    #[error("the node at {url} did not answer in time; it may still be at work")]
    TimedOut {
        /// Which node.
        url: Url,
    },
    /// Something answers, but it is not a node.
    #[error("expected a node at {url}, found something that answers {status} without saying why")]
    NotANode {
        /// Where it was looked for.
        url: Url,
        /// The status of its answer.
        status: u16,
    },
    /// The node's answer is not what this version knows.
    #[error("expected an answer of this version from the node at {url}: {source}")]
    NotUnderstood {
        /// Which node.
        url: Url,
        /// What does not fit.
        source: serde_json::Error,
    },
    /// A message of the node is longer than any should be.
    #[error(
        "expected a message of at most {limit} bytes from the node at {url}, found a longer one"
    )]
    TooLarge {
        /// Which node.
        url: Url,
        /// How long it may be.
        limit: usize,
    },
    /// The address can have no path.
    #[error("expected an address such as http://127.0.0.1:7420, found {url}")]
    InvalidAddress {
        /// The address.
        url: Url,
    },
    /// The HTTP stack did not start.
    #[error("the client could not be built: {0}")]
    NotBuilt(reqwest::Error),
}

impl ClientError {
    /// The code, when the node refused.
    pub fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Problem(problem) => Some(problem.code),
            _ => None,
        }
    }

    /// How a command ends that fails with it.
    pub fn exit(&self) -> Exit {
        match self {
            Self::Problem(problem) => problem.code.exit(),
            Self::InvalidAddress { .. } => Exit::Usage,
            _ => Exit::Failed,
        }
    }
}

/// The innermost cause: the outer ones only say that sending failed.
fn cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}
