//! Capture: reads what a running browser holds, and costs what changed.
//!
//! The one idea: every page answers for itself within a limit. A page that hangs, or leaves in the
//! middle, costs its own parts only: they come from the mirror, and the capture says so.

mod databases;
mod frame;
mod history;
mod icon;
mod icon_link;
mod icon_load;
mod opened;
mod page;
mod preview;
mod read;
mod stored;
mod visit;
mod work;
mod worker;

use crate::cdp::CdpError;
use crate::cookies::{self, Fetched};
use crate::icon::SiteIcon;
use crate::live::Live;
use crate::targets::{self, Tabs};
use baton_session::{State, Unread};
use page::Pages;
use read::PageRead;
use std::collections::BTreeSet;
use std::time::Duration;
use work::Work;

/// How long one page may take.
const PAGE_LIMIT: Duration = Duration::from_secs(5);
/// How many pages are read at once: reading is bound by the processor.
const PAGES_AT_ONCE: usize = 4;

/// How much a capture reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// What events reported as changed.
    Changed,
    /// Everything that a page shows now: what was written before the call is in the result.
    Whole,
}

/// What a capture found.
#[derive(Debug)]
pub struct Captured {
    /// Everything that the browser holds, as far as it could be read.
    pub state: State,
    /// A PNG of the tab in front, 320×180, when pictures were asked for and there is something to see.
    pub preview: Option<Vec<u8>>,
    /// The icon of the site in front, when pictures were asked for and it shows one.
    pub icon: Option<SiteIcon>,
    /// Places that could not be read now, whose parts are those of the mirror; and what is not kept.
    pub unread: Vec<Unread>,
}

impl Live {
    /// Captures what the browser holds now, with `pictures` of the tab in front when they are wanted. Fails
    /// only when the browser itself does not answer.
    pub async fn capture(&self, depth: Depth, pictures: bool) -> Result<Captured, CdpError> {
        let browser = self.browser();
        let Tabs { kept: tabs, internal, .. } = targets::list(&browser, self.context()).await?;
        let living: BTreeSet<&str> = tabs.iter().map(|tab| tab.target_id.as_str()).collect();
        self.shared().mirror().retain_tabs(&living);
        let systems = self.shared().systems().await;
        let work = Work::take(self.shared(), systems, depth == Depth::Whole);
        let reads = Pages { live: self, work: &work }.read(&tabs).await;
        let unread_by_workers = worker::read(self, &work).await;
        let cookies = cookies::fetch(&browser, self.context()).await;
        self.read_permissions().await;
        let (mut state, mut unread) = self.merge(reads);
        unread.extend(unread_by_workers);
        unread.extend(opened::changed(&tabs, &internal));
        match cookies {
            Ok(Fetched { cookies, lost }) => {
                unread.extend(lost);
                self.shared().mirror().set_cookies(cookies.clone());
                state.cookies = cookies;
            }
            Err(error) if error.is_closed() => return Err(error),
            Err(error) => unread.push(Unread::new("cookies", error)),
        }
        state.normalize();
        let (preview, icon) = if pictures {
            tokio::join!(preview::capture(self, &state), Box::pin(icon::capture(self, &state)))
        } else {
            (None, None)
        };
        Ok(Captured { state, preview, icon, unread })
    }

    /// Puts together what is known now, and what of it could not be read.
    fn merge(&self, reads: Vec<PageRead>) -> (State, Vec<Unread>) {
        let mut mirror = self.shared().mirror();
        let front = reads.iter().find(|read| read.is_front()).map(|read| read.target.clone());
        for read in &reads {
            read.merge(&mut mirror, front.as_ref());
        }
        let mut state = mirror.snapshot();
        drop(mirror);
        let unread = reads.into_iter().flat_map(|read| read.apply(&mut state)).collect();
        (state, unread)
    }
}
