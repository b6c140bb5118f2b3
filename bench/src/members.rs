//! A node of a cluster, and the page of a session as a client drives it there.

use anyhow::{Context as _, Result};
use baton_browser::cdp::{self, CdpSession, Connection};
use baton_playground::TestNode;
use serde_json::json;
use std::path::Path;
use url::Url;

/// Starts a node that shares a database with others, with further settings of its own.
pub async fn start(
    baton: &Path,
    name: &str,
    database: &str,
    settings: &[(&str, String)],
) -> Result<TestNode> {
    let mut node = TestNode::build(baton)?
        .with("BATON_MASTER_KEY", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
        .with("BATON_DATABASE_URL", database)
        .with("BATON_NODE_NAME", name);
    // The first start finds a port, at which the node is asked from then on.
    node.start_node().await?;
    node.keep_address()?;
    let port = node.client()?.base().port().context("expected a port of the node")?;
    node.stop_node().await?;
    node = node
        .with("BATON_INTERNAL_URL", format!("http://127.0.0.1:{port}"))
        .with("BATON_CLUSTER_NAME", "bench");
    for (variable, value) in settings {
        node = node.with(variable, value);
    }
    node.start_node().await?;
    Ok(node)
}

/// The tab of a session, over a connection of its own.
pub struct DrivenPage {
    /// What is asked of it.
    pub page: CdpSession,
    _connection: Connection,
}

impl DrivenPage {
    /// Attaches to the tab of the session that this `cdp_url` leads to.
    pub async fn connect(cdp_url: &Url) -> Result<Self> {
        let (connection, _) = Connection::start(cdp::connect(cdp_url.as_str()).await?);
        let found = connection.browser().call("Target.getTargets", json!({})).await?;
        let targets = found["targetInfos"].as_array().context("expected targets")?;
        let page = targets.iter().find(|target| target["type"] == "page");
        let page = page.context("expected the tab of the session")?;
        let params = json!({ "targetId": page["targetId"], "flatten": true });
        let attached = connection.browser().call("Target.attachToTarget", params).await?;
        let id = attached["sessionId"].as_str().context("expected a session of CDP")?;
        Ok(Self { page: connection.session(id.to_owned().into()), _connection: connection })
    }
}
