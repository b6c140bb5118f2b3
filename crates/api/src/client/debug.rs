//! Operations on tabs that can be looked into, and on the upstream services whose pages they show.

use super::{BROWSER_LIMIT, Client, ClientError};
use crate::debug::{
    ConsoleData, ConsoleFilters, DebugTabs, NetworkData, NetworkFilters, PairingCode, Reveal,
    TabToken, Wait,
};
use crate::session::{SessionView, SwitchDebug};
use crate::upstream::{PutUpstream, UpstreamId, UpstreamList, UpstreamTicket, UpstreamView};
use baton_session::Owner;
use reqwest::Method;

impl Client {
    /// The tabs that can be looked into.
    pub async fn list_tabs(&self) -> Result<DebugTabs, ClientError> {
        self.fetch(self.request(Method::GET, &["debug", "tabs"])?).await
    }

    /// The requests of a tab; when nothing fits, those that come while it waits. See [`Wait`].
    pub async fn get_network(
        &self,
        token: &TabToken,
        filters: &NetworkFilters,
        how: impl Into<Wait>,
    ) -> Result<NetworkData, ClientError> {
        let call = self.request(Method::POST, &["debug", "tabs", token.as_str(), "network"])?;
        self.fetch(call.query(&how.into()).json(filters)).await
    }

    /// The console of a tab; when nothing fits, the lines that come while it waits. See [`Wait`].
    pub async fn get_console(
        &self,
        token: &TabToken,
        filters: &ConsoleFilters,
        how: impl Into<Wait>,
    ) -> Result<ConsoleData, ClientError> {
        let call = self.request(Method::POST, &["debug", "tabs", token.as_str(), "console"])?;
        self.fetch(call.query(&how.into()).json(filters)).await
    }

    /// What is kept of a tab as an HTTP Archive, as the node wrote it; with its secrets if `reveal`.
    pub async fn get_har(&self, token: &TabToken, reveal: bool) -> Result<Vec<u8>, ClientError> {
        let call = self.request(Method::GET, &["debug", "tabs", token.as_str(), "har"])?;
        self.fetch_bytes(call.query(&Reveal { reveal })).await
    }

    /// A code with which a person pairs a browser.
    pub async fn pair_browser(&self) -> Result<PairingCode, ClientError> {
        self.fetch(self.request(Method::POST, &["debug", "pair"])?).await
    }

    /// Switches on or off whether what a session's tabs do is recorded, and whether their secrets are.
    pub async fn switch_debug(
        &self,
        id: &str,
        switch: SwitchDebug,
    ) -> Result<SessionView, ClientError> {
        let call = self.request(Method::POST, &["sessions", id, "debug"])?;
        self.fetch(call.timeout(BROWSER_LIMIT).json(&switch)).await
    }
}

impl Client {
    /// The caller's upstream services.
    pub async fn list_upstreams(&self) -> Result<UpstreamList, ClientError> {
        self.fetch(self.request(Method::GET, &["cocoons"])?).await
    }

    /// Names an upstream service, or says something else of it.
    pub async fn put_upstream(
        &self,
        id: &UpstreamId,
        request: &PutUpstream,
    ) -> Result<UpstreamView, ClientError> {
        self.fetch(self.request(Method::PUT, &["cocoons", id.as_str()])?.json(request)).await
    }

    /// Takes an upstream service of `owner`, or of the caller, from behind the proxy.
    pub async fn delete_upstream(
        &self,
        id: &UpstreamId,
        owner: Option<&Owner>,
    ) -> Result<(), ClientError> {
        let call = self.request(Method::DELETE, &["cocoons", id.as_str()])?;
        let call = match owner {
            Some(owner) => call.query(&[("owner", owner.as_str())]),
            None => call,
        };
        self.fetch_bytes(call).await.map(drop)
    }

    /// An address that opens an upstream service of the caller in a browser, once.
    pub async fn enter_upstream(&self, id: &UpstreamId) -> Result<UpstreamTicket, ClientError> {
        self.fetch(self.request(Method::POST, &["cocoons", id.as_str(), "ticket"])?).await
    }
}
