//! Two machines with a network between them and nowhere else: namespaces of the kernel, each with a host
//! name, a home and an address of its own.

use assert_cmd::cargo::cargo_bin;
use baton_playground::victims;
use rustix::net::sockopt::set_socket_recv_buffer_size_force;
use rustix::net::{AddressFamily, RecvFlags, SocketFlags, SocketType, eth, recv, socket_with};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::fs::{self, File};
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use tempfile::TempDir;

/// The network of the two. To whoever asks it is one of the internet, and it ends at the other machine.
const PREFIX: &str = "20.7.42";

/// How much may wait for who overhears, in bytes.
const WAITING: usize = 32 << 20;

/// A laptop, and a server that is called `server.example.org` and `shop.example.org`.
pub(crate) struct Machines {
    pub(crate) laptop: Machine,
    pub(crate) server: Machine,
}

/// A machine, and somebody who types on it.
pub(crate) struct Machine {
    home: TempDir,
    /// Whoever keeps its namespaces.
    holder: Child,
    settings: Vec<(String, PathBuf)>,
}

impl Machines {
    /// Starts both; or says why that cannot be done here.
    pub(crate) fn start() -> Result<Self, String> {
        if !rustix::process::geteuid().is_root() {
            return Err("only root can make networks".to_owned());
        }
        let (laptop, server) = (Machine::start("laptop")?, Machine::start("server")?);
        let link = format!(
            "link add wire netns {} type veth peer name wire netns {}",
            laptop.holder.id(),
            server.holder.id()
        );
        ip(&mut Command::new("ip"), &link)?;
        for (machine, host) in [(&laptop, 2), (&server, 1)] {
            for words in
                [format!("address add {PREFIX}.{host}/24 dev wire"), "link set wire up".to_owned()]
            {
                ip(machine.enter().arg("ip"), &words)?;
            }
        }
        Ok(Self { laptop, server })
    }
}

/// What somebody hears who sits between two machines.
#[derive(Clone, Default)]
pub(crate) struct Overheard(Arc<Mutex<Vec<u8>>>);

impl Overheard {
    /// How many bytes.
    pub(crate) fn len(&self) -> usize {
        self.0.lock().unwrap().len()
    }

    /// Whether they hold these.
    pub(crate) fn holds(&self, text: &str) -> bool {
        self.0.lock().unwrap().windows(text.len()).any(|part| part == text.as_bytes())
    }
}

/// Whether a frame of Ethernet holds a segment of TCP over IPv4 to a port or from it.
fn is_of(port: u16, frame: &[u8]) -> bool {
    let Some(packet) = frame.get(14..).filter(|packet| packet.get(9) == Some(&6)) else {
        return false;
    };
    let head = usize::from(packet[0] & 0x0f) * 4;
    let ports = packet.get(head..head + 4).unwrap_or_default();
    ports.chunks(2).any(|found| found == port.to_be_bytes())
}

/// Runs `ip` with these words behind what is there.
fn ip(command: &mut Command, words: &str) -> Result<(), String> {
    let done = command.args(words.split(' ')).output().map_err(|error| format!("ip: {error}"))?;
    if done.status.success() {
        return Ok(());
    }
    Err(format!("ip {words}: {}", String::from_utf8_lossy(&done.stderr)))
}

impl Machine {
    fn start(name: &str) -> Result<Self, String> {
        let home = tempfile::Builder::new().prefix("baton-").tempdir().unwrap();
        let hosts =
            format!("127.0.0.1 localhost {name}\n{PREFIX}.1 server.example.org shop.example.org\n");
        fs::write(home.path().join("hosts"), hosts).unwrap();
        let script = "mount --bind hosts /etc/hosts && ip link set lo up &&
            echo \"$0\" > /proc/sys/kernel/hostname && echo ready && exec sleep infinity";
        let mut holder = Command::new("unshare")
            .args(["--net", "--uts", "--mount", "sh", "-c", script, name])
            .current_dir(home.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("unshare: {error}"))?;
        // It says that it is ready, or ends.
        let mut said = std::io::BufReader::new(holder.stdout.take().unwrap());
        let mut line = String::new();
        std::io::BufRead::read_line(&mut said, &mut line).unwrap();
        let machine = Self { home, holder, settings: Vec::new() };
        if line == "ready\n" { Ok(machine) } else { Err(machine.why()) }
    }

