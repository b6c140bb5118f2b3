//! What a viewer is told, in the words of the API: tabs, pictures, and why a visit ends.

use baton_api::live::{LiveChooser, LiveDialog, LivePermission, LiveTab, LiveTabs};
use baton_api::picture::{PictureHeader, write_picture};
use baton_browser::screen::{ScreenFrame, ScreenState, ScreenTab, VIEWERS};
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

/// A picture as it is sent.
pub(super) fn picture(frame: &ScreenFrame) -> Vec<u8> {
    let header = PictureHeader {
        number: frame.sequence,
        tab: frame.tab,
        width: frame.width,
        height: frame.height,
        scale: frame.scale,
    };
    write_picture(header, &frame.jpeg)
}

/// What a browser has open.
pub(super) fn tabs(state: &ScreenState) -> LiveTabs {
    let tabs = state.tabs.iter().map(tab).collect();
    LiveTabs { tabs, front: state.front, bad_pictures: state.bad_frames, away: None }
}

/// A tab.
pub(super) fn tab(tab: &ScreenTab) -> LiveTab {
    let dialog = tab.dialog.as_ref().map(|dialog| LiveDialog {
        question: dialog.number,
        kind: dialog.kind.clone(),
        message: dialog.message.clone(),
        suggests: dialog.suggests.clone(),
    });
    let permission = tab.permission.as_ref().map(|asked| LivePermission {
        question: asked.number,
        origin: asked.origin.clone(),
        within: asked.within.clone(),
        names: asked.names.iter().map(|name| (*name).to_owned()).collect(),
    });
    let chooser = tab.chooser.as_ref().map(|asked| LiveChooser {
        question: asked.number,
        origin: asked.origin.clone(),
        within: asked.within.clone(),
        many: asked.takes_many,
    });
    LiveTab {
        number: tab.number,
        title: tab.title.clone(),
        url: LiveTab::address(tab.url.shown()),
        crashed: tab.has_crashed,
        dialog,
        chooser,
        permission,
    }
}

/// The code by which a page knows that another one of the same guest has its place: it does not come back by itself.
const REPLACED: u16 = 4001;

/// Why a visit ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Farewell {
    /// The viewer left, or read nothing for too long.
    Left,
    /// It said nothing for too long.
    Silent,
    /// The node ends.
    NodeEnds,
    /// Its key was revoked.
    Revoked,
    /// Its page was signed out.
    SignedOut,
    /// What the guest was asked to do has ended.
    AskEnded,
    /// Another page of the same guest shows it.
    Replaced,
    /// The session was deleted.
    Deleted,
    /// There are as many viewers as there may be.
    TooMany,
    /// It says too much at once.
    TooMuch,
    /// A message was too long.
    TooLong,
    /// It says what makes no sense, again and again.
    Garbage,
}

impl Farewell {
    /// Its words, for people and for the log.
    pub(super) fn reason(self) -> &'static str {
        match self {
            Self::Left => "the viewer left",
            Self::Silent => "the viewer said nothing for 10 s",
            Self::NodeEnds => "the node ends",
            Self::Revoked => "the key was revoked",
            Self::SignedOut => "the page was signed out",
            Self::AskEnded => "what was asked has ended",
            Self::Replaced => "another page of yours shows it now",
            Self::Deleted => "the session was deleted",
            Self::TooMany => "expected at most 16 viewers of a session, found one more",
            Self::TooMuch => "expected at most 1000 messages a second, found more",
            Self::TooLong => "expected messages of at most 1 MiB, found a longer one",
            Self::Garbage => "expected messages of a viewer, found others",
        }
    }

    /// The same with a code of RFC 6455, section 7.4.1.
    pub(super) fn frame(self) -> CloseFrame {
        let code = match self {
            Self::Left | Self::Silent | Self::AskEnded => CloseCode::Normal,
            Self::NodeEnds | Self::Deleted => CloseCode::Away,
            Self::Revoked | Self::SignedOut | Self::TooMuch => CloseCode::Policy,
            Self::Replaced => CloseCode::Library(REPLACED),
            Self::TooMany => CloseCode::Again,
            Self::TooLong => CloseCode::Size,
            Self::Garbage => CloseCode::Invalid,
        };
        CloseFrame { code, reason: self.reason().into() }
    }
}

const _: () = assert!(VIEWERS == 16, "the reason names another number");
