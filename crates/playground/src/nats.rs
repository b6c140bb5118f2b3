//! A real server of NATS on loopback, in a folder of its own: with users, with a certificate, and with an end when a
//! test wants one.
//!
//! The one idea: it keeps its port. Who was connected finds it again where it was, after it was killed.

use anyhow::{Context as _, Result, bail};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tempfile::TempDir;
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep};

/// How long it may take to listen.
const START_LIMIT: Duration = Duration::from_secs(30);
/// How often it is looked whether it does.
const PAUSE: Duration = Duration::from_millis(20);

/// The user that may do everything, and its password.
const USER: (&str, &str) = ("baton", "correct horse");
/// The user that may say and hear nothing of Baton's.
const MUTE: (&str, &str) = ("mute", "battery staple");

/// A server that runs, or did. It is killed when it is dropped.
pub struct Nats {
    program: PathBuf,
    folder: TempDir,
    /// Certificate and key (PEM).
    tls: Option<(PathBuf, PathBuf)>,
    port: u16,
    process: Option<Child>,
}

impl Nats {
    /// The program, if it is there: on the PATH, or where `cargo xtask setup` unpacks it.
    pub fn find() -> Option<PathBuf> {
        let unpacked = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/tools/nats/usr/sbin");
        let paths = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::env::split_paths(&paths).chain(["/usr/sbin".into(), unpacked.into()]);
        folders.map(|folder| folder.join("nats-server")).find(|program| program.is_file())
    }

    /// Starts one on a free port; `tls` are a certificate and its key (PEM), without which it speaks in the clear.
    pub async fn start(program: PathBuf, tls: Option<(&str, &str)>) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("baton-nats-").tempdir()?;
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).map(|()| path)
        };
        let tls = match tls {
            Some((certificate, key)) => {
                Some((write("tls.crt", certificate)?, write("tls.key", key)?))
            }
            None => None,
        };
        for (name, (user, password)) in [("baton.creds", USER), ("mute.creds", MUTE)] {
            write(name, &format!("{user}:{password}\n"))?;
        }
        write("wrong.creds", "baton:wrong\n")?;
        let mut server = Self { program, folder, tls, port: 0, process: None };
        server.restart().await?;
        Ok(server)
    }

    /// Where it is, as a setting says it.
    pub fn url(&self) -> String {
        let scheme = if self.tls.is_some() { "tls" } else { "nats" };
        format!("{scheme}://127.0.0.1:{}", self.port)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.port).into()
    }

    /// The file with the credentials of the user that may do everything.
    pub fn credentials(&self) -> PathBuf {
        self.folder.path().join("baton.creds")
    }

    /// That of one who is let in, and may say and hear nothing of Baton's.
    pub fn mute_credentials(&self) -> PathBuf {
        self.folder.path().join("mute.creds")
    }

    /// That of one who is not let in.
    pub fn wrong_credentials(&self) -> PathBuf {
        self.folder.path().join("wrong.creds")
    }

    /// User and password of the one who may do everything.
    pub fn user(&self) -> (String, String) {
        (USER.0.to_owned(), USER.1.to_owned())
    }

    /// Kills it with SIGKILL: every connection breaks off.
    pub async fn kill(&mut self) -> Result<()> {
        if let Some(mut process) = self.process.take() {
            process.kill().await?;
        }
        Ok(())
    }

    /// Stops it with SIGSTOP: every connection stands, and nothing comes.
    pub fn freeze(&self) -> Result<()> {
        Ok(baton_testing::freeze(self.pid()?)?)
    }

    /// Lets it go on.
    pub fn wake(&self) -> Result<()> {
        Ok(baton_testing::wake(self.pid()?)?)
    }

    fn pid(&self) -> Result<u32> {
        self.process.as_ref().and_then(Child::id).context("the server does not run")
    }

    /// Starts it again, at the port that it had.
    pub async fn restart(&mut self) -> Result<()> {
        self.kill().await?;
        let config = self.folder.path().join("nats.conf");
        std::fs::write(&config, self.config())?;
        let mut command = Command::new(&self.program);
        command.arg("--config").arg(&config).stdin(Stdio::null()).stdout(Stdio::null());
        let log = std::fs::File::create(self.folder.path().join("log"))?;
        let process = command.stderr(log).kill_on_drop(true).spawn();
        self.process = Some(process.context("nats-server could not be started")?);
        let end = Instant::now() + START_LIMIT;
        let ports = self.folder.path().join(format!("nats-server_{}.ports", self.pid()?));
        while Instant::now() < end {
            if let Some(port) = port(&ports) {
                self.port = port;
                std::fs::remove_file(ports)?;
                return Ok(());
            }
            sleep(PAUSE).await;
        }
        let log = std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        bail!("expected nats-server to listen within {START_LIMIT:?}; it said: {log}")
    }

    fn config(&self) -> String {
        let port = if self.port == 0 { "-1".to_owned() } else { self.port.to_string() };
        let folder = self.folder.path().display();
        let tls = self.tls.as_ref().map(|(certificate, key)| {
            let (certificate, key) = (certificate.display(), key.display());
            format!("tls {{ cert_file: \"{certificate}\", key_file: \"{key}\" }}\n")
        });
        let [(user, password), (mute, silence)] = [USER, MUTE];
        format!(
            "listen: \"127.0.0.1:{port}\"\nports_file_dir: \"{folder}\"\n{}authorization {{ users = [\n\
             {{ user: \"{user}\", password: \"{password}\" }},\n\
             {{ user: \"{mute}\", password: \"{silence}\", permissions: {{ publish: \"other.>\", subscribe: \
             \"other.>\" }} }}\n] }}\n",
            tls.unwrap_or_default()
        )
    }
}

/// The port that the server wrote down, once it has.
fn port(path: &Path) -> Option<u16> {
    let text = std::fs::read_to_string(path).ok()?;
    let said: serde_json::Value = serde_json::from_str(&text).ok()?;
    let url: url::Url = said["nats"][0].as_str()?.parse().ok()?;
    url.port()
}
