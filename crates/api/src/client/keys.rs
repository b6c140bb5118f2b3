//! Operations on API keys. A `reference` is a key's id or the name of one that is not revoked.

use super::Client;
use super::error::ClientError;
use crate::key::{CreateKey, CreatedKey, KeyList};
use baton_session::Owner;
use reqwest::{Method, RequestBuilder};

impl Client {
    /// Makes a key; its secret is shown this once.
    pub async fn create_key(&self, request: &CreateKey) -> Result<CreatedKey, ClientError> {
        self.fetch(self.request(Method::POST, &["keys"])?.json(request)).await
    }

    /// The keys of `owner`, or of the caller's own.
    pub async fn list_keys(&self, owner: Option<&Owner>) -> Result<KeyList, ClientError> {
        self.fetch(of_owner(self.request(Method::GET, &["keys"])?, owner)).await
    }

    /// Revokes a key of `owner`, or of the caller's own: from now on it opens nothing.
    pub async fn revoke_key(
        &self,
        reference: &str,
        owner: Option<&Owner>,
    ) -> Result<(), ClientError> {
        let call = self.request(Method::DELETE, &["keys", reference])?;
        self.fetch_bytes(of_owner(call, owner)).await.map(drop)
    }
}

fn of_owner(call: RequestBuilder, owner: Option<&Owner>) -> RequestBuilder {
    match owner {
        Some(owner) => call.query(&[("owner", owner.as_str())]),
        None => call,
    }
}
