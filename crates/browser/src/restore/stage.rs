//! The stage of a restore: behind a closed curtain every request is answered by us.
//!
//! The stage shows documents of a wanted storage key and waits for them; the
//! [stagehand](super::stagehand) answers the requests.

use super::VisitError;
use super::stagehand::{Load, StageState, Stagehand, attach_to_workers, auto_attach, let_go};
use crate::cdp::{CdpError, CdpSession, CdpSessionId, Connection};
use crate::keeper::KeeperLink;
use crate::script::World;
use crate::targets::{Frame, TargetId};
use crate::{script, targets};
use baton_redaction::ShownAddress;
use baton_session::stored::WorkerScript;
use baton_session::{PartHash, StorageKey};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::{Instant, timeout_at};

/// How long a document of ours may take to appear. No site is asked for it, but a frame of another site
/// gets a process of its own, and on a busy machine several of those take their time.
const DOCUMENT_LIMIT: Duration = Duration::from_secs(30);
/// How often a page is brought to an address again when events were lost.
const TRIES: u32 = 2;
/// How long after the end of a loading the browser may still tell of its document: that can be of another
/// process.
const LATE: Duration = Duration::from_secs(1);

/// A browser whose requests we answer.
#[derive(Debug)]
pub(super) struct Stage {
    connection: Connection,
    shared: Arc<StageState>,
    moved: watch::Receiver<u64>,
    _task: AbortOnDrop,
}

