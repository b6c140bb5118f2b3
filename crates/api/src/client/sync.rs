//! Operations that move sessions between nodes. A peer is named by its node id, a unique prefix of it, or
//! its name.

use super::{BROWSER_LIMIT, Client, ClientError};
use crate::document::FileText;
use crate::sync::{
    ConfirmPeer, ConflictDetails, ConflictList, ConflictView, DifferenceList, DirectoryView,
    ListPeers, Movement, PeerList, PeerView, RegisterPeer, ResolveConflict, SaveSession, SavedView,
    SealedFile, SyncIndex, TakenFile,
};
use baton_session::{PeerLimits, SessionId};
use reqwest::Method;
use std::time::Duration;

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
