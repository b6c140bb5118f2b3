//! Two stand-in nodes: with a database that they share, or as peers with one each.

use super::node::StandInNode;
use super::street::Street;
use anyhow::Result;
use baton_api::sync::RegisterPeer;
use baton_api::{CreateKey, Scope};
use baton_session::SessionId;
use baton_session::peer::AuthMethod;
use serde_json::json;
use std::time::Duration;
use tempfile::TempDir;
use tokio::runtime::Handle;

/// For how long a node holds what it holds, where a database is shared.
pub const LEASE: Duration = Duration::from_secs(4);

/// Two nodes and all that runs at them.
#[derive(Debug)]
pub struct Pair {
    /// Their browsers.
    pub street: Street,
    /// The nodes.
    pub nodes: [StandInNode; 2],
    _shared: Option<TempDir>,
}

impl Pair {
    /// Two nodes that run, with one database or with two.
    pub async fn start(is_shared: bool, machine: &Handle) -> Result<Self> {
        let street = Street::new(2, is_shared);
        let folder = is_shared.then(tempfile::tempdir).transpose()?;
        let shared = folder.as_ref().map(|folder| (folder.path().join("baton.db"), LEASE));
        let node = |at| StandInNode::new(&street, at, machine, shared.clone());
        let mut nodes = [node(0)?, node(1)?];
        for node in &mut nodes {
            node.start(false).await?;
        }
        let pair = Self { street, nodes, _shared: folder };
        if !is_shared {
            pair.know(0, 1).await?;
            pair.know(1, 0).await?;
        }
        Ok(pair)
    }

    /// Registers a node at another one, under the name `node` and its number.
    async fn know(&self, here: usize, there: usize) -> Result<()> {
        let (this, that) = (self.nodes[here].client()?, self.nodes[there].client()?);
        let for_node = Some(this.list_peers().await?.fingerprint);
        let name = format!("node{there}");
        let scopes = [Scope::Sync].into();
        let key = CreateKey { name: format!("for node{here}"), owner: None, scopes, for_node };
        let key = that.create_key(&key).await?;
        let peer = RegisterPeer {
            url: that.base().clone(),
            name,
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

    /// Sets a cookie in the browser of a session, as whoever drives it would; false when none runs.
    pub fn mark(&self, at: usize, session: SessionId, name: &str, host: &str) -> bool {
        let cookie = json!({ "name": name, "value": "1", "domain": host, "path": "/",
                             "secure": true, "httpOnly": true, "expires": 4_000_000_000_u32 });
        let browser = self.street.browser(at, session);
        browser.is_some_and(|browser| {
            browser.cookies().set(&cookie);
            true
        })
    }

    /// The names of the cookies of a session's browser; none when none runs.
    pub fn marks(&self, at: usize, session: SessionId) -> Option<Vec<String>> {
        let browser = self.street.browser(at, session)?;
        let cookies = browser.cookies();
        Some(cookies.names().map(str::to_owned).collect())
    }
}
