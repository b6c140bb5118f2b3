//! A client of MCP servers (Model Context Protocol) that speak over stdin and stdout: one JSON message a line,
//! in both directions.
//!
//! The one idea: it hides nothing. What a server says comes back as the JSON that it said, and a
//! failure tells what it wrote on stderr. Every wait has a limit. One task reads what the server says and hands
//! it to the request that waits for it; what the server asks is answered there at once.

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};
use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex as Lock, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::io::{
    AsyncBufRead, AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader,
};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::{Mutex, oneshot};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// How long a server may take for one answer.
const ANSWER_LIMIT: Duration = Duration::from_mins(2);
/// How long a server may take to end.
const END_LIMIT: Duration = Duration::from_mins(1);
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
    /// client answers the server that there is nobody to ask.
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

/// The longest message: pictures of pages are some megabytes.
const MAX_MESSAGE: u64 = 64 << 20;
/// How many notifications are kept; the oldest go first.
const MAX_NOTIFICATIONS: usize = 10_000;
/// How many lines of stderr are kept.
const MAX_ERRORS: usize = 200;
/// How long a line of stderr may be.
const MAX_ERROR: u64 = 16 << 10;
/// How long a server may take to read an answer of ours.
const WRITE_LIMIT: Duration = Duration::from_mins(1);
/// How long stderr may take to end after stdout did.
const ERRORS_LIMIT: Duration = Duration::from_secs(2);

/// Answers what the server asks the user.
type Elicitations = Box<dyn Fn(&Value) -> Value + Send + Sync>;

/// Both directions of the wire.
struct Wire {
    input: Mutex<Option<ChildStdin>>,
    state: Lock<State>,
}

/// What has been said so far.
#[derive(Default)]
struct State {
    asked: u64,
    /// The requests that wait for an answer, by their numbers; none once the server has ended.
    waiting: Option<HashMap<u64, oneshot::Sender<Value>>>,
    notifications: VecDeque<Value>,
    errors: VecDeque<String>,
    elicitations: Option<Arc<Elicitations>>,
}

impl Wire {
    /// Begins to read.
    fn start(input: ChildStdin, output: ChildStdout, errors: ChildStderr) -> Arc<Self> {
        let state = State { waiting: Some(HashMap::new()), ..State::default() };
        let wire = Arc::new(Self { input: Mutex::new(Some(input)), state: Lock::new(state) });
        let errors = tokio::spawn(wire.clone().read_errors(errors));
        tokio::spawn(wire.clone().read(output, errors));
        wire
    }

    fn answer_elicitations(&self, answer: Elicitations) {
        self.state().elicitations = Some(Arc::new(answer));
    }

    /// Asks, and waits for the result.
    async fn request(&self, method: &str, params: Value) -> Result<Value> {
        let (id, answer) = self.expect_answer().context("the server has ended")?;
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.send(&message).await?;
        let mut answer = answer.await.context("the server has ended")?;
        if let Some(error) = answer.get_mut("error") {
            let message = error["message"].as_str().unwrap_or_default().to_owned();
            let code = error["code"].as_i64().unwrap_or_default();
            return Err(McpError { code, message, data: error["data"].take() }.into());
        }
        Ok(answer["result"].take())
    }

    /// Writes one message.
    async fn send(&self, message: &Value) -> Result<()> {
        let mut input = self.input.lock().await;
        let input = input.as_mut().context("the server's input is closed")?;
        input.write_all(format!("{message}\n").as_bytes()).await?;
        Ok(input.flush().await?)
    }

    /// Closes the server's input.
    async fn close(&self) {
        self.input.lock().await.take();
    }

    fn notifications(&self) -> Vec<Value> {
        self.state().notifications.iter().cloned().collect()
    }

    /// What the server has written on stderr, its last lines.
    fn errors(&self) -> String {
        self.state().errors.iter().map(String::as_str).collect()
    }

    fn expect_answer(&self) -> Option<(u64, oneshot::Receiver<Value>)> {
        let mut state = self.state();
        state.asked += 1;
        let id = state.asked;
        let (sender, receiver) = oneshot::channel();
        state.waiting.as_mut()?.insert(id, sender);
        Some((id, receiver))
    }

    async fn read(self: Arc<Self>, output: ChildStdout, errors: JoinHandle<()>) {
        let mut output = BufReader::new(output);
        while let Some(line) = read_line(&mut output, MAX_MESSAGE).await {
            match serde_json::from_str::<Value>(&line) {
                Ok(message) => self.handle_message(message).await,
                Err(_) => self.note_error(format!("no message: {line}")),
            }
        }
        // On stderr the server says why it ended. A grandchild may keep it open.
        let _ = timeout(ERRORS_LIMIT, errors).await;
        self.state().waiting = None;
    }

    async fn read_errors(self: Arc<Self>, errors: ChildStderr) {
        let mut errors = BufReader::new(errors);
        while let Some(line) = read_line(&mut errors, MAX_ERROR).await {
            self.note_error(line);
        }
    }

    /// An answer goes to the request that waits for it, a question is answered, and the rest is kept.
    async fn handle_message(&self, message: Value) {
        if message.get("method").is_none() {
            let mut state = self.state();
            let waiting = state.waiting.as_mut();
            let id = message["id"].as_u64();
            if let Some(asker) = id.and_then(|id| waiting?.remove(&id)) {
                // The caller may have given up.
                let _ = asker.send(message);
            }
        } else if message.get("id").is_some() {
            let answer = self.answer(&message);
            // A server that does not read its answer shows that by not going on.
            let _ = timeout(WRITE_LIMIT, self.send(&answer)).await;
        } else {
            push(&mut self.state().notifications, message, MAX_NOTIFICATIONS);
        }
    }

    /// The answer to what the server asks.
    fn answer(&self, question: &Value) -> Value {
        // Strict clients do not read a message whose params are null.
        if question.get("params").is_some_and(Value::is_null) {
            let error = json!({ "code": -32602, "message": "expected params, or none, not null" });
            return json!({ "jsonrpc": "2.0", "id": question["id"], "error": error });
        }
        let elicitations = self.state().elicitations.clone();
        let result = match (question["method"].as_str().unwrap_or_default(), elicitations) {
            ("ping", _) => Some(json!({})),
            ("roots/list", _) => Some(json!({ "roots": [] })),
            ("elicitation/create", Some(answer)) => Some(answer(&question["params"])),
            _ => None,
        };
        let mut answer = json!({ "jsonrpc": "2.0", "id": question["id"] });
        match result {
            Some(result) => answer["result"] = result,
            None => answer["error"] = json!({ "code": -32601, "message": "nobody answers this" }),
        }
        answer
    }

    fn note_error(&self, line: String) {
        push(&mut self.state().errors, line, MAX_ERRORS);
    }

    /// What has been said is whole between any two statements that change it.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The next line with its end, or none at the end; a line that is too long comes in pieces.
async fn read_line(from: &mut (impl AsyncBufRead + Unpin), limit: u64) -> Option<String> {
    let mut line = Vec::new();
    let read = from.take(limit).read_until(b'\n', &mut line).await;
    read.ok().filter(|bytes| *bytes > 0)?;
    Some(String::from_utf8_lossy(&line).into_owned())
}

fn push<T>(queue: &mut VecDeque<T>, item: T, limit: usize) {
    if queue.len() == limit {
        queue.pop_front();
    }
    queue.push_back(item);
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
