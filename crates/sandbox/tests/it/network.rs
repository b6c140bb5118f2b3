//! What a sandbox reaches, and what it does not.

#![allow(clippy::print_stdout, reason = "whoever runs a test reads it")]

use super::fixture::{label, made, removed, sandbox, says, sh, spec};
use baton_sandbox::local::{LocalProvider, Tools};
use baton_sandbox::{Allowed, Ended, InitCommand, Network, Provider as _, Sandbox, SandboxError};
use baton_testing::skip;
use futures_util::StreamExt;
use std::os::unix::fs::PermissionsExt as _;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;

/// A service on the loopback of this machine, which greets whoever connects.
async fn service() -> u16 {
    service_at("127.0.0.1").await
}

/// The same at another address of it.
async fn service_at(address: &str) -> u16 {
    let listener = TcpListener::bind((address, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            stream.write_all(b"welcome\n").await.unwrap();
        }
    });
    port
}

async fn with(network: Network) -> Box<dyn Sandbox> {
    let mut spec = spec();
    spec.network = network;
    made(&spec).await
}

fn allowed(text: &str) -> Vec<Allowed> {
    vec![text.parse().unwrap()]
}

/// Connects from inside, and tells what is heard.
async fn hears(sandbox: &dyn Sandbox, host: &str, port: u16) -> Result<String, String> {
    let line = format!("exec bash -c 'exec 3<>/dev/tcp/{host}/{port} && head -1 <&3'");
    let done = sh(sandbox, &line).await;
    match done.ended {
        Ended::Code(0) => Ok(done.output),
        _ => Err(done.errors),
    }
}

#[tokio::test]
async fn without_a_network_there_is_only_the_own_loopback() {
    let port = service().await;
    let sandbox = sandbox().await;
    for host in ["127.0.0.1", "10.0.2.2", "host", "1.1.1.1"] {
        hears(&*sandbox, host, port).await.unwrap_err();
    }
    assert_eq!(
        says(
            &*sandbox,
            "ls /sys/class/net 2>/dev/null; cut -d: -f1 /proc/net/dev | tail -n +3 | tr -d ' '"
        )
        .await,
        "lo"
    );
    let own = "python3 -c 'import socket; s=socket.create_server((\"127.0.0.1\",0)); c=socket.create_connection(s.getsockname()); print(\"own\")'";
    assert_eq!(says(&*sandbox, own).await, "own");
}

#[tokio::test]
async fn the_loopback_of_this_machine_is_reached_on_allowed_ports_only() {
    let (open, closed) = (service().await, service().await);
    for kind in [Network::Listed, Network::Public] {
        let sandbox = with(kind(allowed(&format!("host:{open}")))).await;
        assert_eq!(hears(&*sandbox, "10.0.2.2", open).await.unwrap(), "welcome\n");
        assert_eq!(hears(&*sandbox, "host", open).await.unwrap(), "welcome\n");
        // Where its programs look for it, as they do outside.
        assert_eq!(hears(&*sandbox, "127.0.0.1", open).await.unwrap(), "welcome\n");
        for host in ["host", "127.0.0.1"] {
            hears(&*sandbox, host, closed).await.unwrap_err();
        }
    }
    let sandbox = with(Network::Public(Vec::new())).await;
    for host in ["host", "127.0.0.1"] {
        hears(&*sandbox, host, open).await.unwrap_err();
    }
}

#[tokio::test]
async fn what_connects_to_a_handed_port_comes_to_the_holder_and_nothing_else_goes_anywhere() {
    let here = service().await;
    let sandbox = with(Network::Handed(vec![3128, 3000])).await;
    let mut connections = sandbox.connections().unwrap();
    assert!(sandbox.connections().is_none(), "they are told once");
    for asked in [3000, 3128] {
        let heard = hears(&*sandbox, "127.0.0.1", asked);
        let serve = async {
            let (port, mut stream) = connections.next().await.unwrap();
            stream.write_all(format!("from {port}\n").as_bytes()).await.unwrap();
        };
        let (heard, ()) = tokio::join!(heard, serve);
        assert_eq!(heard.unwrap(), format!("from {asked}\n"));
    }
    for host in ["127.0.0.1", "10.0.2.2", "host", "1.1.1.1"] {
        hears(&*sandbox, host, here).await.unwrap_err();
    }
    let devices = "cut -d: -f1 /proc/net/dev | tail -n +3 | tr -d ' '";
    assert_eq!(says(&*sandbox, devices).await, "lo");
    // As many as there are at once come one after the other, and none is lost.
    let many = "for n in $(seq 300); do (exec bash -c 'exec 3<>/dev/tcp/127.0.0.1/3000 && head -1 <&3') & done; wait";
    let (heard, ()) = tokio::join!(says(&*sandbox, many), async {
        for _ in 0..300 {
            let (_, mut stream) = connections.next().await.unwrap();
            stream.write_all(b"one\n").await.unwrap();
        }
    });
    assert_eq!(heard.lines().filter(|line| *line == "one").count(), 300);
    sandbox.remove().await.unwrap();
    assert!(connections.next().await.is_none(), "they end with the sandbox");
}

#[tokio::test]
async fn private_networks_are_refused_at_once() {
    let sandbox = with(Network::Public(Vec::new())).await;
    for host in
        ["10.1.2.3", "192.168.1.1", "172.16.0.1", "169.254.169.254", "100.64.0.1", "168.63.129.16"]
    {
        let error = hears(&*sandbox, host, 80).await.unwrap_err();
        assert!(error.contains("No route to host") || error.contains("refused"), "{host}: {error}");
    }
    assert_eq!(says(&*sandbox, "cat /etc/resolv.conf").await, "nameserver 10.0.2.3");
}