    /// Why it did not start.
    fn why(mut self) -> String {
        let mut why = String::new();
        let stderr = self.holder.stderr.as_mut().unwrap();
        std::io::Read::read_to_string(stderr, &mut why).unwrap();
        format!("no namespaces: {why}")
    }

    /// Where a user of it is.
    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    /// The data folder of its node.
    pub(crate) fn data(&self) -> PathBuf {
        self.home.path().join("data")
    }

    /// With a file that a variable names.
    pub(crate) fn set(&mut self, variable: &str, file: PathBuf) {
        self.settings.push((variable.to_owned(), file));
    }

    /// A listener on its address.
    pub(crate) fn listen(&self) -> TcpListener {
        let network = File::open(format!("/proc/{}/ns/net", self.holder.id())).unwrap();
        let address: Ipv4Addr = format!("{PREFIX}.1").parse().unwrap();
        // A thread of its own, which ends in that network: no other one sees it.
        let listening = std::thread::spawn(move || {
            let kind = Some(LinkNameSpaceType::Network);
            move_into_link_name_space(network.as_fd(), kind).unwrap();
            TcpListener::bind((address, 0)).unwrap()
        });
        listening.join().unwrap()
    }

    /// Everything that goes over its wire from now on to a port or from it, in both directions.
    pub(crate) fn overhears(&self, port: u16) -> Overheard {
        let network = File::open(format!("/proc/{}/ns/net", self.holder.id())).unwrap();
        let overheard = Overheard::default();
        let heard = overheard.clone();
        let (started, listens) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let kind = Some(LinkNameSpaceType::Network);
            move_into_link_name_space(network.as_fd(), kind).unwrap();
            let (family, kind) = (AddressFamily::PACKET, SocketType::RAW);
            let socket = socket_with(family, kind, SocketFlags::CLOEXEC, Some(eth::IP)).unwrap();
            set_socket_recv_buffer_size_force(&socket, WAITING).unwrap();
            started.send(()).unwrap();
            let mut frame = vec![0; 128 << 10];
            while let Ok((length, _)) = recv(&socket, &mut frame[..], RecvFlags::empty()) {
                if is_of(port, &frame[..length]) {
                    heard.0.lock().unwrap().extend_from_slice(&frame[..length]);
                }
            }
        });
        listens.recv().unwrap();
        overheard
    }

    /// Types a line, and waits until it has ended.
    pub(crate) fn types(&self, line: &str) -> Output {
        self.shell(line).stdin(Stdio::null()).output().unwrap()
    }

    /// Types a line in a terminal that stays open.
    pub(crate) fn starts(&self, line: &str) {
        let log = File::create(self.home.path().join("log")).unwrap();
        let child = self
            .shell(&format!("exec {line}"))
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn();
        // It ends with the machine.
        drop(child.unwrap());
    }

    /// What was said there since.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.home.path().join("log")).unwrap_or_default()
    }

    fn shell(&self, line: &str) -> Command {
        let baton = cargo_bin("baton");
        let path = std::env::join_paths(
            std::iter::once(baton.parent().unwrap().to_owned())
                .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
        );
        let mut command = self.enter();
        for (name, _) in std::env::vars_os() {
            if name.as_encoded_bytes().starts_with(b"BATON_") && name != "BATON_LOG" {
                command.env_remove(name);
            }
        }
        command
            .args(["sh", "-c", line])
            .current_dir(self.home.path())
            .env("PATH", path.unwrap())
            .env("HOME", self.home.path())
            .env("TMPDIR", self.home.path())
            .env("BATON_DATA", self.data())
            .envs(self.settings.iter().map(|(name, file)| (name, file)));
        command
    }

    fn enter(&self) -> Command {
        let mut command = Command::new("nsenter");
        let (target, wd) = (self.holder.id().to_string(), self.home.path());
        command.args(["--target", &target, "--net", "--uts", "--mount"]);
        command.arg(format!("--wd={}", wd.display()));
        command
    }
}

impl Drop for Machine {
    /// Nobody of it is left behind.
    fn drop(&mut self) {
        victims::naming(self.home.path()).into_iter().for_each(victims::kill);
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}
