//! A test node: a data folder of its own, and the node that lives in it.
//!
//! Nothing outlives its user: whatever way that ends, [`TestNode::clear`] ends the keepers with their
//! browsers and the node, and removes the folder.

use crate::victims;
use anyhow::{Context as _, Result, bail, ensure};
use baton_api::{Client, OpenSession};
use baton_browser::keeper::{self, Role};
use baton_session::SessionId;
use baton_store::data::{DataFolder, NodeFile};
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tempfile::TempDir;
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep, timeout};
use url::Url;

/// How long the node may take until it is ready.
const START_LIMIT: Duration = Duration::from_mins(1);
/// How long the node may take to end when it is asked to.
const END_LIMIT: Duration = Duration::from_mins(1);

/// What is set for every node of the machine: how much is told, and whether it lets Chromium have its sandbox, as a
/// container does not.
const OF_THE_MACHINE: [&str; 2] = ["BATON_LOG", "BATON_BROWSER_SANDBOX"];

/// A data folder and its node.
pub struct TestNode {
    folder: TempDir,
    program: PathBuf,
    settings: Vec<(OsString, OsString)>,
    user: Option<u32>,
    host: Option<String>,
    data: DataFolder,
    address: String,
    node: Option<Node>,
}

impl Drop for TestNode {
    /// A test node that was not cleared, because its user failed, leaves no process behind either.
    ///
    /// A story that fails says what its node and its keepers said last: a failure that comes once in a
    /// thousand runs is only understood from that.
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.say_what_was_logged();
        }
        victims::naming(self.folder.path()).into_iter().for_each(victims::kill);
    }
}

/// The running node.
struct Node {
    process: Child,
    client: Client,
    pid: u32,
}

