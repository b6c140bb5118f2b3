//! Operations on sessions. A `reference` is an id, a unique prefix of one, or a name.

use super::error::ClientError;
use super::{BROWSER_LIMIT, Client};
use crate::agent::PassSession;
use crate::cdp::{CdpAccess, OpenCdp};
use crate::files::{SessionFile, SessionFiles};
use crate::open::{AttachSession, OpenSession};
use crate::session::{ListSessions, ResumeResult, SessionList, SessionView, SnapshotView};
use crate::state::StateView;
use reqwest::Method;
use serde::de::DeserializeOwned;

impl Client {
    /// Opens a session in a browser of its own.
    pub async fn open_session(&self, request: &OpenSession) -> Result<SessionView, ClientError> {
        let call = self.request(Method::POST, &["sessions"])?;
        self.fetch(call.timeout(BROWSER_LIMIT).json(request)).await
    }

    /// Attaches to a browser that someone else started.
    pub async fn attach_session(
        &self,
        request: &AttachSession,
    ) -> Result<SessionView, ClientError> {
        let call = self.request(Method::POST, &["sessions", "attach"])?;
        self.fetch(call.timeout(BROWSER_LIMIT).json(request)).await
    }

    /// One page of the caller's sessions, newest first.
    pub async fn list_sessions(&self, query: &ListSessions) -> Result<SessionList, ClientError> {
        self.fetch(self.request(Method::GET, &["sessions"])?.query(query)).await
    }

    /// One session in full.
    pub async fn fetch_session(&self, reference: &str) -> Result<SessionView, ClientError> {
        self.fetch(self.request(Method::GET, &["sessions", reference])?).await
    }

    /// The same, with all that the addresses of its tabs hold; needs the scope `reveal`.
    pub async fn reveal_session(&self, reference: &str) -> Result<SessionView, ClientError> {
        let request = self.request(Method::GET, &["sessions", reference])?;
        self.fetch(request.query(&[("reveal", true)])).await
    }

    /// Takes a snapshot now; it is on disk when this returns.
    pub async fn capture_session(&self, reference: &str) -> Result<SnapshotView, ClientError> {
        self.act(reference, "capture").await
    }

    /// An address that opens the session's browser for another tool.
    pub async fn open_cdp(
        &self,
        reference: &str,
        request: &OpenCdp,
    ) -> Result<CdpAccess, ClientError> {
        let call = self.request(Method::POST, &["sessions", reference, "cdp"])?;
        self.fetch(call.json(request)).await
    }

    /// The files of a session.
    pub async fn list_files(&self, reference: &str) -> Result<SessionFiles, ClientError> {
        self.fetch(self.request(Method::GET, &["sessions", reference, "files"])?).await
    }

    /// A file of a session.
    pub async fn get_file(&self, reference: &str, name: &str) -> Result<Vec<u8>, ClientError> {
        let call = self.request(Method::GET, &["sessions", reference, "files", name])?;
        self.fetch_bytes(call.timeout(BROWSER_LIMIT)).await
    }

    /// Puts a file among those of a session, whole or not at all, in the place of one of that name.
    pub async fn put_file(
        &self,
        reference: &str,
        name: &str,
        bytes: Vec<u8>,
    ) -> Result<SessionFile, ClientError> {
        let call = self.request(Method::PUT, &["sessions", reference, "files", name])?;
        self.fetch(call.timeout(BROWSER_LIMIT).body(bytes)).await
    }

    /// Removes a file of a session.
    pub async fn remove_file(&self, reference: &str, name: &str) -> Result<(), ClientError> {
        let call = self.request(Method::DELETE, &["sessions", reference, "files", name])?;
        self.fetch_bytes(call).await.map(drop)
    }

    /// Brings a session back from its last good snapshot.
    pub async fn resume_session(&self, reference: &str) -> Result<ResumeResult, ClientError> {
        self.act(reference, "resume").await
    }

    /// Takes a last snapshot, ends the browser and closes the session.
    pub async fn close_session(&self, reference: &str) -> Result<SessionView, ClientError> {
        self.act(reference, "close").await
    }

    /// Closes the session without a last snapshot and removes its profile.
    pub async fn abandon_session(&self, reference: &str) -> Result<SessionView, ClientError> {
        self.act(reference, "abandon").await
    }

    /// Passes the session to another agent, or to nobody.
    pub async fn pass_session(
        &self,
        reference: &str,
        request: &PassSession,
    ) -> Result<SessionView, ClientError> {
        let call = self.request(Method::POST, &["sessions", reference, "pass"])?;
        self.fetch(call.json(request)).await
    }

    /// Removes a session that is not active, with its snapshots, receipts and profile.
    pub async fn delete_session(&self, reference: &str) -> Result<(), ClientError> {
        let call = self.request(Method::DELETE, &["sessions", reference])?;
        self.fetch_bytes(call).await.map(drop)
    }

    /// What the latest snapshot holds; `reveal` shows secret values and needs that scope.
    pub async fn fetch_state(
        &self,
        reference: &str,
        reveal: bool,
    ) -> Result<StateView, ClientError> {
        let call = self.request(Method::GET, &["sessions", reference, "state"])?;
        self.fetch(call.query(&[("reveal", reveal)])).await
    }

    /// The preview of the latest snapshot, a PNG.
    pub async fn fetch_preview(&self, reference: &str) -> Result<Vec<u8>, ClientError> {
        self.fetch_bytes(self.request(Method::GET, &["sessions", reference, "preview"])?).await
    }

    /// The icon of the site that the latest snapshot shows, a PNG.
    pub async fn fetch_icon(&self, reference: &str) -> Result<Vec<u8>, ClientError> {
        self.fetch_bytes(self.request(Method::GET, &["sessions", reference, "icon"])?).await
    }

    async fn act<T: DeserializeOwned>(
        &self,
        reference: &str,
        verb: &str,
    ) -> Result<T, ClientError> {
        let call = self.request(Method::POST, &["sessions", reference, verb])?;
        self.fetch(call.timeout(BROWSER_LIMIT)).await
    }
}
