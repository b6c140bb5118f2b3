//! A client of MCP servers (Model Context Protocol) that speak over stdin and stdout.
//!
//! The one idea: it hides nothing. What a server says comes back as the JSON that it said, and a
//! failure tells what it wrote on stderr. Every wait has a limit.

mod wire;

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};
use std::fmt;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tokio::process::{Child, Command};
use tokio::time::timeout;
use wire::Wire;

/// How long a server may take for one answer.
const ANSWER_LIMIT: Duration = Duration::from_mins(2);
/// How long a server may take to end.
const END_LIMIT: Duration = Duration::from_secs(20);
/// How many pages a list may have.
const MAX_PAGES: usize = 100;

/// A running server, and the only client that it has. It ends when this is dropped.
pub struct McpClient {
    server: Child,
    wire: Arc<Wire>,
}

/// What a server answered instead of a result.
#[derive(Debug, Clone, PartialEq)]
pub struct McpError {
    /// The code of JSON-RPC, such as -32602.
    pub code: i64,
    /// What went wrong.
    pub message: String,
    /// More of it, or null.
    pub data: Value,
}

impl fmt::Display for McpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the server refused with {}: {}", self.code, self.message)
    }
}

impl std::error::Error for McpError {}

impl McpClient {
    /// Starts a server; its stdin, stdout and stderr are ours.
    pub fn spawn(mut command: Command) -> Result<Self> {
        let mut server = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .context("could not start the MCP server")?;
        let pipes = (server.stdin.take(), server.stdout.take(), server.stderr.take());
        let (Some(input), Some(output), Some(errors)) = pipes else {
            bail!("expected three pipes to the MCP server");
        };
        Ok(Self { server, wire: Wire::start(input, output, errors) })
    }

    /// Lets `answer` answer when the server asks the user something (`elicitation/create`): it gets the
    /// parameters and gives the result, such as `{"action": "accept", "content": {}}`. Without it the
    /// server is told that there is nobody to ask.
    pub fn answer_elicitations(&self, answer: impl Fn(&Value) -> Value + Send + Sync + 'static) {
        self.wire.answer_elicitations(Box::new(answer));
    }

    /// Shakes hands: the server's answer to our capabilities and the version of the protocol.
    pub async fn initialize(&self, capabilities: Value, version: &str) -> Result<Value> {
        let client = json!({ "name": "baton-playground", "version": env!("CARGO_PKG_VERSION") });
        let params = json!({
            "protocolVersion": version, "capabilities": capabilities, "clientInfo": client,
        });
        let answer = self.request("initialize", params).await?;
        self.notify("notifications/initialized", json!({})).await?;
        Ok(answer)
    }

    /// All tools, also where they come in pages.
    pub async fn list_tools(&self) -> Result<Vec<Value>> {
        let mut tools = Vec::new();
        let mut params = json!({});
        for _ in 0..MAX_PAGES {
            let mut page = self.request("tools/list", params).await?;
            match page["tools"].take() {
                Value::Array(found) => tools.extend(found),
                other => bail!("expected a list of tools, found {other}"),
            }
            match page["nextCursor"].take() {
                Value::Null => return Ok(tools),
                cursor => params = json!({ "cursor": cursor }),
            }
        }
        bail!("expected at most {MAX_PAGES} pages of tools, found more")
    }

    /// Calls a tool. A tool that failed by its own account (`isError`) has answered all the same.
    pub async fn call(&self, name: &str, arguments: Value) -> Result<Value> {
        self.request("tools/call", json!({ "name": name, "arguments": arguments })).await
    }

    /// Asks the server, and waits for its result; what it refuses is an [`McpError`].
    pub async fn request(&self, method: &str, params: Value) -> Result<Value> {
        let answer = timeout(ANSWER_LIMIT, self.wire.request(method, params)).await;
        let answer = answer.with_context(|| format!("no answer within {ANSWER_LIMIT:?}"));
        answer.and_then(|answer| answer).with_context(|| {
            let said = self.wire.errors();
            format!("{method} failed; on stderr the server said: {}", said.trim())
        })
    }

    /// Tells the server something that it does not answer.
    pub async fn notify(&self, method: &str, params: Value) -> Result<()> {
        let message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        timeout(ANSWER_LIMIT, self.wire.send(&message)).await.context("the server does not read")?
    }

    /// What the server has told without being asked, oldest first.
    pub fn notifications(&self) -> Vec<Value> {
        self.wire.notifications()
    }

    /// The server's process.
    pub fn pid(&self) -> Option<u32> {
        self.server.id()
    }

    /// Closes the server's stdin, which asks it to end, and waits until it has.
    pub async fn close(mut self) -> Result<ExitStatus> {
        self.wire.close().await;
        let ended = timeout(END_LIMIT, self.server.wait()).await;
        Ok(ended.context("the MCP server did not end when its input was closed")??)
    }

    /// Ends the server with SIGKILL.
    pub async fn kill(mut self) -> Result<()> {
        timeout(END_LIMIT, self.server.kill()).await.context("the MCP server does not end")??;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers the first three requests, asks back in between, and ends badly.
    const TOY: &str = r#"
        read -r _; echo '{"jsonrpc":"2.0","id":1,"result":{"serverInfo":{"name":"toy"}}}'
        read -r _
        read -r _
        echo 'not JSON at all'
        echo '{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"hello"}}'
        echo '{"jsonrpc":"2.0","id":"a","method":"roots/list"}'; read -r roots
        echo '{"jsonrpc":"2.0","id":"b","method":"elicitation/create","params":{"message":"sure?"}}'
        read -r asked
        printf '{"jsonrpc":"2.0","id":2,"result":{"content":[%s,%s]}}\n' "$roots" "$asked"
        read -r _; echo '{"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"no such tool"}}'
        read -r _; echo 'out of words' >&2
    "#;

    #[tokio::test]
    async fn it_asks_is_asked_and_tells_why_there_is_no_answer() {
        let mut command = Command::new("sh");
        command.args(["-c", TOY]);
        let client = McpClient::spawn(command).unwrap();
        client.answer_elicitations(|question| json!({ "action": question["message"] }));
        let hello = client.initialize(json!({}), "2025-06-18").await.unwrap();
        assert_eq!(hello["serverInfo"]["name"], "toy");
        let called = client.call("look", json!({})).await.unwrap();
        assert_eq!(called["content"][0]["result"], json!({ "roots": [] }));
        assert_eq!(called["content"][1]["result"], json!({ "action": "sure?" }));
        assert_eq!(client.notifications()[0]["params"]["data"], "hello");
        let refused = client.call("none", json!({})).await.unwrap_err();
        assert_eq!(refused.downcast_ref::<McpError>().unwrap().code, -32602);
        let ended = client.list_tools().await.unwrap_err();
        assert!(format!("{ended:#}").contains("out of words"), "{ended:#}");
        assert!(client.close().await.unwrap().success());
    }
}
