//! The clients that are connected: rmcp's service, and whose each session of an older protocol is.

use super::server::Server;
use crate::context::Context;
use crate::error::NodeError;
use axum::body::Body;
use axum::extract::Request;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, Method, Response, StatusCode};
use baton_runtime::Caller;
use baton_store::blocking::finished;
use futures_util::StreamExt as _;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::session::{SessionId, SessionManager};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::sleep;

/// What names a session of an older protocol.
const SESSION: &str = "mcp-session-id";
/// How many of those sessions there are at most; rmcp ends one that rests for five minutes.
const MOST: usize = 1000;
/// And of one key, so that no key shuts out the others.
const MOST_OF_A_KEY: usize = 100;

/// How often it is looked whether the key of a stream of events was revoked.
const LOOK_PAUSE: Duration = Duration::from_secs(5);

/// Passes requests to the server. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Connections {
    service: StreamableHttpService<Server, LocalSessionManager>,
    sessions: Arc<LocalSessionManager>,
    context: Context,
    /// The key behind each session.
    keys: Arc<Mutex<HashMap<String, String>>>,
}

impl Connections {
    /// Those of a node; messages are at most `body_bytes` long.
    pub(crate) fn new(context: &Context, body_bytes: usize) -> Self {
        let sessions = Arc::new(LocalSessionManager::default());
        // Our own guard has looked at Host and Origin, and knows by which names this node is called.
        let config = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .disable_allowed_origins()
            .with_max_request_body_bytes(body_bytes)
            .with_cancellation_token(context.ending.clone());
        let context = context.clone();
        let of_each = context.clone();
        let server = move || Ok(Server::new(of_each.clone()));
        let service = StreamableHttpService::new(server, Arc::clone(&sessions), config);
        Self { service, sessions, context, keys: Arc::default() }
    }

    /// Answers a request of `caller`.
    pub(crate) async fn answer(
        &self,
        caller: Caller,
        request: Request,
    ) -> Result<Response<Body>, NodeError> {
        if let Some(id) = text(request.headers(), SESSION) {
            // A session answers the key that began it.
            let is_theirs = self.keys().get(id).is_some_and(|owner| *owner == caller.key);
            return if is_theirs {
                Ok(self.pass(caller, request).await)
            } else {
                Err(NodeError::NoMcpSession)
            };
        }
        // It may begin a session, which is counted also when the client leaves in the middle.
        let connections = self.clone();
        finished(tokio::spawn(async move { connections.open(caller, request).await }).await)?
    }

    /// Answers a request that names no session. Only rmcp knows which ones begin one.
    async fn open(&self, caller: Caller, request: Request) -> Result<Response<Body>, NodeError> {
        let key = caller.key.clone();
        let response = self.pass(caller, request).await;
        let Some(id) = text(response.headers(), SESSION).map(SessionId::from) else {
            return Ok(response);
        };
        let Err(limit) = self.count(&id, key).await else { return Ok(response) };
        if let Err(error) = self.sessions.close_session(&id).await {
            tracing::warn!(%error, "a session of the protocol was one too many and did not close");
        }
        Err(NodeError::TooManyMcpSessions { limit })
    }

    async fn pass(&self, caller: Caller, mut request: Request) -> Response<Body> {
        let id = text(request.headers(), SESSION).map(SessionId::from);
        request.extensions_mut().insert(caller.clone());
        let ends = request.method() == Method::DELETE;
        let mut response = self.service.handle(request).await.map(Body::new);
        // rmcp says that it will be done; clients warn of anything but that it is.
        if ends && response.status() == StatusCode::ACCEPTED {
            *response.status_mut() = StatusCode::NO_CONTENT;
        }
        if text(response.headers(), CONTENT_TYPE.as_str()) == Some("text/event-stream") {
            let gone = self.clone().shut_out(caller, id);
            return response.map(|events| {
                Body::from_stream(events.into_data_stream().take_until(Box::pin(gone)))
            });
        }
        response
    }

    /// Ends once the caller's key is good no longer; then its session of the protocol ends as well. A
    /// database that does not answer changes nothing.
    async fn shut_out(self, caller: Caller, id: Option<SessionId>) {
        loop {
            sleep(LOOK_PAUSE).await;
            if self.context.is_shut_out(&caller).await.unwrap_or(false) {
                break;
            }
        }
        if let Some(id) = id
            && let Err(error) = self.sessions.close_session(&id).await
        {
            tracing::debug!(%error, "a session of the protocol whose key was revoked did not close");
        }
    }

    /// Counts a session that has begun, unless there are too many: then the limit is returned.
    async fn count(&self, id: &SessionId, key: String) -> Result<(), usize> {
        let sessions = self.sessions.sessions.read().await;
        let mut keys = self.keys();
        keys.retain(|id, _| sessions.contains_key(id.as_str()));
        let theirs = keys.values().filter(|owner| **owner == key).count();
        for (found, limit) in [(theirs, MOST_OF_A_KEY), (keys.len(), MOST)] {
            if found >= limit {
                return Err(limit);
            }
        }
        keys.insert(id.to_string(), key);
        Ok(())
    }

    fn keys(&self) -> MutexGuard<'_, HashMap<String, String>> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}
