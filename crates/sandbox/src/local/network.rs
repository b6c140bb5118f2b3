//! The network of a sandbox: slirp4netns passes its packets on as connections of this machine, within rules
//! of nftables.

use super::{Tools, drain, timed_out};
use crate::network::{Allowed, Destination, HOST, Network};
use crate::provider::SandboxError;
use baton_egress::NOT_PUBLIC;
use nix::ifaddrs::getifaddrs;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::net::Ipv4Addr;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, ChildStdin, Command};

/// Where slirp4netns answers questions about names.
pub(super) const NAMES: &str = "10.0.2.3";

/// The rules for a sandbox. A refusal comes at once, so that nothing in it waits.
///
/// They are set in the sandbox's network namespace from outside of its user namespace, so nothing in it can
/// change them. `own` are addresses of this machine, which are none of the internet, public or not.
pub(super) fn rules(network: &Network, own: &BTreeSet<Ipv4Addr>) -> String {
    let mut lines: Vec<String> =
        vec!["oifname \"lo\" accept".into(), "ct state established,related accept".into()];
    let is_public = matches!(network, Network::Public(_));
    if is_public {
        lines.extend(["udp", "tcp"].map(|kind| format!("ip daddr {NAMES} {kind} dport 53 accept")));
    }
    lines.extend(network.allowed().iter().map(allow));
    if is_public {
        let own: Vec<String> = own.iter().map(ToString::to_string).collect();
        let own = Some(own.join(", ")).filter(|own| !own.is_empty());
        let others = NOT_PUBLIC.map(|(network, bits)| format!("{network}/{bits}"));
        let refused = [others.join(", ")].into_iter().chain(own);
        lines.extend(refused.map(|addresses| {
            format!("ip daddr {{ {addresses} }} reject with icmp type admin-prohibited")
        }));
        lines.push("meta nfproto ipv4 accept".into());
    }
    lines.push("reject with icmpx type admin-prohibited".into());
    let mut text = String::from(
        "table inet baton {\n  chain output {\n    type filter hook output priority 0; policy drop;\n",
    );
    for line in lines {
        // Writing to a text cannot fail.
        let _ = writeln!(text, "    {line}");
    }
    text.push_str("  }\n}\n");
    text
}

/// The addresses of this machine now. What listens at all of them is for its network, and no sandbox is of that.
pub(super) fn own_addresses() -> Result<BTreeSet<Ipv4Addr>, SandboxError> {
    let all = getifaddrs().map_err(SandboxError::system("list the addresses of this machine"))?;
    let address = |of: Option<nix::sys::socket::SockaddrStorage>| Some(of?.as_sockaddr_in()?.ip());
    Ok(all.filter_map(|one| address(one.address)).collect())
}

fn allow(allowed: &Allowed) -> String {
    let to = match allowed.to {
        Destination::Host => HOST.to_string(),
        Destination::Addresses(net) => net.to_string(),
    };
    match allowed.port {
        Some(port) => format!("ip daddr {to} meta l4proto {{ tcp, udp }} th dport {port} accept"),
        None => format!("ip daddr {to} accept"),
    }
}

/// How long the network may take to come up.
const LIMIT: Duration = Duration::from_secs(10);

/// The process that passes on the packets of a sandbox.
#[derive(Debug)]
pub(super) struct Slirp {
    process: Child,
    /// It ends when this closes, with us at the latest.
    _alive: Option<ChildStdin>,
}

impl Slirp {
    /// Gives the network namespace of a process a network; `reaches_host` tells whether that has this
    /// machine's loopback, too, which is then for the rules to forbid.
    pub(super) async fn start(
        tools: &Tools,
        name: &str,
        pid: u32,
        reaches_host: bool,
    ) -> Result<Self, SandboxError> {
        let namespace = |kind| format!("/proc/{pid}/ns/{kind}");
        let mut command = Command::new(&tools.slirp);
        // Its input and output tell when it has to end, and that it is ready.
        command.args(["--configure", "--mtu=65520", "--enable-seccomp"]);
        command.args(["--exit-fd=0", "--ready-fd=1"]);
        if !reaches_host {
            command.arg("--disable-host-loopback");
        }
        command.arg(format!("--userns-path={}", namespace("user")));
        command.args(["--netns-type=path".to_owned(), namespace("net"), "tap0".into()]);
        let mut process = command
            .env_clear()
            // For a person who looks at what runs on the machine.
            .env("BATON_SANDBOX", name)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(SandboxError::system("start slirp4netns"))?;
        let alive = process.stdin.take();
        let ready = tokio::time::timeout(LIMIT, is_ready(&mut process)).await;
        ready.map_err(|_| timed_out("a network for the sandbox", LIMIT))??;
        drain(process.stderr.take());
        Ok(Self { process, _alive: alive })
    }

    /// Ends it and waits.
    pub(super) async fn end(mut self) {
        if let Err(error) = self.process.kill().await {
            tracing::debug!(%error, "slirp4netns had ended");
        }
    }
}

/// How much slirp4netns may say before it says that it is ready, in bytes.
const SAID: usize = 4096;
/// What it says then, at the beginning of a line (slirp4netns(1), `--ready-fd`).
const READY: u8 = b'1';

/// Waits until slirp4netns says that the network is there. Its own words come the same way, such as a warning of
/// each start; so no other byte counts, and an end without that one is a failure, which it explains.
async fn is_ready(process: &mut Child) -> Result<(), SandboxError> {
    if let Some(output) = &mut process.stdout
        && says_ready(output).await
    {
        return Ok(());
    }
    let mut reason = String::new();
    if let Some(errors) = &mut process.stderr {
        // What it says is shown as far as it can be read.
        let _ = errors.take(4096).read_to_string(&mut reason).await;
    }
    Err(SandboxError::NotStarted { reason: format!("no network: {}", reason.trim()) })
}

async fn says_ready(output: &mut (impl AsyncRead + Unpin)) -> bool {
    let mut said = output.take(SAID as u64);
    let mut before = b'\n';
    while let Ok(byte) = said.read_u8().await {
        if byte == READY && before == b'\n' {
            return true;
        }
        before = byte;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::{READY, SAID, rules, says_ready};
    use crate::network::Network;
    use std::collections::BTreeSet;

    #[test]
    fn a_sandbox_of_the_internet_is_refused_what_is_none_of_it() {
        let own = BTreeSet::from(["11.7.0.1".parse().unwrap()]);
        let all = rules(&Network::Public(Vec::new()), &own);
        let refused: Vec<&str> = all.lines().filter(|line| line.contains("ip daddr {")).collect();
        let [others, own] = refused[..] else { panic!("{all}") };
        assert!(own.contains("{ 11.7.0.1 } reject"), "{own}");
        for one in ["10.0.0.0/8", "169.254.0.0/16", "168.63.129.16/32", "224.0.0.0/3"] {
            assert!(others.contains(one), "{others}");
        }
    }

    #[tokio::test]
    async fn ready_is_what_says_so_and_no_other_word() {
        for said in ["1", "WARNING: seccomp\n1", "WARNING\n\n12"] {
            assert!(says_ready(&mut said.as_bytes()).await, "{said}");
        }
        for said in ["", "WARNING: seccomp\n", "MTU: 1500\n* DNS: 10.0.2.3\n", "ready 1"] {
            assert!(!says_ready(&mut said.as_bytes()).await, "{said}");
        }
        let late: Vec<u8> = std::iter::repeat_n(b'\n', SAID).chain([READY]).collect();
        assert!(!says_ready(&mut late.as_slice()).await);
    }
}
