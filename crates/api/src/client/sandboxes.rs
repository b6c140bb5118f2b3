//! Operations on sandboxes.

use super::error::ClientError;
use super::events::Events;
use super::{ANSWER_LIMIT, BROWSER_LIMIT, Client, STREAM_LIMIT};
use crate::sandbox::{
    CreateSandbox, EndedSandbox, ExecEvent, ExecSandbox, SandboxFile, SandboxList, SandboxView,
};
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