/// Ends the task behind the stage, and with it the connection.
#[derive(Debug)]
struct AbortOnDrop(AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Stage {
    /// Closes the curtain: from here on no request leaves the browser.
    pub(super) async fn start(link: KeeperLink) -> Result<Self, CdpError> {
        let KeeperLink { connection, events, .. } = link;
        let shared = Arc::new(StageState::default());
        let (sender, moved) = watch::channel(0);
        let stagehand =
            Stagehand { connection: connection.clone(), shared: Arc::clone(&shared), sender };
        let task = tokio::spawn(stagehand.run(events));
        let stage = Self { connection, shared, moved, _task: AbortOnDrop(task.abort_handle()) };
        stage.browser().call("Fetch.enable", json!({})).await?;
        stage.browser().call("Target.setAutoAttach", attach_to_workers()).await?;
        Ok(stage)
    }

    /// Opens the curtain: from here on requests reach the sites.
    pub(super) async fn open_the_curtain(&self) -> Result<(), CdpError> {
        self.browser().call("Target.setAutoAttach", let_go()).await?;
        self.browser().call("Fetch.disable", json!({})).await.map(drop)
    }

    /// Answers requests for these scripts.
    pub(super) fn know_scripts(&self, scripts: &[WorkerScript]) {
        let mut known = self.shared.scripts();
        for script in scripts {
            known.insert(script.url.clone(), script.source.to_lossy());
        }
    }

    pub(super) fn browser(&self) -> CdpSession {
        self.connection.browser()
    }

    /// Attaches to a page and makes it ready: no service worker answers for us, and the browser tells
    /// of its frames in other processes.
    pub(super) async fn attach(&self, target: &TargetId) -> Result<CdpSession, CdpError> {
        let session = targets::attach(&self.browser(), target).await?;
        session.call("Page.enable", json!({})).await?;
        session.call("Network.enable", json!({ "maxTotalBufferSize": 0 })).await?;
        session.call("Network.setBypassServiceWorker", json!({ "bypass": true })).await?;
        session.call("Target.setAutoAttach", auto_attach()).await?;
        Ok(session)
    }

    /// Brings a document of `key` into the page: at `url` when the key is the page's own, else in a
    /// frame of a page at `url`. Returns the session of the document, and a world in it. When events were
    /// lost meanwhile, the one that tells of the frame may be among them: then the page is shown again.
    pub(super) async fn show(
        &self,
        session: &CdpSession,
        url: &str,
        key: &StorageKey,
    ) -> Result<(CdpSession, World), VisitError> {
        self.embed(url, key);
        for _ in 0..TRIES {
            let losses = self.shared.losses();
            match self.show_once(session, url, key).await {
                Err(error) if self.shared.losses() != losses => {
                    tracing::debug!(%error, "a page is shown again: events were lost");
                }
                shown => return shown,
            }
        }
        self.show_once(session, url, key).await
    }

    /// The page at `url` embeds a document of `key` from now on, unless the key is the page's own.
    fn embed(&self, url: &str, key: &StorageKey) {
        let inner = format!("<iframe src=\"{}/.baton\"></iframe>", key.origin());
        if key.is_inside_another() {
            // A site that does not exist, at an address of its own for each key: nothing is asked of it.
            // Below a host that is not trusted without TLS no frame is a secure context.
            let hash = PartHash::of(key.as_str().as_bytes());
            let scheme = key.origin().split(':').next().unwrap_or_default();
            let between = format!("{scheme}://between-baton.localhost/.baton/{hash}");
            let outer = format!("<iframe src=\"{between}\"></iframe>");
            self.shared.bodies().extend([(url.to_owned(), outer), (between, inner)]);
        } else if key.top_level_site().is_some() {
            self.shared.bodies().insert(url.to_owned(), inner);
        }
    }

    async fn show_once(
        &self,
        session: &CdpSession,
        url: &str,
        key: &StorageKey,
    ) -> Result<(CdpSession, World), VisitError> {
        let answer = session.call("Page.navigate", json!({ "url": url })).await?;
        if let Some(reason) = answer["errorText"].as_str() {
            return Err(VisitError::Refused {
                url: ShownAddress::of(url),
                reason: reason.to_owned(),
            });
        }
        self.find(session, key).await
    }

    /// Brings a blank document at `url` into the page, and waits until the page shows it. When events
    /// were lost meanwhile, the one that says so may be among them: then the page is brought there again.
    pub(super) async fn go(&self, session: &CdpSession, url: &str) -> Result<(), VisitError> {
        for _ in 0..TRIES {
            let losses = self.shared.losses();
            match self.go_once(session, url).await {
                Err(error) if self.shared.losses() != losses => {
                    tracing::debug!(%error, "a visit is made again: events were lost");
                }
                gone => return gone,
            }
        }
        self.go_once(session, url).await
    }

    async fn go_once(&self, session: &CdpSession, url: &str) -> Result<(), VisitError> {
        let next = self.next_document(session);
        let answer = session.call("Page.navigate", json!({ "url": url })).await?;
        if let Some(reason) = answer["errorText"].as_str() {
            let url = ShownAddress::of(url);
            return Err(VisitError::Refused { url, reason: reason.to_owned() });
        }
        let wanted =
            || VisitError::NoDocument { wanted: ShownAddress::of(url), limit: DOCUMENT_LIMIT };
        next.within(DOCUMENT_LIMIT).await.map(drop).ok_or_else(wanted)
    }

    /// Waits until a document of `key` is in the page.
    async fn find(
        &self,
        session: &CdpSession,
        key: &StorageKey,
    ) -> Result<(CdpSession, World), VisitError> {
        let deadline = Instant::now() + DOCUMENT_LIMIT;
        let mut moved = self.moved.clone();
        loop {
            moved.mark_unchanged();
            if let Some(found) = self.find_world(session, key).await? {
                return Ok(found);
            }
            // An event tells of a commit; when events stop, the limit ends the wait.
            let _ = timeout_at(deadline.min(Instant::now() + RECHECK), moved.changed()).await;
            if Instant::now() >= deadline {
                let wanted = ShownAddress::of(key.as_str());
                return Err(VisitError::NoDocument { wanted, limit: DOCUMENT_LIMIT });
            }
        }
    }

    async fn find_world(
        &self,
        session: &CdpSession,
        key: &StorageKey,
    ) -> Result<Option<(CdpSession, World)>, CdpError> {
        for session in self.with_frames_of(session) {
            let Ok(frames) = targets::frames_of(&session).await else {
                continue;
            };
            for frame in frames {
                let found = match targets::storage_key(&session, &frame.id).await {
                    Ok(found) => found,
                    Err(error) if error.is_closed() => return Err(error),
                    // Its process ends, and never answers.
                    Err(error) => {
                        tracing::debug!(%error, "a frame did not say whose storage it has");
                        None
                    }
                };
                if found.as_ref() != Some(key) {
                    continue;
                }
                // A frame that moves to a process of its own is in two sessions for a moment, and has
                // its document in the later one.
                if let Ok(world) = script::world(&session, &frame.id).await {
                    return Ok(Some((session, world)));
                }
            }
        }
        Ok(None)
    }

    /// The session itself and those of frames below it in other processes.
    fn with_frames_of(&self, session: &CdpSession) -> Vec<CdpSession> {
        let frames = self.shared.frames();
        let mut found = vec![session.clone()];
        let mut at = 0;
        while let Some(above) = found.get(at).cloned() {
            let below = frames.iter().filter(|(_, parent)| Some(*parent) == above.id());
            found.extend(below.map(|(id, _)| self.connection.session(id.clone())));
            at += 1;
        }
        found
    }

    /// The address of the document that the page showed last, if an event told of one.
    pub(super) fn shown(&self, session: &CdpSession) -> Option<String> {
        self.shared.committed().get(session.id()?).map(Frame::address)
    }

    /// Whether the loading that began after [`Self::next_document`] is over.
    pub(super) fn has_loaded(&self, session: &CdpSession) -> bool {
        session.id().is_some_and(|id| is_over(&self.shared, id))
    }

    /// Forgets which document the page shows, and returns a wait for the next one.
    pub(super) fn next_document(&self, session: &CdpSession) -> NextDocument {
        if let Some(id) = session.id() {
            self.shared.committed().remove(id);
            self.shared.loads().remove(id);
        }
        NextDocument {
            losses: self.shared.losses(),
            session: session.id().cloned(),
            shared: Arc::clone(&self.shared),
            moved: self.moved.clone(),
        }
    }
}

/// Whether the loading of a page is over.
fn is_over(shared: &StageState, session: &CdpSessionId) -> bool {
    shared.loads().get(session) == Some(&Load::Over)
}

/// A wait for the next document of a page.
#[derive(Debug)]
pub(super) struct NextDocument {
    /// How often events were lost before.
    losses: u64,
    session: Option<CdpSessionId>,
    shared: Arc<StageState>,
    moved: watch::Receiver<u64>,
}

impl NextDocument {
    /// The document, or none when it did not come in time, or the answer was none.
    pub(super) async fn within(mut self, limit: Duration) -> Option<Frame> {
        let session = self.session?;
        let mut deadline = Instant::now() + limit;
        loop {
            self.moved.mark_unchanged();
            if let Some(frame) = self.shared.committed().get(&session) {
                return Some(frame.clone());
            }
            // An event that was lost may have told of it; then nothing else does.
            if is_over(&self.shared, &session) || self.shared.losses() != self.losses {
                deadline = deadline.min(Instant::now() + LATE);
            }
            match timeout_at(deadline, self.moved.changed()).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) | Err(_) => return None,
            }
        }
    }
}

/// A storage key can settle a moment after the browser told of its document.
const RECHECK: Duration = Duration::from_millis(20);
