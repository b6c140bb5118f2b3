//! A provider on this machine, and sandboxes that are easy to talk to.

use baton_sandbox::local::{LocalProvider, Tools};
use baton_sandbox::{
    Command, Ended, InitCommand, Limits, Network, Process, Provider, Sandbox, SandboxError,
    SandboxSpec,
};
use std::collections::BTreeMap;
use std::io::{Seek, Write};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// How long a command of a test may take.
const LIMIT: Duration = Duration::from_mins(1);

/// What a command did.
#[derive(Debug, PartialEq, Eq)]
pub struct Done {
    pub ended: Ended,
    pub output: String,
    pub errors: String,
}

/// The one of this process: a new one removes the groups in which nothing runs yet.
pub fn provider() -> &'static LocalProvider {
    static PROVIDER: LazyLock<LocalProvider> = LazyLock::new(|| {
        let tools = Tools::find(&std::env::var_os("PATH").unwrap()).unwrap();
        let program = env!("CARGO_BIN_EXE_baton-sandbox-guest").into();
        LocalProvider::new(tools, InitCommand { program, args: Vec::new() }, &label())
    });
    &PROVIDER
}

/// A label of this process, so that tests that run at once do not sweep each other's groups.
pub fn label() -> String {
    format!("test{}", std::process::id())
}

pub fn spec() -> SandboxSpec {
    static MADE: AtomicU32 = AtomicU32::new(0);
    SandboxSpec {
        name: format!("s{}", MADE.fetch_add(1, Ordering::Relaxed)),
        mounts: Vec::new(),
        env: BTreeMap::new(),
        files: BTreeMap::new(),
        network: Network::None,
        limits: Limits::default(),
    }
}

pub async fn sandbox() -> Box<dyn Sandbox> {
    made(&spec()).await
}

pub async fn made(spec: &SandboxSpec) -> Box<dyn Sandbox> {
    provider().create(spec).await.unwrap()
}

/// Runs a line of the shell.
pub async fn sh(sandbox: &dyn Sandbox, line: &str) -> Done {
    let process = sandbox.start(&Command::shell(line)).await.unwrap();
    finish(process, b"").await
}

/// What a line of the shell writes, when it ends well.
pub async fn says(sandbox: &dyn Sandbox, line: &str) -> String {
    let done = sh(sandbox, line).await;
    assert_eq!(done.ended, Ended::Code(0), "{line}: {}{}", done.output, done.errors);
    done.output.trim_end().to_owned()
}

/// Gives a process its input, and waits for all of its output and its end.
pub async fn finish(mut process: Process, input: &[u8]) -> Done {
    let sender = process.input.take();
    let (mut output, mut errors) = (Vec::new(), Vec::new());
    let all = async {
        let write = async {
            if let Some(mut sender) = sender {
                // What has ended reads no more.
                let _ = sender.write_all(input).await;
            }
        };
        let read = process.output.read_to_end(&mut output);
        let complain = process.errors.read_to_end(&mut errors);
        let ((), read, complain) = tokio::join!(write, read, complain);
        read.and(complain).unwrap();
    };
    tokio::time::timeout(LIMIT, all).await.expect("a command that ends its output");
    let ended = tokio::time::timeout(LIMIT, process.ended()).await.expect("a command that ends");
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Done { ended, output: text(output), errors: text(errors) }
}

pub async fn run(sandbox: &dyn Sandbox, command: &Command, input: &[u8]) -> Done {
    finish(sandbox.start(command).await.unwrap(), input).await
}

/// Unpacks an archive of these bytes.
pub async fn unpack(sandbox: &dyn Sandbox, archive: &[u8], path: &str) -> Result<(), String> {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(archive).unwrap();
    file.rewind().unwrap();
    sandbox.unpack(file, path).await.unwrap()
}

pub async fn removed(sandbox: Box<dyn Sandbox>) -> Result<(), SandboxError> {
    sandbox.remove().await
}