/// Says that this process is the one in a network of the story's own.
const WITHIN: &str = "BATON_TEST_OWN_NETWORK";
/// Makes that network, in which this machine has a public address.
const MAKE: &str = "
ip link set lo up
ip link add here type veth peer name there
ip address add 11.7.0.1/16 dev here
ip link set here up
ip link set there up
echo 'the network is made'
exec \"$@\"
";
/// What is said at the end of the story.
const TOLD: &str = "the public address of this machine was refused";

#[test]
fn a_public_address_of_this_machine_is_none_of_the_internet() {
    if std::env::var_os(WITHIN).is_some() {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        return runtime.unwrap().block_on(ask_for_own_address());
    }
    if !rustix::process::geteuid().is_root() {
        skip!("only root makes a sandbox in a network of its own");
    }
    let mut command = std::process::Command::new("unshare");
    command.args(["--net", "sh", "-ec", MAKE, "sh"]).arg(std::env::current_exe().unwrap());
    command.args(["--exact", "network::a_public_address_of_this_machine_is_none_of_the_internet"]);
    let told = command.arg("--nocapture").env(WITHIN, "1").output().unwrap();
    let [said, why] =
        [told.stdout, told.stderr].map(|said| String::from_utf8_lossy(&said).into_owned());
    if !said.contains("the network is made") {
        skip!("no network of its own can be made: {why}");
    }
    assert!(told.status.success() && said.contains(TOLD), "{said}{why}");
}

async fn ask_for_own_address() {
    let (open, closed) = (service_at("0.0.0.0").await, service_at("0.0.0.0").await);
    let sandbox = with(Network::Public(allowed(&format!("11.7.0.1:{open}")))).await;
    assert_eq!(hears(&*sandbox, "11.7.0.1", open).await.unwrap(), "welcome\n");
    let error = hears(&*sandbox, "11.7.0.1", closed).await.unwrap_err();
    assert!(error.contains("No route to host") || error.contains("refused"), "{error}");
    println!("{TOLD}");
}

#[tokio::test]
async fn the_network_is_whole_when_a_sandbox_is_ready() {
    let sandbox = with(Network::Public(Vec::new())).await;
    // An address that comes later is a change, at which a browser drops what it is loading.
    let addresses = says(&*sandbox, "cat /proc/net/if_inet6").await;
    assert!(addresses.lines().all(|line| line.ends_with(" lo")), "{addresses}");
}

/// Makes a sandbox whose packets this script should pass on.
async fn made_with_slirp(script: &str) -> Result<Box<dyn Sandbox>, SandboxError> {
    let folder = tempfile::tempdir().unwrap();
    let slirp = folder.path().join("slirp4netns");
    std::fs::write(&slirp, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&slirp, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut path = folder.path().as_os_str().to_owned();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap());
    let program = env!("CARGO_BIN_EXE_baton-sandbox-guest").into();
    let init = InitCommand { program, args: Vec::new() };
    let label = format!("{}slirp", label());
    let provider = LocalProvider::new(Tools::find(&path).unwrap(), init, &label);
    let mut spec = spec();
    spec.network = Network::Public(Vec::new());
    provider.create(&spec).await
}

#[tokio::test]
async fn a_sandbox_is_ready_when_its_network_is_and_not_at_the_first_word() {
    let fails = r#"echo WARNING; echo 'open("/dev/net/tun")' >&2; exit 1"#;
    let error = made_with_slirp(fails).await.expect_err("a sandbox without its network");
    let SandboxError::NotStarted { reason } = &error else { panic!("{error:?}") };
    assert_eq!(reason, r#"no network: open("/dev/net/tun")"#);
    let sandbox = made_with_slirp("echo WARNING; printf 1; exec cat").await.unwrap();
    removed(sandbox).await.unwrap();
}

#[tokio::test]
async fn the_rules_cannot_be_changed_from_inside() {
    let port = service().await;
    let sandbox = with(Network::Listed(allowed("203.0.113.7:443"))).await;
    for line in [
        "nft flush ruleset",
        "unshare -Ur nft flush ruleset",
        "nft list ruleset",
        "ip link add d0 type dummy",
    ] {
        assert_ne!(sh(&*sandbox, line).await.ended, Ended::Code(0), "{line}");
    }
    hears(&*sandbox, "host", port).await.unwrap_err();
    // Without names there is nobody to ask for one.
    assert_eq!(says(&*sandbox, "cat /etc/resolv.conf").await, "");
}

#[test]
fn what_is_allowed_is_an_address_and_a_port() {
    for text in ["203.0.113.7", "203.0.113.0/24", "203.0.113.7:443", "host:8080", "0.0.0.0/0:443"] {
        assert_eq!(text.parse::<Allowed>().unwrap().to_string(), text);
    }
    assert_eq!("203.0.113.9/24".parse::<Allowed>().unwrap().to_string(), "203.0.113.0/24");
    let wrong =
        ["", "host", "host:0", "host:x", "example.com", "1.2.3", "1.2.3.4/33", "1.2.3.4:70000"];
    for text in wrong {
        text.parse::<Allowed>().unwrap_err();
    }
    insta::assert_snapshot!("host".parse::<Allowed>().unwrap_err(), @r#"expected an IPv4 address or network with or without a port, or host:PORT for a port of this machine; found "host""#);
}
