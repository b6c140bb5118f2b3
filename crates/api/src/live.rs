//! A session's browser, live: what a node and those who watch it say to each other over one WebSocket.
//!
//! The one idea: texts are messages, JSON with a `type`; what is binary is a
//! [picture](crate::picture). A viewer answers each
//! picture that it has drawn, and gets the newest one then; whatever came meanwhile is left out and counted. Only
//! who has taken the session over is heard beyond that.

use baton_redaction::ShownAddress;
use baton_session::AgentName;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt;
use url::Url;
use utoipa::ToSchema;

/// The longest message of a viewer, in bytes.
pub const MAX_LIVE_MESSAGE_BYTES: usize = 1 << 20;

/// An address that shows a session live, once.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LiveAccess {
    /// A WebSocket. It carries a ticket, which is a secret.
    pub live_url: Url,
    /// Until when the ticket counts.
    pub expires_at: Timestamp,
}

impl fmt::Debug for LiveAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LiveAccess").field("expires_at", &self.expires_at).finish_non_exhaustive()
    }
}

/// What a node tells a viewer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum LiveMessage {
    /// What the browser has open, now and whenever it changes.
    Tabs(LiveTabs),
    /// Who drives, now and whenever that changes.
    Driver(LiveDriver),
    /// How many pictures went, once a second while some do.
    Pace(LivePace),
    /// Something was not done.
    Refused(LiveRefusal),
    /// There is no browser any more. Pictures go on by themselves once there is one.
    Gone {},
}

/// What the browser has open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LiveTabs {
    /// Its tabs, oldest first.
    pub tabs: Vec<LiveTab>,
    /// The number of the tab in front, which is shown; none where none is drawn.
    pub front: Option<u32>,
    /// How many pictures of the browser were none, since it is watched.
    pub bad_pictures: u64,
    /// For a guest, where the one tab is, when that is not part of what was asked: no picture of it comes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub away: Option<String>,
}

/// A tab.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LiveTab {
    /// Names it for as long as its browser is watched.
    pub number: u32,
    /// Its title, as its page calls itself: to be shown as text and nothing else.
    pub title: String,
    /// Its address, without user and password: the scope `watch` shows pages as they are. Empty for a guest.
    pub url: ShownAddress,
    /// Whether its page crashed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub crashed: bool,
    /// What its page asks; it stands still until that is answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialog: Option<LiveDialog>,
    /// That its page asks for files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chooser: Option<LiveChooser>,
    /// What a site wishes for that a person has to allow; nothing while nobody has taken over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission: Option<LivePermission>,
}

impl LiveTab {
    /// The address of a page as a viewer sees it, who sees the page itself.
    pub fn address(url: &str) -> ShownAddress {
        ShownAddress::revealed(url)
    }
}

/// What a site wishes for. It is refused after a minute.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LivePermission {
    /// Names it, for the answer.
    pub question: u64,
    /// The origin of the document that asks, by the browser.
    pub origin: String,
    /// The origin of the page around it, where that is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<String>,
    /// What it wishes for, in the names of the Permissions API: `camera`, `clipboard-read`, `geolocation`,
    /// `microphone`, `midi`, `midi-sysex` or `notifications`.
    pub names: Vec<String>,
}

/// What a page asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LiveDialog {
    /// Names it, for the answer.
    pub question: u64,
    /// `alert`, `confirm`, `prompt` or `beforeunload`.
    pub kind: String,
    /// What it says: to be shown as text and nothing else.
    pub message: String,
    /// What a `prompt` suggests.
    pub suggests: String,
}

/// A page asks for files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LiveChooser {
    /// Names it, for the answer.
    pub question: u64,
    /// The origin of the document that asks, by the browser: what is chosen goes there.
    pub origin: String,
    /// The origin of the page around it, where that is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<String>,
    /// Whether it takes more than one.
    pub many: bool,
}

/// Who drives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LiveDriver {
    /// The agent or person; none where nobody has said a name.
    pub agent: Option<AgentName>,
    /// Whether it is this viewer.
    pub own: bool,
}

/// How many pictures went to a viewer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LivePace {
    /// How many were sent.
    pub sent: u64,
    /// How many were left out, because the viewer had one that it had not drawn.
    pub dropped: u64,
    /// The quality of their JPEG, 0 to 100, which follows what the viewer's line takes.
    pub quality: u8,
}

/// Something was not done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LiveRefusal {
    /// The `type` of the message that was not done.
    pub what: String,
    /// Why not, and what to do.
    pub detail: String,
}

