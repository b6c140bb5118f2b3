//! Nodes come to know each other.

use anyhow::Result;
use baton_api::sync::RegisterPeer;
use baton_api::{Client, CreateKey, Scope};
use baton_session::peer::AuthMethod;

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
