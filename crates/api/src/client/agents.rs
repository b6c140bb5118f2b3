//! What agents have at a node: the sandboxes in which they run, the way to ask one as if it were a model,
//! and tabs that can be looked into, with the upstream services whose pages they show.

use super::events::Events;
use super::{ANSWER_LIMIT, BROWSER_LIMIT, Client, ClientError, STREAM_LIMIT};
use crate::chat::{ChatCompletion, ChatError, ChatRequest};
use crate::debug::{
    ConsoleData, ConsoleFilters, DebugTabs, NetworkData, NetworkFilters, PairingCode, Reveal,
    TabToken, Wait,
};
use crate::federation::{ChangeFederation, DrivenSessions, FederationChange, FederationView};
use crate::problem::{ErrorCode, Problem};
use crate::sandbox::{
    CreateSandbox, EndedSandbox, ExecEvent, ExecSandbox, SandboxFile, SandboxList, SandboxView,
};
use crate::session::{SessionView, SwitchDebug};
use crate::upstream::{PutUpstream, UpstreamId, UpstreamList, UpstreamTicket, UpstreamView};
use baton_session::Owner;
use reqwest::{Method, RequestBuilder};

impl Client {
    /// Makes a sandbox, which is ready for commands.
    pub async fn create_sandbox(
        &self,
        request: &CreateSandbox,
    ) -> Result<SandboxView, ClientError> {
        let call = self.request(Method::POST, &["api", "sandboxes"])?;
        self.fetch(call.timeout(BROWSER_LIMIT).json(request)).await
    }

    /// The caller's sandboxes.
    pub async fn list_sandboxes(&self) -> Result<SandboxList, ClientError> {
        self.fetch(self.request(Method::GET, &["api", "sandboxes"])?).await
    }

    /// A sandbox, by its id or a unique prefix of it.
    pub async fn fetch_sandbox(&self, id: &str) -> Result<SandboxView, ClientError> {
        self.fetch(self.request(Method::GET, &["api", "sandboxes", id])?).await
    }

    /// Ends a sandbox. What it held of a session is written back when this returns.
    pub async fn delete_sandbox(&self, id: &str) -> Result<EndedSandbox, ClientError> {
        let call = self.request(Method::DELETE, &["api", "sandboxes", id])?;
        self.fetch(call.timeout(BROWSER_LIMIT)).await
    }

    /// Runs a command in a sandbox. Dropping what this returns ends the command.
    pub async fn exec_sandbox(
        &self,
        id: &str,
        request: &ExecSandbox,
    ) -> Result<SandboxRun, ClientError> {
        let call = self.request(Method::POST, &["api", "sandboxes", id, "exec"])?;
        let call = call.timeout(STREAM_LIMIT).json(request);
        let begun = tokio::time::timeout(ANSWER_LIMIT, call.send()).await;
        let begun = begun.map_err(|_| ClientError::TimedOut { url: self.base.clone() })?;
        let response = begun.map_err(|source| self.unreachable(source))?;
        if !response.status().is_success() {
            return Err(self.refused(response).await);
        }
        Ok(SandboxRun(Events::new(self.clone(), response)))
    }

    /// Reads a file of a sandbox.
    pub async fn read_sandbox_file(&self, id: &str, path: &str) -> Result<Vec<u8>, ClientError> {
        self.fetch_bytes(self.sandbox_file(Method::GET, id, path)?.timeout(BROWSER_LIMIT)).await
    }

    /// Writes a file of a sandbox, whole or not at all.
    pub async fn write_sandbox_file(
        &self,
        id: &str,
        path: &str,
        bytes: Vec<u8>,
    ) -> Result<(), ClientError> {
        let call = self.sandbox_file(Method::PUT, id, path)?.timeout(BROWSER_LIMIT);
        self.fetch_bytes(call.body(bytes)).await.map(drop)
    }

    fn sandbox_file(
        &self,
        method: Method,
        id: &str,
        path: &str,
    ) -> Result<RequestBuilder, ClientError> {
        let call = self.request(method, &["api", "sandboxes", id, "files"])?;
        Ok(call.query(&SandboxFile { path: path.to_owned() }))
    }
}

/// A command that runs in a sandbox, until this is dropped.
#[derive(Debug)]
pub struct SandboxRun(Events);

impl SandboxRun {
    /// What it does next; none when its end was told, or the node ended.
    pub async fn next(&mut self) -> Result<Option<ExecEvent>, ClientError> {
        match self.0.next().await? {
            Some(event) => self.0.understood(&event.data).map(Some),
            None => Ok(None),
        }
    }
}

impl Client {
    /// Asks an agent, and waits for its whole answer. Dropping the wait ends the agent.
    pub async fn ask_agent(&self, request: &ChatRequest) -> Result<ChatCompletion, ClientError> {
        let call = self.request(Method::POST, &["v1", "chat", "completions"])?;
        let response = call.timeout(STREAM_LIMIT).json(request).send().await;
        let response = response.map_err(|source| self.unreachable(source))?;
        let status = response.status();
        let body = response.bytes().await.map_err(|source| self.unreachable(source))?;
        if status.is_success() {
            let not_understood =
                |source| ClientError::NotUnderstood { url: self.base.clone(), source };
            return serde_json::from_slice(&body).map_err(not_understood);
        }
        Err(match problem(&body) {
            Some(problem) => ClientError::Problem(Box::new(problem)),
            None => ClientError::NotANode { url: self.base.clone(), status: status.as_u16() },
        })
    }
}

/// A refusal in OpenAI's shape, in ours.
fn problem(body: &[u8]) -> Option<Problem> {
    let ChatError { error } = serde_json::from_slice(body).ok()?;
    let code = ErrorCode::ALL.iter().find(|code| code.as_str() == error.code)?;
    Some(Problem::new(*code, error.message))
}

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
