//! What a person does with a tab as a whole: send it somewhere, answer what it asks, close it.

use super::address::TabAddress;
use super::asking::{Asking, PermissionQuestion};
use super::{Chooser, PageDialog, ScreenState, ScreenTab};
use crate::cdp::{CdpError, CdpSession};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::interval;

/// What Chromium answers for a page that is not in its place yet (`content/browser/devtools/protocol/page_handler.cc`).
const SWAPPING: &str = "Not attached to an active page";
/// How long until such a page is asked again, and how often.
const SWAP_PAUSE: Duration = Duration::from_millis(100);
const SWAP_TRIES: usize = 30;

/// What a person does with a tab as a whole. Each answers within
/// [`CALL_LIMIT`](crate::cdp::CALL_LIMIT).
#[derive(Debug)]
pub struct TabControl {
    pub(super) session: CdpSession,
    pub(super) tab: ScreenTab,
    pub(super) state: watch::Receiver<ScreenState>,
    pub(super) asking: Asking,
}

impl TabControl {
    /// Goes to an address. Fails with the browser's words where that cannot be reached. Where the page asks whether it
    /// may be left, nobody waits for what becomes of it: the browser answers once a person has.
    pub async fn go(&self, url: &str) -> Result<(), CdpError> {
        let method = "Page.navigate";
        let (mut state, number) = (self.state.clone(), self.tab.number);
        let asks = async move {
            let asks = |state: &ScreenState| {
                let dialog = state.tab(number).and_then(|tab| tab.dialog.as_ref());
                dialog.is_some_and(|dialog| dialog.kind == "beforeunload")
            };
            state.wait_for(asks).await.is_ok()
        };
        let answer = tokio::select! {
            biased;
            answer = self.session.call(method, json!({ "url": url })) => answer?,
            true = asks => return Ok(()),
        };
        match answer["errorText"].as_str() {
            // It became a download, or the page was left for another one meanwhile.
            None | Some("net::ERR_ABORTED") => Ok(()),
            Some(error) => Err(CdpError::Protocol { method, code: 0, message: error.to_owned() }),
        }
    }

    /// Goes back (-1) or forward (1) to the nearest page in its history whose address `may` be shown; where
    /// there is none, it stays.
    pub async fn step_among(
        &self,
        by: i64,
        may: impl Fn(&TabAddress) -> bool,
    ) -> Result<(), CdpError> {
        let history = self.call_in_place("Page.getNavigationHistory", json!({})).await?;
        let entries = history["entries"].as_array().map(Vec::as_slice).unwrap_or_default();
        let mut at = history["currentIndex"].as_i64().unwrap_or_default();
        loop {
            at += by.signum();
            let Some(entry) = usize::try_from(at).ok().and_then(|at| entries.get(at)) else {
                return Ok(());
            };
            let (Some(id), Some(url)) = (entry["id"].as_i64(), entry["url"].as_str()) else {
                return Ok(());
            };
            if may(&TabAddress::of(url)) {
                let method = "Page.navigateToHistoryEntry";
                return self.call_in_place(method, json!({ "entryId": id })).await.map(drop);
            }
            if by == 0 {
                return Ok(());
            }
        }
    }

    /// Calls about its history. A page that just takes the place of another one does not answer yet: it is asked again.
    async fn call_in_place(&self, method: &'static str, params: Value) -> Result<Value, CdpError> {
        let (mut pauses, mut tries) = (interval(SWAP_PAUSE), 0..SWAP_TRIES);
        loop {
            pauses.tick().await;
            match self.session.call(method, params.clone()).await {
                Err(CdpError::Protocol { message, .. })
                    if message.contains(SWAPPING) && tries.next().is_some() => {}
                answered => return answered,
            }
        }
    }

    /// Loads its page anew.
    pub async fn reload(&self) -> Result<(), CdpError> {
        self.session.call("Page.reload", json!({})).await.map(drop)
    }

    /// Brings it to the front, which is what is drawn.
    pub async fn bring_to_front(&self) -> Result<(), CdpError> {
        self.session.call("Page.bringToFront", json!({})).await.map(drop)
    }

    /// Closes it.
    pub async fn close(&self) -> Result<(), CdpError> {
        crate::targets::close(&self.session.connection().browser(), &self.tab.target).await
    }

    /// The dialog of this number, if it stands.
    pub fn dialog(&self, number: u64) -> Option<&PageDialog> {
        self.tab.dialog.as_ref().filter(|dialog| dialog.number == number)
    }

    /// The question for files of this number, if it stands.
    pub fn chooser(&self, number: u64) -> Option<&Chooser> {
        self.tab.chooser.as_ref().filter(|chooser| chooser.number == number)
    }

    /// Answers its dialog.
    pub async fn answer(&self, accept: bool, text: Option<&str>) -> Result<(), CdpError> {
        let mut params = json!({ "accept": accept });
        if let Some(text) = text {
            params["promptText"] = text.into();
        }
        self.session.call("Page.handleJavaScriptDialog", params).await.map(drop)
    }

    /// The question of this number, if it stands.
    pub fn permission(&self, number: u64) -> Option<&PermissionQuestion> {
        self.tab.permission.as_ref().filter(|question| question.number == number)
    }

    /// Lets a page go on that waits for the answer to a question. Where nothing was decided before, the browser
    /// refuses.
    pub fn settle(&self, number: u64) {
        self.asking.settle(self.tab.number, number);
    }

    /// Gives the files at these paths to the element that asks for some. Where the browser says that it cannot, the
    /// question is over, too: nobody could answer it.
    pub async fn choose(&self, chooser: &Chooser, files: &[PathBuf]) -> Result<(), CdpError> {
        let params = json!({ "files": files, "backendNodeId": chooser.element });
        let session = self.session.connection().session(chooser.session.clone());
        let given = session.call("DOM.setFileInputFiles", params).await.map(drop);
        if matches!(given, Ok(()) | Err(CdpError::Protocol { .. })) {
            self.asking.chosen(self.tab.number, chooser.number);
        }
        given
    }
}
