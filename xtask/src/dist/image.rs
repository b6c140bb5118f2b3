//! The image of `Containerfile`, made and run as its guide says: reached through a port of the host that leads into a
//! network of the container's own.

use super::asked::{NODE_LIMIT, demo_took, wait_for};
use super::containers::Containers;
use crate::{cargo, vscode};
use anyhow::{Context as _, Result, ensure};
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The address of the container in its network; it is one of those that are kept for examples (RFC 5737).
const INSIDE: &str = "192.0.2.2";
/// What the image's user has as its number.
const USER: u32 = 7420;

/// Makes the image, and tries what its guide promises; answers a line about it.
pub(super) fn try_it(containers: &Containers, room: &Path) -> Result<String> {
    println!("\n━━ image ━━");
    let mut build = containers.command(&["bud", "--quiet", "--pull-never", "--format", "docker"]);
    vscode::run(build.args(["--tag", "baton", "."]).current_dir(cargo::root()))?;
    let host = Host::open()?;
    let image = Image { containers, container: containers.start("baton")?, host };
    // The folder of an engine's volume stands there in the image; here it is one of this machine.
    let shown = format!("BATON_PUBLISHED=127.0.0.1:{}", image.host.port);
    let settings = ["config", "--volume", "/data-", "--env", &shown, &image.container];
    vscode::run(&mut containers.command(&settings))?;

    let volume = Volume::of(&room.join("volume"), Some(USER))?;
    let (key, mut node) = image.first_start(&volume)?;
    image.refuses_strangers(&key)?;
    image.refuses_a_second_node(&volume)?;
    let seconds = demo_took(&image.prints(&volume, &["baton", "demo"])?)?;
    image.keeps_a_session(&volume, &key, &mut node)?;
    image.says_what_is_wrong_with_a_volume(room)?;
    Ok(format!(
        "✓ image    the demo took {seconds} s; its node is reached through a port of the host"
    ))
}

/// A network of a container's own, and a port of this host's loopback that leads into it.
struct Host {
    namespace: String,
    port: u16,
    forwarder: Child,
}

impl Host {
    fn open() -> Result<Self> {
        let namespace = format!("baton-dist-{}", std::process::id());
        vscode::run(Command::new("ip").args(["netns", "add", &namespace]))?;
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let lead = format!("EXEC:ip netns exec {namespace} socat STDIO TCP\\:{INSIDE}\\:7420");
        let listen = format!("TCP-LISTEN:{port},bind=127.0.0.1,fork,reuseaddr");
        let forwarder = Command::new("socat").args([listen, lead]).stderr(Stdio::null()).spawn()?;
        let host = Self { namespace, port, forwarder };
        let inside = format!("{INSIDE}/32");
        for words in [&["link", "set", "lo", "up"][..], &["addr", "add", &inside, "dev", "lo"]] {
            vscode::run(Command::new("ip").args(["-n", &host.namespace]).args(words))?;
        }
        Ok(host)
    }

    /// Asks the node from outside; answers the status, and the body.
    fn ask(&self, path: &str, words: &[&str]) -> Result<(u16, String)> {
        let mut curl = Command::new("curl");
        curl.args([
            "--silent",
            "--noproxy",
            "*",
            "--max-time",
            "60",
            "--write-out",
            "\n%{http_code}",
        ]);
        let answer =
            curl.args(words).arg(format!("http://127.0.0.1:{}{path}", self.port)).output()?;
        let text = String::from_utf8(answer.stdout)?;
        let (body, status) = text.rsplit_once('\n').context("expected a status")?;
        Ok((status.parse()?, body.to_owned()))
    }
}

impl Host {
    /// Ends whatever runs in the network, as the end of a container does.
    fn clear(&self) {
        let left = Command::new("ip").args(["netns", "pids", &self.namespace]).output();
        let left = left.map(|found| String::from_utf8_lossy(&found.stdout).into_owned());
        let left = left.iter().flat_map(|left| left.split_whitespace());
        // What has ended by itself is not there.
        let _ = Command::new("kill").arg("-KILL").args(left).stderr(Stdio::null()).status();
    }
}

impl Drop for Host {
    /// Ends what a test left that failed. What fails to end was never there.
    fn drop(&mut self) {
        self.clear();
        let _ = self.forwarder.kill();
        let _ = self.forwarder.wait();
        let _ = Command::new("ip").args(["netns", "delete", &self.namespace]).status();
    }
}

/// A folder of this machine that a container has as `/data`.
struct Volume(PathBuf, &'static str);

impl Volume {
    /// A new folder, and whose it is: of a user, or of root.
    fn of(folder: &Path, user: Option<u32>) -> Result<Self> {
        fs::create_dir_all(folder)?;
        std::os::unix::fs::chown(folder, user, user)?;
        Ok(Self(folder.to_owned(), ""))
    }

    fn read_only(self) -> Self {
        Self(self.0, ":ro")
    }

    fn words(&self) -> [String; 1] {
        [format!("{}:/data{}", self.0.display(), self.1)]
    }
}

struct Image<'a> {
    containers: &'a Containers,
    container: String,
    host: Host,
}

