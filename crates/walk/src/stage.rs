//! What a walk needs of the two nodes that it walks on, and how they come to know each other.

use anyhow::Result;
use baton_api::sync::RegisterPeer;
use baton_api::{Client, CreateKey, Scope};
use baton_session::SessionId;
use baton_session::peer::AuthMethod;
use baton_store::Store;
use std::collections::BTreeSet;
use std::time::Instant;

/// Two nodes, which can be asked, broken and looked at.
pub trait Stage: Send + Sync {
    /// Whether they share a database.
    fn is_shared(&self) -> bool;

    /// Whether they make sandboxes.
    fn has_sandboxes(&self) -> bool;

    /// Whether a node runs, or stands still.
    fn is_up(&self, at: usize) -> bool;

    /// A client of a node, whether or not it runs.
    fn client(&self, at: usize) -> Result<Client>;

    /// The database of a node.
    fn store(&self, at: usize) -> &Store;

    /// Sets a cookie in the browser of a session; false when none runs.
    fn mark(
        &self,
        at: usize,
        session: SessionId,
        name: &str,
        host: &str,
    ) -> impl Future<Output = bool> + Send;

    /// The names of the cookies of a session's browser; none when none runs.
    fn marks(
        &self,
        at: usize,
        session: SessionId,
    ) -> impl Future<Output = Option<BTreeSet<String>>> + Send;

    /// Which browser a session has, and since when.
    fn browser(
        &self,
        at: usize,
        session: SessionId,
    ) -> impl Future<Output = Option<(u64, Instant)>> + Send;

    /// Kills the browser of a session, and its keeper.
    fn kill_browser(&self, at: usize, session: SessionId) -> impl Future<Output = ()> + Send;

    /// Lets the keeper of a session stand still; false when there is none.
    fn freeze_keeper(&self, at: usize, session: SessionId) -> impl Future<Output = bool> + Send;

    /// Lets a node stand still.
    fn freeze_node(&self, at: usize);

    /// Lets all go on that stand still.
    fn thaw(&self);

    /// Kills a node.
    fn kill_node(&mut self, at: usize) -> impl Future<Output = Result<()>> + Send;

    /// Whatever kills a node while it is asked.
    fn killer(&self, at: usize) -> Box<dyn FnOnce() + Send>;

    /// Ends a node as it should be ended.
    fn stop_node(&mut self, at: usize) -> impl Future<Output = Result<()>> + Send;

    /// Starts a node.
    fn start_node(
        &mut self,
        at: usize,
        rehydrates: bool,
    ) -> impl Future<Output = Result<()>> + Send;

    /// Takes the browser's program away from a node's machine, or gives it back.
    fn has_program(&self, at: usize, has: bool) -> Result<()>;

    /// For how long nodes hold what they hold, where they share a database.
    fn lease(&self) -> std::time::Duration;

    /// What must never be, and the stage saw when a browser was started.
    fn findings(&self) -> Vec<String>;
}

/// Registers a node at another one, with a key that it gave out, and its fingerprint.
pub(crate) async fn know(this: &Client, that: &Client, name: &str) -> Result<()> {
    let for_node = Some(this.list_peers().await?.fingerprint);
    let scopes = [Scope::Sync].into();
    let key = CreateKey { name: format!("who knows {name}"), owner: None, scopes, for_node };
    let key = that.create_key(&key).await?;
    let peer = RegisterPeer {
        url: that.base().clone(),
        name: name.to_owned(),
        auth_method: AuthMethod::ApiKey,
        api_key: Some(key.secret),
        oidc: None,
        tunnel_token: None,
        fingerprint: Some(that.list_peers().await?.fingerprint),
        limits: None,
    };
    this.register_peer(&peer).await?;
    Ok(())
}
