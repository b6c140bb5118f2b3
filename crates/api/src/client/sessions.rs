//! Operations on sessions, on their snapshots, on the files that they leave and come as, and those that move
//! them between nodes. A peer is named by its node id, a unique prefix of it, or its name.
//!
//! A `reference` is an id, a unique prefix of one, or a name. A snapshot is named by its id or a unique prefix
//! of it.

use super::{BROWSER_LIMIT, Client, ClientError};
use crate::ask::{AskPerson, AskView, CreatedAsk, MAX_ASK_WAIT, WaitForAsk};
use crate::carry::{
    ContextList, ExportSession, ExportView, ImportSession, ImportView, KeepContext,
};
use crate::document::FileText;
use crate::federation::PassSession;
use crate::live::LiveAccess;
use crate::sandbox::LoginList;
use crate::session::{
    AttachSession, CdpAccess, CompareSnapshots, DiffView, History, ListHistory, ListSessions,
    OpenCdp, OpenSession, ResumeResult, ResumeSession, RollBack, SessionFile, SessionFiles,
    SessionList, SessionView, SnapshotView, StateView,
};
use crate::sync::{
    CancelInvitation, ConfirmPeer, ConflictDetails, ConflictList, ConflictView, CreateInvitation,
    CreatedInvitation, DifferenceList, DirectoryView, InvitationList, JoinPeer, ListPeers,
    Movement, PeerList, PeerView, RegisterPeer, ResolveConflict, SaveSession, SavedView,
    SealedFile, SyncIndex, TakenFile,
};
use baton_session::{PeerLimits, SessionId};
use reqwest::Method;
use serde::de::DeserializeOwned;
use std::time::Duration;

