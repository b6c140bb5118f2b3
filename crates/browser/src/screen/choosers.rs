//! Pages that ask for files, until it is known whose each question is.
//!
//! The one idea: a frame of another site asks in the same words as its page does, so nobody is asked before the browser
//! has said whose frame that is. What is gone by then, or has asked again, is not asked for.

use super::Chooser;
use super::asking::{Whose, whose_frame};
use super::events::ChooserOpened;
use crate::cdp::{CdpSession, CdpSessionId};
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use std::collections::HashMap;

/// How many questions are looked at at once; of more, nobody is asked.
const LOOKED_AT: usize = 16;

/// The questions of which it is not known yet whose they are.
#[derive(Default)]
pub(super) struct Choosers {
    /// The newest one of each tab.
    newest: HashMap<u32, ChooserAsked>,
    looks: FuturesUnordered<BoxFuture<'static, ChooserFound>>,
}

struct ChooserAsked {
    number: u64,
    opened: ChooserOpened,
    session: CdpSessionId,
}

struct ChooserFound {
    tab: u32,
    number: u64,
    whose: Option<Whose>,
}

impl Choosers {
    /// A frame of a tab, whose own session is `top`, asks for files.
    pub(super) fn opened(
        &mut self,
        tab: u32,
        number: u64,
        opened: ChooserOpened,
        frame: CdpSession,
        top: CdpSession,
    ) {
        let Some(session) = frame.id().filter(|_| self.looks.len() < LOOKED_AT).cloned() else {
            return;
        };
        let id = opened.frame_id.clone();
        self.newest.insert(tab, ChooserAsked { number, opened, session });
        self.looks.push(Box::pin(async move {
            let whose = whose_frame(&frame, &top, &id).await.unwrap_or_else(|error| {
                tracing::debug!(%error, "a page asks for files, and is gone");
                None
            });
            ChooserFound { tab, number, whose }
        }));
    }

    /// The next question of which it is known whose it is, and its tab; none while none is looked at.
    pub(super) async fn next(&mut self) -> Option<(u32, Chooser)> {
        loop {
            let ChooserFound { tab, number, whose } = self.looks.next().await?;
            if self.newest.get(&tab).is_none_or(|asked| asked.number != number) {
                continue;
            }
            let asked = self.newest.remove(&tab);
            if let (Some(ChooserAsked { opened, session, .. }), Some(whose)) = (asked, whose)
                && let Some(chooser) = opened.into_chooser(number, session, whose)
            {
                return Some((tab, chooser));
            }
        }
    }

    /// A frame of a tab went elsewhere, or away.
    pub(super) fn frame_gone(&mut self, tab: u32, frame: &str) {
        if self.newest.get(&tab).is_some_and(|asked| asked.opened.frame_id == frame) {
            self.newest.remove(&tab);
        }
    }

    /// The page of a tab is another one.
    pub(super) fn moved(&mut self, tab: u32) {
        self.newest.remove(&tab);
    }

    /// A tab or frame has gone.
    pub(super) fn detached(&mut self, session: &CdpSessionId) {
        self.newest.retain(|_, asked| asked.session != *session);
    }
}