/// What a viewer tells the node. All but the first three are for who has taken over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum ViewerMessage {
    /// Pictures of at most this size are wanted from now on, in pixels of the viewer. Before it, none come.
    Look {
        /// How wide.
        width: u32,
        /// How high.
        height: u32,
    },
    /// No pictures are wanted until the next `look`: nobody sees them.
    Rest {},
    /// A picture was drawn.
    Drawn {
        /// Its number.
        number: u64,
    },
    /// Takes the session over; needs the scope `drive`.
    TakeOver {
        /// The person's name, among those of agents.
        name: AgentName,
        /// Why, for the log and for the agent.
        #[serde(default)]
        reason: Option<String>,
    },
    /// Gives it back to who drove it before.
    GiveBack {},
    /// A mouse moved, or its buttons.
    Mouse(LiveMouse),
    /// Its wheel was turned.
    Wheel(LiveWheel),
    /// A key went down or up.
    Key(LiveKey),
    /// Text that was pasted, or that an input method has made.
    Text {
        /// Which tab.
        tab: u32,
        /// What.
        text: String,
    },
    /// What an input method, or a dead key, is making; empty takes it back.
    Compose {
        /// Which tab.
        tab: u32,
        /// What.
        text: String,
    },
    /// Fingers on a screen.
    Touch(LiveTouch),
    /// Goes to an address.
    Go {
        /// Which tab.
        tab: u32,
        /// Where to.
        url: String,
    },
    /// Goes back (-1) or forward (1).
    Step {
        /// Which tab.
        tab: u32,
        /// How far.
        by: i8,
    },
    /// Loads the page anew.
    Reload {
        /// Which tab.
        tab: u32,
    },
    /// Opens a tab.
    OpenTab {
        /// Where it goes.
        url: String,
    },
    /// Closes a tab.
    CloseTab {
        /// Which tab.
        tab: u32,
    },
    /// Brings a tab to the front, and so into the picture.
    Front {
        /// Which tab.
        tab: u32,
    },
    /// Answers the dialog of a page.
    Answer {
        /// Which tab.
        tab: u32,
        /// Which question.
        question: u64,
        /// Whether it is accepted.
        accept: bool,
        /// What a `prompt` gets.
        #[serde(default)]
        text: Option<String>,
    },
    /// Answers what a site wishes for.
    Permit {
        /// Which tab.
        tab: u32,
        /// Which question.
        question: u64,
        /// Whether it may.
        allow: bool,
    },
    /// Gives files of the session to the page that asks for some; without any, it gets none.
    Choose {
        /// Which tab.
        tab: u32,
        /// Which question.
        question: u64,
        /// Their names among the session's files.
        files: Vec<String>,
    },
}

/// What a mouse did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum MouseKind {
    /// It moved.
    Move,
    /// A button went down.
    Down,
    /// A button went up.
    Up,
}

/// A mouse.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LiveMouse {
    /// Which tab.
    pub tab: u32,
    /// What it did.
    pub kind: MouseKind,
    /// From the left of the viewport, in CSS pixels.
    pub x: f64,
    /// From the top.
    pub y: f64,
    /// Which button (`MouseEvent.button`): 0 left, 1 middle, 2 right.
    #[serde(default)]
    pub button: u8,
    /// How often it was clicked in a row (`MouseEvent.detail`).
    #[serde(default)]
    pub clicks: u8,
    /// Keys that are down: Alt 1, Ctrl 2, Meta 4, Shift 8.
    #[serde(default)]
    pub modifiers: u8,
}

/// A wheel.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LiveWheel {
    /// Which tab.
    pub tab: u32,
    /// From the left of the viewport, in CSS pixels.
    pub x: f64,
    /// From the top.
    pub y: f64,
    /// How far to the right, in CSS pixels.
    pub right: f64,
    /// How far down.
    pub down: f64,
    /// Keys that are down: Alt 1, Ctrl 2, Meta 4, Shift 8.
    #[serde(default)]
    pub modifiers: u8,
}

/// A key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LiveKey {
    /// Which tab.
    pub tab: u32,
    /// Whether it went down.
    pub down: bool,
    /// Whether it is held and comes again.
    #[serde(default)]
    pub again: bool,
    /// What it means (`KeyboardEvent.key`).
    pub key: String,
    /// Where it is (`KeyboardEvent.code`).
    #[serde(default)]
    pub code: String,
    /// Its number of old (`KeyboardEvent.keyCode`).
    #[serde(default)]
    pub number: u16,
    /// Which of several (`KeyboardEvent.location`).
    #[serde(default)]
    pub location: u8,
    /// Keys that are down: Alt 1, Ctrl 2, Meta 4, Shift 8.
    #[serde(default)]
    pub modifiers: u8,
}

/// What fingers did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TouchKind {
    /// One more is down.
    Start,
    /// They moved.
    Move,
    /// One is up.
    End,
    /// They count no more.
    Cancel,
}

/// Fingers on a screen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LiveTouch {
    /// Which tab.
    pub tab: u32,
    /// What they did.
    pub kind: TouchKind,
    /// Those that are down now.
    pub fingers: Vec<LiveFinger>,
    /// Keys that are down: Alt 1, Ctrl 2, Meta 4, Shift 8.
    #[serde(default)]
    pub modifiers: u8,
}

/// A finger.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LiveFinger {
    /// Its number.
    pub id: u8,
    /// From the left of the viewport, in CSS pixels.
    pub x: f64,
    /// From the top.
    pub y: f64,
}

impl ViewerMessage {
    /// The word that says what it is, for a refusal.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Look { .. } => "look",
            Self::Rest {} => "rest",
            Self::Drawn { .. } => "drawn",
            Self::TakeOver { .. } => "take_over",
            Self::GiveBack {} => "give_back",
            Self::Mouse(_) => "mouse",
            Self::Wheel(_) => "wheel",
            Self::Key(_) => "key",
            Self::Text { .. } => "text",
            Self::Compose { .. } => "compose",
            Self::Touch(_) => "touch",
            Self::Go { .. } => "go",
            Self::Step { .. } => "step",
            Self::Reload { .. } => "reload",
            Self::OpenTab { .. } => "open_tab",
            Self::CloseTab { .. } => "close_tab",
            Self::Front { .. } => "front",
            Self::Answer { .. } => "answer",
            Self::Permit { .. } => "permit",
            Self::Choose { .. } => "choose",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_viewer_says_is_named_by_its_type() {
        let look: ViewerMessage =
            serde_json::from_str(r#"{"type":"look","width":1,"height":2}"#).unwrap();
        assert_eq!(serde_json::to_value(&look).unwrap()["type"], look.word());
        let mouse = r#"{"type":"mouse","tab":1,"kind":"down","x":1.5,"y":2}"#;
        assert_eq!(serde_json::from_str::<ViewerMessage>(mouse).unwrap().word(), "mouse");
        assert!(serde_json::from_str::<ViewerMessage>(r#"{"type":"rm"}"#).is_err());
    }
}