/// How long an answer about an ask may take: the node waits for less.
const ASK_LIMIT: Duration = Duration::from_secs(MAX_ASK_WAIT + 30);

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

    /// An address that shows a session live, once.
    pub async fn open_live(&self, reference: &str) -> Result<LiveAccess, ClientError> {
        self.fetch(self.request(Method::POST, &["sessions", reference, "live"])?).await
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

    /// The same, as one browser or another.
    pub async fn resume_session_as(
        &self,
        reference: &str,
        request: ResumeSession,
    ) -> Result<ResumeResult, ClientError> {
        let call = self.request(Method::POST, &["sessions", reference, "resume"])?;
        self.fetch(call.timeout(BROWSER_LIMIT).query(&request)).await
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

    /// Asks a person to do something in a session; the link is answered this once.
    pub async fn ask_person(
        &self,
        reference: &str,
        request: &AskPerson,
    ) -> Result<CreatedAsk, ClientError> {
        let call = self.request(Method::POST, &["sessions", reference, "ask"])?;
        self.fetch(call.timeout(BROWSER_LIMIT).json(request)).await
    }

    /// What became of an ask; with a wait, once that is something else than `after`.
    pub async fn fetch_ask(
        &self,
        reference: &str,
        ask: &str,
        wait: &WaitForAsk,
    ) -> Result<AskView, ClientError> {
        let call = self.request(Method::GET, &["sessions", reference, "ask", ask])?;
        self.fetch(call.timeout(ASK_LIMIT).query(wait)).await
    }

    /// Takes an ask back: what a guest changed by then is captured, and told.
    pub async fn withdraw_ask(&self, reference: &str, ask: &str) -> Result<AskView, ClientError> {
        let call = self.request(Method::DELETE, &["sessions", reference, "ask", ask])?;
        self.fetch(call.timeout(BROWSER_LIMIT)).await
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

    /// Where a session may be logged in, the likeliest first.
    pub async fn list_logins(&self, reference: &str) -> Result<LoginList, ClientError> {
        self.fetch(self.request(Method::GET, &["sessions", reference, "logins"])?).await
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

/// How long an answer may take for which the node asks another one; longer than the node's own limit, so
/// that the node says what happened.
const PEER_LIMIT: Duration = Duration::from_mins(1);
/// The same where a session moves, or is saved and moves to all peers.
const MOVE_LIMIT: Duration = Duration::from_mins(5);

impl Client {
    /// Makes a revision of a session as it is now; an active one is captured first.
    pub async fn save_session(
        &self,
        reference: &str,
        request: &SaveSession,
    ) -> Result<SavedView, ClientError> {
        let call = self.request(Method::POST, &["sessions", reference, "save"])?;
        // The settings of the node may say that it goes to peers, too.
        let limit = if request.sync_to_peers { MOVE_LIMIT } else { BROWSER_LIMIT };
        self.fetch(call.timeout(limit).json(request)).await
    }

    /// Every session of the caller's owner that was saved.
    pub async fn fetch_sync_index(&self) -> Result<SyncIndex, ClientError> {
        self.fetch(self.request(Method::GET, &["sync", "index"])?).await
    }

    /// How it stands with the node's sync directory.
    pub async fn fetch_sync_directory(&self) -> Result<DirectoryView, ClientError> {
        self.fetch(self.request(Method::GET, &["sync", "directory"])?).await
    }

    /// Saves a session and seals it for a peer: a file that only that node can open.
    pub async fn seal_session(&self, session: &str, peer: &str) -> Result<SealedFile, ClientError> {
        let call = self.request(Method::POST, &["sync", "sessions", session, "seal", peer])?;
        self.fetch(call.timeout(BROWSER_LIMIT)).await
    }

    /// Takes a file that was sealed for this node.
    pub async fn take_sync_file(&self, file: &FileText) -> Result<TakenFile, ClientError> {
        let call = self.request(Method::POST, &["sync", "files"])?;
        self.fetch(call.timeout(BROWSER_LIMIT).json(file)).await
    }

    /// This node, and the owner's peers.
    pub async fn list_peers(&self) -> Result<PeerList, ClientError> {
        self.fetch(self.request(Method::GET, &["sync", "peers"])?.timeout(PEER_LIMIT)).await
    }

    /// The same, of whom nobody is asked whether they answer.
    pub async fn list_known_peers(&self) -> Result<PeerList, ClientError> {
        let call = self.request(Method::GET, &["sync", "peers"])?;
        self.fetch(call.query(&ListPeers { unasked: true })).await
    }

    /// Registers a node, which is asked for its key. It is pending, unless its fingerprint comes along.
    pub async fn register_peer(&self, request: &RegisterPeer) -> Result<PeerView, ClientError> {
        let call = self.request(Method::POST, &["sync", "peers"])?;
        self.fetch(call.timeout(PEER_LIMIT).json(request)).await
    }

    /// Invites another node to become a peer.
    pub async fn create_invitation(
        &self,
        request: &CreateInvitation,
    ) -> Result<CreatedInvitation, ClientError> {
        let call = self.request(Method::POST, &["sync", "invitations"])?;
        self.fetch(call.json(request)).await
    }

    /// The open invitations, and where the node listens for peers.
    pub async fn list_invitations(&self) -> Result<InvitationList, ClientError> {
        self.fetch(self.request(Method::GET, &["sync", "invitations"])?).await
    }

    /// Takes an open invitation back.
    pub async fn cancel_invitation(&self, id: &str) -> Result<(), ClientError> {
        let call = self.request(Method::DELETE, &["sync", "invitations", id])?;
        self.fetch_bytes(call).await.map(drop)
    }

    /// Takes an invitation back of which nobody has the text, with the listener that was opened for it alone.
    pub async fn undo_invitation(&self, id: &str) -> Result<(), ClientError> {
        let call = self.request(Method::DELETE, &["sync", "invitations", id])?;
        self.fetch_bytes(call.query(&CancelInvitation { listener: true })).await.map(drop)
    }

    /// Takes an invitation of another node: both are peers then, and confirmed.
    pub async fn join_peer(&self, request: &JoinPeer) -> Result<PeerView, ClientError> {
        let call = self.request(Method::POST, &["sync", "join"])?;
        self.fetch(call.timeout(PEER_LIMIT).json(request)).await
    }

    /// Closes the listener for peers.
    pub async fn close_peer_listener(&self) -> Result<(), ClientError> {
        let call = self.request(Method::DELETE, &["sync", "listener"])?;
        self.fetch_bytes(call).await.map(drop)
    }

    /// Confirms a pending peer, whose fingerprint a person has compared.
    pub async fn confirm_peer(
        &self,
        peer: &str,
        request: &ConfirmPeer,
    ) -> Result<PeerView, ClientError> {
        let call = self.request(Method::POST, &["sync", "peers", peer, "confirm"])?;
        self.fetch(call.timeout(PEER_LIMIT).json(request)).await
    }

    /// Sets how much of sessions goes to a peer and is taken from it, in the place of what was set before.
    pub async fn limit_peer(
        &self,
        peer: &str,
        limits: &PeerLimits,
    ) -> Result<PeerView, ClientError> {
        let call = self.request(Method::PUT, &["sync", "peers", peer, "limits"])?;
        self.fetch(call.timeout(PEER_LIMIT).json(limits)).await
    }

    /// Asks a peer whether it answers, and whether it is who it was.
    pub async fn ping_peer(&self, peer: &str) -> Result<PeerView, ClientError> {
        let call = self.request(Method::POST, &["sync", "peers", peer, "ping"])?;
        self.fetch(call.timeout(PEER_LIMIT)).await
    }

    /// Forgets a peer: nothing moves to it or from it any more.
    pub async fn remove_peer(&self, peer: &str) -> Result<(), ClientError> {
        let call = self.request(Method::DELETE, &["sync", "peers", peer])?;
        self.fetch_bytes(call).await.map(drop)
    }

    /// How all sessions stand here and at a peer.
    pub async fn list_differences(&self, peer: &str) -> Result<DifferenceList, ClientError> {
        let call = self.request(Method::GET, &["sync", "differences", peer])?;
        self.fetch(call.timeout(PEER_LIMIT)).await
    }

    /// The icon of a session at a peer, a PNG.
    pub async fn fetch_peer_icon(
        &self,
        peer: &str,
        session: SessionId,
    ) -> Result<Vec<u8>, ClientError> {
        let call = self.request(Method::GET, &["sync", "icons", peer, &session.to_string()])?;
        self.fetch_bytes(call.timeout(PEER_LIMIT)).await
    }

    /// Fetches from a peer what it has of a session and this node has not. One that is unfinished is
    /// called again.
    pub async fn pull_session(&self, peer: &str, session: &str) -> Result<Movement, ClientError> {
        let call = self.request(Method::POST, &["sync", "pull", peer, session])?;
        self.fetch(call.timeout(MOVE_LIMIT)).await
    }

    /// Gives a peer what this node has of a session and the peer has not. One that is unfinished is
    /// called again.
    pub async fn push_session(&self, peer: &str, session: &str) -> Result<Movement, ClientError> {
        let call = self.request(Method::POST, &["sync", "push", peer, session])?;
        self.fetch(call.timeout(MOVE_LIMIT)).await
    }

    /// The sessions in which someone has to choose.
    pub async fn list_conflicts(&self) -> Result<ConflictList, ClientError> {
        self.fetch(self.request(Method::GET, &["sync", "conflicts"])?).await
    }

    /// How the revisions of a session differ between which someone has to choose, without a value.
    pub async fn fetch_conflict(&self, session: &str) -> Result<ConflictDetails, ClientError> {
        let call = self.request(Method::GET, &["sync", "conflicts", session])?;
        self.fetch(call.timeout(BROWSER_LIMIT)).await
    }

    /// Says which revision of a session counts from now on.
    pub async fn resolve_conflict(
        &self,
        session: &str,
        request: &ResolveConflict,
    ) -> Result<ConflictView, ClientError> {
        let call = self.request(Method::POST, &["sync", "conflicts", session])?;
        self.fetch(call.timeout(BROWSER_LIMIT).json(request)).await
    }

    /// Deletes a session here, and at every peer that hears of it.
    pub async fn delete_synced_session(&self, session: &str) -> Result<(), ClientError> {
        let call = self.request(Method::DELETE, &["sync", "sessions", session])?;
        self.fetch_bytes(call.timeout(BROWSER_LIMIT)).await.map(drop)
    }
}
