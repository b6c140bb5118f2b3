//! Operations on sessions, on their snapshots, and on the files that they leave and come as.
//!
//! A `reference` is an id, a unique prefix of one, or a name. A snapshot is named by its id or a unique prefix
//! of it.

use super::{BROWSER_LIMIT, Client, ClientError};
use crate::carry::{
    ContextList, ExportSession, ExportView, ImportSession, ImportView, KeepContext,
};
use crate::federation::PassSession;
use crate::session::{
    AttachSession, CdpAccess, CompareSnapshots, DiffView, History, ListHistory, ListSessions,
    OpenCdp, OpenSession, ResumeResult, RollBack, SessionFile, SessionFiles, SessionList,
    SessionView, SnapshotView, StateView,
};
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

impl Client {
    /// One page of a session's snapshots, newest first.
    pub async fn list_history(
        &self,
        reference: &str,
        query: &ListHistory,
    ) -> Result<History, ClientError> {
        self.fetch(self.request(Method::GET, &["sessions", reference, "history"])?.query(query))
            .await
    }

    /// Captures a session, ends its browser, and brings it back from the snapshot `to`.
    pub async fn roll_back_session(
        &self,
        reference: &str,
        to: &str,
    ) -> Result<ResumeResult, ClientError> {
        let call = self.request(Method::POST, &["sessions", reference, "rollback"])?;
        let request = RollBack { to: to.to_owned() };
        self.fetch(call.timeout(BROWSER_LIMIT).json(&request)).await
    }

    /// What differs between the snapshots `a` and `b` of a session.
    pub async fn diff_snapshots(
        &self,
        reference: &str,
        a: &str,
        b: &str,
    ) -> Result<DiffView, ClientError> {
        let query = CompareSnapshots { a: a.to_owned(), b: b.to_owned() };
        self.fetch(self.request(Method::GET, &["sessions", reference, "diff"])?.query(&query)).await
    }
}

impl Client {
    /// A session as a file; an active one is captured first. Needs the scope `reveal`.
    pub async fn export_session(
        &self,
        reference: &str,
        query: &ExportSession,
    ) -> Result<ExportView, ClientError> {
        let call = self.request(Method::GET, &["sessions", reference, "export"])?;
        self.fetch(call.timeout(BROWSER_LIMIT).query(query)).await
    }

    /// The contexts that clients made in a session's browser.
    pub async fn list_contexts(&self, reference: &str) -> Result<ContextList, ClientError> {
        self.fetch(self.request(Method::GET, &["sessions", reference, "contexts"])?).await
    }

    /// Makes a session of its own of what a context holds now.
    pub async fn keep_context(
        &self,
        reference: &str,
        request: &KeepContext,
    ) -> Result<ImportView, ClientError> {
        let call = self.request(Method::POST, &["sessions", reference, "contexts", "keep"])?;
        self.fetch(call.timeout(BROWSER_LIMIT).json(request)).await
    }

    /// Makes a session of a file.
    pub async fn import_session(&self, request: &ImportSession) -> Result<ImportView, ClientError> {
        let call = self.request(Method::POST, &["sessions", "import"])?;
        self.fetch(call.timeout(BROWSER_LIMIT).json(request)).await
    }
}
