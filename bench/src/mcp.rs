//! What the bridge costs an agent: a call that is passed through, a start, and memory.
//!
//! The server behind the bridge answers at once, so that what is measured is the bridge alone.

use crate::process;
use crate::report::{Comparison, Figure, Ratio, Section, median};
use anyhow::{Context as _, Result, ensure};
use baton_api::OpenSession;
use baton_playground::tools::{Npm, Room};
use baton_playground::{McpClient, TestNode};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::time::Instant;
use tokio::process::Command;

/// How many calls go either way.
const CALLS: usize = 300;
/// Calls before those, which are not counted.
const WARM_UP: usize = 20;
/// How many times each program is started.
const STARTS: usize = 20;
/// The version of the protocol.
const VERSION: &str = "2025-11-25";
/// A server with one tool, which answers what it is given.
const ECHO: &str = include_str!("mcp/echo.py");

/// Measures a call through the bridge against one to the server itself, and a start against
/// agent-browser's.
pub async fn measure(baton: &Path) -> Result<Section> {
    // It is started from within the room, too.
    let baton = &baton.canonicalize()?;
    let mut test_node = TestNode::build(baton)?;
    test_node.start_node().await?;
    test_node.client()?.open_session(&OpenSession::new("shop".parse()?, [])).await?;
    let npm = Npm::install().await?;
    let room = npm.room()?;
    fs::write(room.path().join("echo.py"), ECHO)?;
    let passed = calls(baton, &test_node, &room).await?;
    let (starts, bytes) = starts(baton, &test_node, &npm, &room).await?;
    room.clear().await?;
    test_node.clear().await?;
    let figure = |what: &str, found, aim, unit| Figure { what: what.to_owned(), found, aim, unit };
    Ok(Section {
        title: "Baton between an agent and another MCP server",
        method: format!(
            "A server in Python that answers at once is called directly and through `baton mcp --with`, \
             in turn, {CALLS} times each; what counts is the median of the differences. Then memory (PSS) \
             of the bridge. `baton mcp` alone, its node running, and `agent-browser mcp` are started in \
             turn, {STARTS} times each, until they have listed their tools."
        ),
        comparisons: vec![Comparison {
            what: "start until the tools are listed, against agent-browser",
            ratio: Ratio::of(&starts),
            aim: 1.0,
            aim_is_for_the_bound: false,
        }],
        figures: vec![
            figure("a call through the bridge takes longer by", passed.longer, 2.0, "ms"),
            figure("memory of the bridge", passed.memory, 10.0, "MB"),
        ],
        medians: vec![
            ("a call through the bridge".to_owned(), format!("{:.2} ms", passed.through)),
            (
                "start of `baton mcp` until the tools are listed".to_owned(),
                time(&starts, |pair| pair.0),
            ),
            ("start of `agent-browser mcp` until then".to_owned(), time(&starts, |pair| pair.1)),
            ("list of Baton's tools".to_owned(), format!("{} bytes", bytes.0)),
            ("list of agent-browser's tools".to_owned(), format!("{} bytes", bytes.1)),
        ],
        tables: Vec::new(),
    })
}

/// What passing a call through costs.
struct Passed {
    /// Milliseconds.
    through: f64,
    longer: f64,
    /// Megabytes.
    memory: f64,
}

async fn calls(baton: &Path, test_node: &TestNode, room: &Room) -> Result<Passed> {
    let mut command = room.command("python3")?;
    command.arg("echo.py");
    let direct = connect(command).await?.0;
    let mut command = bridge(baton, test_node, room)?;
    command.args(["--with", "python3 echo.py {cdp_url}"]);
    let through = connect(command).await?.0;
    let mut pairs = Vec::new();
    for round in 0..WARM_UP + CALLS {
        let pair = (call(&through).await?, call(&direct).await?);
        if round >= WARM_UP {
            pairs.push(pair);
        }
    }
    let memory = process::memory(through.pid().context("expected the bridge to run")?)?;
    through.close().await?;
    direct.close().await?;
    Ok(Passed {
        through: median(pairs.iter().map(|pair| pair.0)),
        longer: median(pairs.iter().map(|(through, direct)| through - direct)),
        memory,
    })
}

/// Milliseconds of one call.
async fn call(client: &McpClient) -> Result<f64> {
    let begun = Instant::now();
    let result = client.call("echo", json!({"text": "hello"})).await?;
    let took = begun.elapsed().as_secs_f64() * 1e3;
    ensure!(result["content"][0]["text"] == "hello", "expected an echo, found {result}");
    Ok(took)
}

type CallPairs = Vec<(f64, f64)>;

/// Milliseconds of starts, ours and agent-browser's, and the bytes of both lists.
async fn starts(
    baton: &Path,
    test_node: &TestNode,
    npm: &Npm,
    room: &Room,
) -> Result<(CallPairs, (usize, usize))> {
    let mut pairs = CallPairs::new();
    let mut bytes = (0, 0);
    for _ in 0..STARTS {
        let (client, ours, list) = timed(bridge(baton, test_node, room)?).await?;
        client.close().await?;
        bytes.0 = list;
        let mut peer = room.command(npm.agent_browser())?;
        peer.arg("mcp");
        let (client, theirs, list) = timed(peer).await?;
        client.kill().await?;
        bytes.1 = list;
        pairs.push((ours, theirs));
    }
    Ok((pairs, bytes))
}

async fn timed(command: Command) -> Result<(McpClient, f64, usize)> {
    let begun = Instant::now();
    let (client, tools) = connect(command).await?;
    let took = begun.elapsed().as_secs_f64() * 1e3;
    Ok((client, took, Value::from(tools).to_string().len()))
}

async fn connect(command: Command) -> Result<(McpClient, Vec<Value>)> {
    let client = McpClient::spawn(command)?;
    client.initialize(json!({}), VERSION).await?;
    let tools = client.list_tools().await?;
    Ok((client, tools))
}

fn bridge(baton: &Path, test_node: &TestNode, room: &Room) -> Result<Command> {
    let mut command = room.command(baton)?;
    command.arg("--data").arg(test_node.data().path()).arg("mcp");
    Ok(command)
}

fn time(pairs: &[(f64, f64)], which: impl Fn(&(f64, f64)) -> f64) -> String {
    format!("{:.1} ms", median(pairs.iter().map(which)))
}