impl Image<'_> {
    /// A command in the container, in its network.
    fn command(&self, volume: &Volume, words: &[&str]) -> Command {
        let run = self.containers.run(&self.container, &volume.words(), words);
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.host.namespace]).arg(run.get_program());
        command.args(run.get_args()).stdin(Stdio::null());
        command.envs(run.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command
    }

    /// What a command prints that has to succeed.
    fn prints(&self, volume: &Volume, words: &[&str]) -> Result<String> {
        let done = self.command(volume, words).stderr(Stdio::inherit()).output()?;
        let said = String::from_utf8_lossy(&done.stdout).into_owned();
        ensure!(
            done.status.success(),
            "expected {words:?} to succeed, found {}: {said}",
            done.status
        );
        Ok(said)
    }

    /// What a command says that has to fail.
    fn fails(&self, volume: &Volume, words: &[&str]) -> Result<String> {
        let done = self.command(volume, words).stdout(Stdio::null()).output()?;
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        ensure!(!done.status.success(), "expected {words:?} to fail: {said}");
        Ok(said)
    }

    /// Starts the node, and waits until the host finds it ready; answers what it printed so far, and itself.
    fn start(&self, volume: &Volume) -> Result<(PathBuf, Child)> {
        let printed = volume.0.with_extension("printed");
        let mut node = self.command(volume, &["baton", "serve"]);
        let node = node.stdout(fs::File::create(&printed)?).stderr(Stdio::null()).spawn()?;
        let ready = wait_for(|| (self.host.ask("/ready", &[]).ok()?.0 == 200).then_some(()));
        ready.with_context(|| format!("expected a node that is ready within {NODE_LIMIT:?}"))?;
        Ok((printed, node))
    }

    /// Starts the node on a new volume; answers the key that it printed.
    fn first_start(&self, volume: &Volume) -> Result<(String, Child)> {
        let (printed, node) = self.start(volume)?;
        let said = fs::read_to_string(printed)?;
        let key = said.lines().find(|line| line.starts_with("baton_"));
        let key = key.with_context(|| format!("expected a key, found {said:?}"))?.to_owned();
        let check = "{{index .Docker.Config.Healthcheck.Test 3}}";
        let check = self
            .containers
            .command(&["inspect", "--type", "image", "--format", check, "baton"])
            .output()?;
        let check = String::from_utf8(check.stdout)?;
        self.prints(volume, &["bash", "-c", check.trim_end()]).context("its health check")?;
        Ok((key, node))
    }

    fn refuses_strangers(&self, key: &str) -> Result<()> {
        let bearer = format!("Authorization: Bearer {key}");
        for (words, expected) in [
            (vec!["--header", &bearer], 200),
            (vec![], 401),
            (vec!["--header", &bearer, "--header", "Host: rebound.example"], 403),
            (vec!["--header", &bearer, "--header", "Origin: https://rebound.example"], 403),
        ] {
            let (status, body) = self.host.ask("/sessions", &words)?;
            ensure!(
                status == expected,
                "expected {expected} for {words:?}, found {status}: {body}"
            );
        }
        Ok(())
    }

    fn refuses_a_second_node(&self, volume: &Volume) -> Result<()> {
        let said = self.fails(volume, &["baton", "serve", "--listen", "0.0.0.0:7421"])?;
        ensure!(said.contains("expected no other node on /data"), "expected why, found {said}");
        Ok(())
    }

    /// A session of the host is captured when the node is told to end, and the next node has it. A key is told once.
    fn keeps_a_session(&self, volume: &Volume, key: &str, node: &mut Child) -> Result<()> {
        let bearer = format!("Authorization: Bearer {key}");
        let json = "Content-Type: application/json";
        let wish = r#"{"name": "shop", "urls": ["about:blank"]}"#;
        let words = ["--header", &bearer, "--header", json, "--data", wish];
        let (status, body) = self.host.ask("/sessions", &words)?;
        ensure!(status == 201, "expected a session, found {status}: {body}");
        let shown = format!("ws://127.0.0.1:{}/", self.host.port);
        ensure!(body.contains(&shown), "expected a cdp_url at {shown}, found {body}");
        self.prints(volume, &["baton", "stop"])?;
        let ended = wait_for(|| node.try_wait().ok().flatten());
        ensure!(
            ended.is_some_and(|status| status.success()),
            "expected a good end, found {ended:?}"
        );

        self.host.clear();
        let (printed, mut node) = self.start(volume)?;
        let (status, body) =
            self.host.ask("/sessions/shop/resume", &["--request", "POST", "--header", &bearer])?;
        ensure!(status == 200, "expected the session, found {status}: {body}");
        self.prints(volume, &["baton", "stop"])?;
        node.wait()?;
        let said = fs::read_to_string(printed)?;
        ensure!(said.is_empty(), "expected that a key is told once, found {said:?}");
        Ok(())
    }

    fn says_what_is_wrong_with_a_volume(&self, room: &Path) -> Result<()> {
        let foreign = Volume::of(&room.join("foreign"), Some(0))?;
        let read_only = Volume::of(&room.join("read-only"), Some(USER))?.read_only();
        for (volume, expected) in
            [(foreign, "chown -R 7420 /data"), (read_only, "mount it so that it can be written")]
        {
            let said = self.fails(&volume, &["baton", "serve"])?;
            ensure!(said.contains(expected), "expected to be told {expected:?}, found {said}");
        }
        Ok(())
    }
}
