//! Contexts that clients made in a running browser: read once, when somebody asks for it.

use super::Hub;
use super::capture::ended;
use super::error::LiveError;
use baton_browser::capture::{Captured, Depth};
use baton_browser::keeper::{self, KeeperError, Role};
use baton_browser::live::Live;
use baton_browser::{ContextId, MadeContext};
use baton_session::{Environment, SessionId, State};
use std::time::Duration;

/// How long all of a context may take.
const LIMIT: Duration = Duration::from_mins(1);

impl Hub {
    /// The contexts that clients made in the running browser.
    pub async fn contexts(&self, id: SessionId) -> Result<Vec<MadeContext>, LiveError> {
        self.runner(id)?.live.contexts().await.map_err(|error| ended(id, error))
    }

    /// Reads all that a context holds: its cookies, its tabs, and the storage of the sites that they show.
    /// That of other sites no page of it can read, and it has no profile in which it would stand.
    pub(crate) async fn read_context(
        &self,
        id: SessionId,
        context: ContextId,
    ) -> Result<Captured, LiveError> {
        // What is given to the whole browser holds there too; who may what, and how large its pages are,
        // is the context's own.
        let environment = Environment {
            viewport: None,
            permissions: Vec::new(),
            ..self.runner(id)?.live.environment()
        };
        let known = State { environment, ..State::default() };
        let socket = self.config().data.socket(id);
        let reading = async {
            // A client beside others: it leaves with its connection, and the node's own goes on.
            let link = match keeper::connect(&socket, Role::Client).await {
                Err(KeeperError::NotRunning { .. }) => return Err(LiveError::NotActive(id)),
                link => link?,
            };
            let live = Live::start_in(context, link, known).await;
            let live = live.map_err(|error| ended(id, error))?;
            live.capture(Depth::Whole, false).await.map_err(|error| ended(id, error))
        };
        let slow = LiveError::TooSlow { what: "a context to be read", limit: LIMIT };
        tokio::time::timeout(LIMIT, reading).await.unwrap_or(Err(slow))
    }
}