impl TestNode {
    /// An empty test node, whose nodes are run by `program`: the `baton` binary.
    pub fn build(program: impl Into<PathBuf>) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("baton-").tempdir()?;
        let data = DataFolder::at(&folder.path().join("data"))?;
        Ok(Self {
            folder,
            program: program.into(),
            // Whoever waits for something asks more often than anybody else does.
            settings: vec![("BATON_REQUESTS_PER_MINUTE".into(), "1000000".into())],
            user: None,
            host: None,
            data,
            address: "127.0.0.1:0".to_owned(),
            node: None,
        })
    }

    /// With a setting for the nodes to come, such as `BATON_SESSION_SNAPSHOT_INTERVAL`.
    #[must_use]
    pub fn with(mut self, variable: &str, value: impl Into<OsString>) -> Self {
        self.settings.push((variable.into(), value.into()));
        self
    }

    /// Whose nodes and browsers run as another user, by number; only root can do that.
    pub fn of_user(mut self, user: u32) -> Result<Self> {
        std::os::unix::fs::chown(self.folder.path(), Some(user), Some(user))?;
        self.user = Some(user);
        Ok(self)
    }

    /// Whose nodes to come run on a machine of this name, as containers do that share a volume; only root can
    /// do that.
    #[must_use]
    pub fn on_host(mut self, name: &str) -> Self {
        self.host = Some(name.to_owned());
        self
    }

    /// The folder in which all of it is.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The data folder.
    pub fn data(&self) -> &DataFolder {
        &self.data
    }

    /// The folder of the board that agents in this test node share.
    pub fn board(&self) -> PathBuf {
        self.folder.path().join("federation")
    }

    /// Starts the node and waits until it is ready.
    pub async fn start_node(&mut self) -> Result<()> {
        let log = File::options().create(true).append(true).open(self.log_file())?;
        let mut command = self.command();
        // What a developer has set for nodes of their own, a database for instance, is not for this one.
        for (name, _) in std::env::vars_os() {
            let is_ours = name.as_encoded_bytes().starts_with(b"BATON_");
            if is_ours && !OF_THE_MACHINE.iter().any(|kept| name == *kept) {
                command.env_remove(name);
            }
        }
        if let Some(user) = self.user {
            command.uid(user).gid(user);
        }
        let mut process = command
            .arg("--data")
            .arg(self.data.path())
            .args(["serve", "--listen", &self.address])
            // A browser that is killed leaves temporary files behind, which must go with the test node.
            .env("TMPDIR", self.folder.path())
            .env("FEDERATION_DIR", self.board())
            .envs(self.settings.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            // A Ctrl-C is for the user of the test node, who then clears up in order.
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .context("could not start the node")?;
        let file = self.wait_until_ready(&mut process).await?;
        let key = fs::read_to_string(self.data.admin_key())
            .context("expected the local admin's key in the data folder")?;
        let client = Client::new(file.url, key.trim().into())?;
        self.node = Some(Node { process, client, pid: file.pid });
        Ok(())
    }

    /// What runs the program, on the machine whose name it is to have.
    fn command(&self) -> Command {
        let Some(host) = &self.host else { return Command::new(&self.program) };
        let mut command = Command::new("unshare");
        let renamed = "echo \"$0\" > /proc/sys/kernel/hostname && exec \"$@\"";
        command.args(["--uts", "sh", "-c", renamed, host]).arg(&self.program);
        command
    }

    /// The nodes to come listen where this one does, for clients and peers that only know its address.
    pub fn keep_address(&mut self) -> Result<()> {
        let port = self.client()?.base().port().context("expected a port of the node")?;
        self.address = format!("127.0.0.1:{port}");
        Ok(())
    }

    /// A client of the node.
    pub fn client(&self) -> Result<&Client> {
        Ok(&self.node()?.client)
    }

    /// Opens a session with a tab for each of these addresses; all else is as usual.
    pub async fn open(&self, name: &str, urls: impl IntoIterator<Item = Url>) -> Result<SessionId> {
        let request = OpenSession::new(name.parse()?, urls);
        Ok(self.client()?.open_session(&request).await?.session.id)
    }

    /// Kills the node (SIGKILL); browsers and keepers live on.
    pub async fn kill_node(&mut self) -> Result<()> {
        victims::kill_all(&[("node", self.node_pid()?)]).await?;
        self.bury_node().await
    }

    /// Kills the node, and the keepers and browsers of these sessions.
    pub async fn kill_everybody(&mut self, sessions: &[SessionId]) -> Result<()> {
        let mut doomed = vec![("node", self.node_pid()?)];
        for session in sessions {
            doomed.extend(self.holders(*session).await?);
        }
        victims::kill_all(&doomed).await?;
        self.bury_node().await
    }

    /// Asks the node to end (SIGTERM) and waits until it has.
    pub async fn stop_node(&mut self) -> Result<()> {
        victims::ask_to_end(self.node_pid()?)?;
        self.bury_node().await
    }

    /// The processes that hold a session's browser: the keeper and the browser.
    pub async fn holders(&self, session: SessionId) -> Result<[(&'static str, u32); 2]> {
        let link = keeper::connect(&self.keeper_socket(session), Role::Client).await?;
        let browser = link.welcome.browser_pid.context("expected a browser of our own")?;
        Ok([("keeper", link.welcome.pid), ("browser", browser)])
    }

    /// Ends a session's browser as its user would, so that it writes all that it knows, and waits
    /// until it and its keeper are gone.
    pub async fn close_browser(&self, session: SessionId) -> Result<()> {
        let holders = self.holders(session).await?;
        let link = keeper::connect(&self.keeper_socket(session), Role::Node).await?;
        keeper::close(&link.connection).await?;
        victims::wait_for_the_end(&holders, END_LIMIT).await
    }

    /// Takes a session's files away, so that it is resumed as on another machine. They are moved, not
    /// removed: the helpers of a browser that was just killed may still be writing.
    pub fn take_files_away(&self, session: SessionId) -> Result<()> {
        let away = tempfile::Builder::new().prefix("away-").tempdir_in(self.folder.path())?.keep();
        fs::rename(self.data.session(session), away.join("files"))?;
        Ok(())
    }

    /// The node's process.
    pub fn node_pid(&self) -> Result<u32> {
        Ok(self.node()?.pid)
    }

    /// Where the keeper of a session listens.
    pub fn keeper_socket(&self, session: SessionId) -> PathBuf {
        self.data.socket(session)
    }

    /// Forgets the node, which is dead.
    pub async fn bury_node(&mut self) -> Result<()> {
        if let Some(mut node) = self.node.take() {
            timeout(END_LIMIT, node.process.wait()).await.context("the node is still there")??;
        }
        Ok(())
    }

    /// Ends everything and removes the folder.
    pub async fn clear(mut self) -> Result<()> {
        if let Some(node) = &mut self.node {
            node.process.start_kill().context("could not end the node")?;
        }
        self.bury_node().await?;
        self.end_keepers().await;
        let folder = self.folder.path().to_owned();
        drop(self);
        ensure!(!folder.exists(), "could not remove {}", folder.display());
        Ok(())
    }

    /// What the node has logged.
    pub fn log(&self) -> String {
        fs::read_to_string(self.log_file()).unwrap_or_default()
    }

    /// The end of the node's log, for an error.
    pub fn log_tail(&self) -> String {
        end_of(&self.log())
    }

    /// The end of what the keeper of a session logged, its browser's words among it.
    pub fn keeper_log_tail(&self, session: SessionId) -> String {
        end_of(&fs::read_to_string(self.data.keeper_log(session)).unwrap_or_default())
    }

    #[expect(clippy::print_stderr, reason = "a test that fails says why")]
    fn say_what_was_logged(&self) {
        eprintln!("the node logged last:\n{}", self.log_tail());
        for entry in fs::read_dir(self.data.sessions()).into_iter().flatten().flatten() {
            let Some(session) = entry.file_name().to_str().and_then(|name| name.parse().ok())
            else {
                continue;
            };
            eprintln!("the keeper of {session} logged last:\n{}", self.keeper_log_tail(session));
        }
    }

    async fn wait_until_ready(&self, process: &mut Child) -> Result<NodeFile> {
        let end = Instant::now() + START_LIMIT;
        loop {
            // A node that was killed leaves its file behind, so only our child's counts.
            let file = NodeFile::read(&self.data)?;
            if let Some(file) = file.filter(|file| Some(file.pid) == process.id()) {
                return Ok(file);
            }
            if let Some(status) = process.try_wait()? {
                bail!("expected the node to start, found that it ended with {status}");
            }
            if Instant::now() >= end {
                bail!("expected the node to be ready within {START_LIMIT:?}");
            }
            sleep(Duration::from_millis(20)).await;
        }
    }

    /// Ends every keeper that still lives in this test node, and its browser with it.
    async fn end_keepers(&self) {
        for socket in fs::read_dir(self.data.run()).into_iter().flatten().flatten() {
            // A keeper that is dead already cannot be reached, and needs no ending.
            if let Ok(link) = keeper::connect(&socket.path(), Role::Node).await {
                let _ = keeper::kill(&link.connection).await;
            }
        }
    }

    fn node(&self) -> Result<&Node> {
        self.node.as_ref().context("the node does not run")
    }

    fn log_file(&self) -> PathBuf {
        self.folder.path().join("node.log")
    }
}

/// The last lines of a log.
fn end_of(log: &str) -> String {
    let lines: Vec<&str> = log.lines().collect();
    lines[lines.len().saturating_sub(15)..].join("\n")
}
