//! An agent asks a person: what it wants done, the link that opens one tab to them, and what came of it.
//!
//! The one idea: the link is a secret that counts once, and only in the browser that presses its button. What it
//! opens is less than any key opens: one tab, at the sites that were named, until the ask ends.

use baton_session::diff::SiteDiff;
use baton_session::receipt::Unread;
use baton_session::{AgentName, SessionId, SessionName, SnapshotId};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt;
use url::Url;
use utoipa::{IntoParams, ToSchema};

/// The header in which a guest's page shows its half of what opens the ask; the other half is a cookie.
pub const GUEST_HEADER: &str = "baton-guest";
/// Stands for the id of the ask of a session that is open.
pub const OPEN_ASK: &str = "open";
/// How long a request waits at most for an ask to end, in seconds.
pub const MAX_ASK_WAIT: u64 = 30;

/// Asks a person to do something in a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AskPerson {
    /// What is to be done, in 1 to 500 characters without control characters.
    pub text: String,
    /// The sites that the person sees, each with all that is below it; none means that of the tab in front.
    #[serde(default)]
    pub sites: Vec<String>,
    /// For how many minutes, 1 to 60; left out, 10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minutes: Option<u32>,
    /// Whether the person may give files of their own to the site.
    #[serde(default)]
    pub files: bool,
}

/// How long an answer about an ask may wait.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct WaitForAsk {
    /// For so many seconds, at most 30, the answer waits until something else is so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait: Option<u64>,
    /// The state that the caller knows; left out, that of the moment of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(inline)]
    pub after: Option<AskState>,
}

/// Where an ask stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AskState {
    /// Nobody has pressed the button yet.
    Waiting,
    /// Somebody has, and is at it.
    Opened,
    /// The person says that it is done.
    Done,
    /// The person says that they cannot or will not do it.
    Declined,
    /// Its time has passed.
    TimedOut,
    /// Who asked took it back, or has no key any more.
    Withdrawn,
    /// The browser or its session is gone, or the node ended.
    Lost,
}

impl AskState {
    /// Whether nothing more becomes of it.
    pub fn is_over(self) -> bool {
        !matches!(self, Self::Waiting | Self::Opened)
    }

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Opened => "opened",
            Self::Done => "done",
            Self::Declined => "declined",
            Self::TimedOut => "timed_out",
            Self::Withdrawn => "withdrawn",
            Self::Lost => "lost",
        }
    }
}

impl fmt::Display for AskState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// What a person was asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AskView {
    /// Names it.
    pub id: String,
    /// In which session.
    pub session: SessionId,
    /// What that is called.
    pub name: SessionName,
    /// Which agent asks; none where it has said no name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentName>,
    /// What is to be done.
    pub text: String,
    /// The sites that the person sees.
    pub sites: Vec<String>,
    /// Whether the person may give files to the site.
    pub files: bool,
    /// Where it stands.
    pub state: AskState,
    /// Under which name the person does it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<AgentName>,
    /// When its time has passed.
    pub expires_at: Timestamp,
    /// What came of it, once it is over, where somebody had opened it and the browser is there still.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<AskOutcome>,
}

/// An ask that was made: the link is told this once.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CreatedAsk {
    /// What was asked.
    #[serde(flatten)]
    pub view: AskView,
    /// What the person opens. Behind `#` is a secret that counts once: no server and no log sees it there.
    pub link: Url,
    /// Where it can be opened.
    pub opens: AskReach,
    /// Whom the settings of the node name, and whether they were told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub told: Vec<ToldPerson>,
}

/// The link is a secret.
impl fmt::Debug for CreatedAsk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CreatedAsk").field("view", &self.view).finish_non_exhaustive()
    }
}

/// Where a link can be opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AskReach {
    /// Whether only a browser on the node's machine opens it.
    pub this_machine_only: bool,
    /// What to do so that another machine opens it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// Whether somebody whom the settings name was told of an ask.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ToldPerson {
    /// By which setting: `webhook` or `ntfy`.
    pub by: String,
    /// At which server.
    pub at: String,
    /// Why they were not told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

/// What a person's work changed. No value is in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AskOutcome {
    /// It in a sentence, such as `2 cookies and 1 database at bank.example are new; ends in 14 days`.
    pub changed: String,
    /// The same by site and kind.
    pub changes: Vec<SiteDiff>,
    /// The snapshot that was taken when it was over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub snapshot: Option<SnapshotId>,
    /// When the first cookie ends that is new or changed; none where none of them has an end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ends_at: Option<Timestamp>,
    /// What that snapshot could not take, because it is bound to this device or did not answer, as a receipt
    /// says it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bound: Vec<Unread>,
}

/// A guest's page asks what a link is for. That changes nothing.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LookAtAsk {
    /// What stands behind `#/asked/` in the link.
    pub secret: String,
}

/// A guest presses the button of a link.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RedeemAsk {
    /// What stands behind `#/asked/` in the link.
    pub secret: String,
    /// Their name, as the agent and the log get to know it; left out, `guest`.
    #[serde(default)]
    pub name: Option<String>,
    /// Whether they decline, which opens nothing.
    #[serde(default)]
    pub decline: bool,
}

/// An ask that was opened in this browser. The other half of what opens it comes as a cookie beside it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OpenedAsk {
    /// What goes with each request, in the header `Baton-Guest`; none where it was declined.
    pub value: Option<String>,
    /// What is asked.
    #[serde(flatten)]
    pub view: GuestView,
}

/// A guest is done, or cannot do it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct EndAsk {
    /// Whether it is done.
    pub done: bool,
}

/// What a guest sees of an ask: who asks for what, and nothing else of the node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct GuestView {
    /// Who asks: an agent's name, with its owner unless that is `local`; without an agent the owner.
    pub from: String,
    /// For what.
    pub text: String,
    /// What the session is called.
    pub session: SessionName,
    /// What they will see.
    pub sites: Vec<String>,
    /// Whether they may give files of their own to the site.
    pub files: bool,
    /// Where it stands.
    pub state: AskState,
    /// Until when.
    pub expires_at: Timestamp,
}

/// Secrets are not shown.
macro_rules! hides {
    ($($name:ident)*) => {$(
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(concat!(stringify!($name), "(***)"))
            }
        }
    )*};
}

hides! { LookAtAsk RedeemAsk OpenedAsk }
