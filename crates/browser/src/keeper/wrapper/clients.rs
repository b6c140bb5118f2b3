//! How programs come to a wrapped browser: each is a client of the multiplexer, wherever it came in.

use crate::cdp::{CdpSessionId, Connection, Transport};
use crate::keeper::client::{Connected, Input};
use crate::keeper::protocol::{KeeperError, Role};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::io::{DuplexStream, duplex, split};
use tokio::sync::{Semaphore, mpsc};

/// How many may be connected at once.
const CLIENTS: usize = 32;
/// How much of what is said may be on its way, in bytes.
const BUFFER: usize = 256 << 10;

/// Lets clients in. Cheap to clone.
#[derive(Clone)]
pub(super) struct Clients {
    inputs: mpsc::Sender<Input>,
    places: Arc<Semaphore>,
}

impl Clients {
    /// Of the loop that hears these inputs.
    pub(super) fn new(inputs: mpsc::Sender<Input>) -> Self {
        Self { inputs, places: Arc::new(Semaphore::new(CLIENTS)) }
    }

    /// Lets one in; frames are delimited by NUL on both sides.
    pub(super) async fn enter_stream(&self) -> Result<DuplexStream, KeeperError> {
        let full = |_| KeeperError::Refused {
            reason: format!("expected at most {CLIENTS} clients, found one more"),
        };
        let place = Arc::clone(&self.places).try_acquire_owned().map_err(full)?;
        let (near, far) = duplex(BUFFER);
        let (reader, writer) = split(far);
        let (reader, writer) = Transport::nul(reader, writer).split();
        let connected = Connected { role: Role::Client, reader, writer, place };
        let gone = |_| KeeperError::Refused { reason: "the browser has ended".to_owned() };
        self.inputs.send(Input::Connected(connected)).await.map_err(gone)?;
        Ok(near)
    }

    /// Lets one in.
    pub(super) async fn enter(&self) -> Result<Transport, KeeperError> {
        let (reader, writer) = split(self.enter_stream().await?);
        Ok(Transport::nul(reader, writer))
    }

    /// What the browser has open, as `Target.getTargets` describes it.
    pub(super) async fn targets(&self) -> Result<Vec<Value>, KeeperError> {
        let (connection, _events) = Connection::start(self.enter().await?);
        targets(&connection).await
    }

    /// Opens pages: the first one in the page that is there. The one at `front` comes to the front.
    pub(super) async fn open(
        &self,
        pages: &[String],
        front: Option<usize>,
    ) -> Result<(), KeeperError> {
        let (connection, _events) = Connection::start(self.enter().await?);
        let browser = connection.browser();
        let targets = targets(&connection).await?;
        let mut blank = targets.iter().find(|target| target["type"] == "page");
        let mut opened = Vec::new();
        for url in pages {
            let Some(target) = blank.take() else {
                let made = browser.call("Target.createTarget", json!({ "url": url })).await?;
                opened.push(made["targetId"].clone());
                continue;
            };
            opened.push(target["targetId"].clone());
            let attach = json!({ "targetId": target["targetId"], "flatten": true });
            let attached = browser.call("Target.attachToTarget", attach).await?;
            let session = serde_json::from_value::<CdpSessionId>(attached["sessionId"].clone());
            let session = session.map_err(|error| KeeperError::NotUnderstood {
                expected: "a session of the first page",
                found: error.to_string(),
            })?;
            connection.session(session).call("Page.navigate", json!({ "url": url })).await?;
        }
        if let Some(target) = front.and_then(|front| opened.get(front)) {
            browser.call("Target.activateTarget", json!({ "targetId": target })).await?;
        }
        Ok(())
    }
}

async fn targets(connection: &Connection) -> Result<Vec<Value>, KeeperError> {
    let mut told = connection.browser().call("Target.getTargets", json!({})).await?;
    match told["targetInfos"].take() {
        Value::Array(targets) => Ok(targets),
        other => Err(KeeperError::NotUnderstood {
            expected: "a list of targets",
            found: other.to_string().chars().take(100).collect(),
        }),
    }
}
