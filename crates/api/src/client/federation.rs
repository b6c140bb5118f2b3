//! Operations on the board that agents share.

use super::Client;
use super::error::ClientError;
use super::events::Events;
use crate::federation::{ChangeFederation, DrivenSessions, FederationChange, FederationView};
use reqwest::Method;

impl Client {
    /// The board as it is now, and who drives which session.
    pub async fn show_federation(&self) -> Result<FederationView, ClientError> {
        self.fetch(self.request(Method::GET, &["federation"])?).await
    }

    /// Does something with the board; it is on disk when this returns.
    pub async fn change_federation(
        &self,
        request: &ChangeFederation,
    ) -> Result<FederationChange, ClientError> {
        self.fetch(self.request(Method::POST, &["federation"])?.json(request)).await
    }

    /// Who drives which session.
    pub async fn list_driven_sessions(&self) -> Result<DrivenSessions, ClientError> {
        self.fetch(self.request(Method::GET, &["federation", "sessions"])?).await
    }

    /// Follows the board: as it is now, and again whenever it changes.
    pub async fn follow_federation(&self) -> Result<FederationEvents, ClientError> {
        let call = self.request(Method::GET, &["federation", "events"])?;
        Ok(FederationEvents(self.follow(call).await?))
    }
}

/// A board that is followed, until this is dropped.
#[derive(Debug)]
pub struct FederationEvents(Events);

impl FederationEvents {
    /// The board after the next change; none when the node ends. A board that cannot be read is an
    /// error, after which one can wait on.
    pub async fn next(&mut self) -> Result<Option<FederationView>, ClientError> {
        self.0.next_of("board").await
    }
}
