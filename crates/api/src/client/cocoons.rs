//! Operations on cocoons.

use super::Client;
use super::error::ClientError;
use crate::cocoon::{CocoonId, CocoonList, CocoonTicket, CocoonView, PutCocoon};
use baton_session::Owner;
use reqwest::Method;

impl Client {
    /// The caller's cocoons.
    pub async fn list_cocoons(&self) -> Result<CocoonList, ClientError> {
        self.fetch(self.request(Method::GET, &["cocoons"])?).await
    }

    /// Names a cocoon, or says something else of it.
    pub async fn put_cocoon(
        &self,
        id: &CocoonId,
        request: &PutCocoon,
    ) -> Result<CocoonView, ClientError> {
        self.fetch(self.request(Method::PUT, &["cocoons", id.as_str()])?.json(request)).await
    }

    /// Takes a cocoon of `owner`, or of the caller, from behind the proxy.
    pub async fn delete_cocoon(
        &self,
        id: &CocoonId,
        owner: Option<&Owner>,
    ) -> Result<(), ClientError> {
        let call = self.request(Method::DELETE, &["cocoons", id.as_str()])?;
        let call = match owner {
            Some(owner) => call.query(&[("owner", owner.as_str())]),
            None => call,
        };
        self.fetch_bytes(call).await.map(drop)
    }

    /// An address that opens a cocoon of the caller in a browser, once.
    pub async fn enter_cocoon(&self, id: &CocoonId) -> Result<CocoonTicket, ClientError> {
        self.fetch(self.request(Method::POST, &["cocoons", id.as_str(), "ticket"])?).await
    }
}
