//! Why there is no answer about a tab.

use crate::ask::AskError;
use baton_api::debug::{DebugErrorCode, TabToken};

/// Why there is no answer about a tab. What follows the first line says what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LookError {
    /// There is no such tab, there is none any more, or it is somebody else's.
    #[error(
        "expected a tab with the token {token}, found none\nit was closed, or its browser ended; list the tabs again"
    )]
    TabGone {
        /// Which tab was asked for.
        token: TabToken,
    },
    /// Nothing new can come: the tab's browser is not connected.
    #[error(
        "expected the browser of tab {token} to be connected, found that it is not\nwhat it told before can still be asked for"
    )]
    BrowserOffline {
        /// Which tab was asked for.
        token: TabToken,
    },
    /// Secrets of this tab are not kept.
    #[error(
        "expected a tab whose secrets are kept, found that those of tab {token} are hidden before anything is kept\nkeep them from now on with baton debug on ID --reveal or, in a browser of your own, in the extension's popup"
    )]
    NotRevealed {
        /// Which tab was asked for.
        token: TabToken,
    },
    /// An owner has so many tabs that no other one is taken.
    #[error("expected at most {most} tabs that are looked into, found more\nclose some tabs")]
    TooManyTabs {
        /// How many there may be.
        most: usize,
    },
    /// The question makes no sense.
    #[error(transparent)]
    Ask(#[from] AskError),
}

impl LookError {
    /// What it is in the debug protocol.
    pub fn code(&self) -> DebugErrorCode {
        match self {
            Self::TabGone { .. } => DebugErrorCode::TabGone,
            Self::BrowserOffline { .. } => DebugErrorCode::BrowserOffline,
            Self::NotRevealed { .. } => DebugErrorCode::NotRevealed,
            Self::TooManyTabs { .. } => DebugErrorCode::TooManyTabs,
            Self::Ask(_) => DebugErrorCode::InvalidFilter,
        }
    }
}
