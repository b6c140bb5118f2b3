//! The guide to carrying sessions, typed as it stands on two machines, with a browser at each of them.

use crate::machines::{Machine, Machines};
use crate::notes::eventually;
use axum::Router;
use axum::http::{HeaderMap, header};
use axum::response::{Html, IntoResponse, Redirect};
use axum::routing::get;
use baton_playground::{Site, victims};
use baton_testing::skip;
use rcgen::{CertificateParams, KeyPair};
use serde_json::Value;
use std::fs;
use tokio::net::TcpListener;

const GUIDE: &str = include_str!("../../../../docs/guide/carry.md");

/// The sections that a reader goes through who has a key, and no provider and no tunnel.
const SECTIONS: [&str; 3] =
    ["With keys and certificates of your own", "Move a session", "One of them holds it"];

/// Those of a reader who sits at both machines.
const SHORT: [&str; 3] = ["Let them know each other", "Move a session", "One of them holds it"];

/// Where the server listens for peers, as the guide has it.
const PEERS: u16 = 7421;

/// How a session is brought back.
const RESUME: &str = "baton sessions resume shop";

fn is_resume((_, line): &(&str, String)) -> bool {
    line == RESUME
}

/// The commands of a section, in their order, each with the machine on which it is typed.
fn commands(section: &str) -> Vec<(&'static str, String)> {
    let (_, text) = GUIDE.split_once(&format!("\n## {section}\n")).unwrap();
    let text = text.split("\n## ").next().unwrap().replace("\\\n", " ");
    let typed = text.lines().filter_map(|line| {
        let (machine, command) = line.split_once("$ ")?;
        let machine = ["laptop", "server"].into_iter().find(|known| *known == machine)?;
        Some((machine, command.to_owned()))
    });
    typed.collect()
}

/// A reader of the guide, who sits at both machines.
struct Reader {
    machines: Machines,
    /// Where the session is signed in, for as long as somebody reads.
    _site: Site,
    /// The fingerprint that was looked at last.
    fingerprint: String,
    /// The invitation that was printed last.
    invitation: String,
}

impl Reader {
    /// What the guide takes for granted: a session on the laptop, and a certificate for the server.
    fn begin(mut machines: Machines) -> Self {
        let listener = machines.server.listen();
        listener.set_nonblocking(true).unwrap();
        let site = Site::on(TcpListener::from_std(listener).unwrap(), shop()).unwrap();
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(["server.example.org".to_owned()]).unwrap();
        let certificate = params.self_signed(&key).unwrap().pem();
        fs::write(machines.server.home().join("tls.crt"), &certificate).unwrap();
        fs::write(machines.server.home().join("tls.key"), key.serialize_pem()).unwrap();
        let trusted = machines.laptop.home().join("server.crt");
        fs::write(&trusted, certificate).unwrap();
        machines.laptop.set("SSL_CERT_FILE", trusted);
        let port = site.url("/").unwrap().port().unwrap();
        let (fingerprint, invitation) = (String::new(), String::new());
        let reader = Self { machines, _site: site, fingerprint, invitation };
        let open = format!("baton open http://shop.example.org:{port}/login --name shop");
        said(&reader.machines.laptop, &open);
        reader
    }

    fn machine(&self, name: &str) -> &Machine {
        if name == "laptop" { &self.machines.laptop } else { &self.machines.server }
    }

    /// Types a line of the guide, with what differs from reader to reader in its place.
    async fn types(&mut self, name: &str, line: &str) -> String {
        let line = line.replace("a1b2 c3d4 …", &self.fingerprint);
        let line = line.replace("BATON-…", &self.invitation);
        let machine = self.machine(name);
        if line.starts_with("baton serve ") {
            machine.starts(&line);
            eventually("the node of the server is ready", async || {
                machine.data().join("node.json").exists()
            })
            .await;
            return String::new();
        }
        let said = said(machine, &line);
        if line.starts_with("baton keys create ") {
            fs::write(self.machines.laptop.home().join("server.key"), &said).unwrap();
        } else if line.starts_with("baton peers invite --listen ") {
            let invitation = said.trim().strip_prefix("baton peers join ").unwrap();
            invitation.clone_into(&mut self.invitation);
        } else if line.starts_with("baton peers invite --card ") {
            let card = "server.invitation";
            let [from, to] = [&self.machines.server, &self.machines.laptop].map(Machine::home);
            fs::copy(from.join(card), to.join(card)).unwrap();
        } else if line == "baton peers list" {
            let first = said.lines().next().unwrap();
            first.strip_prefix("fingerprint").unwrap().trim().clone_into(&mut self.fingerprint);
        }
        said
    }

    /// How the session stands on a machine, and what its tab shows.
    fn shows(&self, name: &str) -> (String, String) {
        let shown = said(self.machine(name), "baton sessions show shop --json");
        let shown: Value = serde_json::from_str(&shown).unwrap();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        (text(&shown["state"]), text(&shown["tabs"][0]["title"]))
    }

    /// How many browsers run on a machine.
    fn browsers(&self, name: &str) -> usize {
        let running = victims::naming(self.machine(name).data());
        let is_browser = |pid: &&u32| {
            let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let words = String::from_utf8_lossy(&words).into_owned();
            words.contains("--user-data-dir=") && !words.contains("--type=")
        };
        running.iter().filter(is_browser).count()
    }
}

/// The value of the cookie of who is signed in.
const ADA: &str = "ada-5f1c0d9e7b2a4c68";

/// A shop that knows who is signed in by a cookie that no script sees.
fn shop() -> Router {
    let login = async || {
        let cookie = format!("sid={ADA}; HttpOnly; Path=/; Max-Age=99999");
        ([(header::SET_COOKIE, cookie)], Redirect::to("/")).into_response()
    };
    let home = async |headers: HeaderMap| {
        let cookie = headers.get(header::COOKIE).and_then(|value| value.to_str().ok());
        let title = if cookie.and_then(|it| it.strip_prefix("sid=")) == Some(ADA) {
            "signed in"
        } else {
            "signed out"
        };
        Html(format!("<title>{title}</title>"))
    };
    Router::new().route("/", get(home)).route("/login", get(login))
}

/// The session runs on a machine, and its tab says that it is signed in: a page has no title yet when it is
/// just there.
async fn is_signed_in(reader: &Reader, name: &str) {
    let signed_in = ("active".to_owned(), "signed in".to_owned());
    eventually(&format!("it is signed in on {name}"), async || reader.shows(name) == signed_in)
        .await;
}

/// What a command answers, which has to succeed.
fn said(machine: &Machine, line: &str) -> String {
    let output = machine.types(line);
    let [out, err] = [&output.stdout, &output.stderr].map(|said| String::from_utf8_lossy(said));
    assert!(output.status.success(), "{line}: {}\n{out}\n{err}\n{}", output.status, machine.log());
    out.into_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_machines_follow_the_guide_to_its_end() {
    follow(SECTIONS).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_machines_know_each_other_by_two_commands_and_follow_the_guide_to_its_end() {
    follow(SHORT).await;
}

async fn follow(sections: [&str; 3]) {
    let machines = match Machines::start() {
        Ok(machines) => machines,
        Err(why) => skip!("{why}"),
    };
    let mut reader = Reader::begin(machines);
    let wire = reader.machines.server.overhears(PEERS);
    let lines: Vec<_> = sections.into_iter().flat_map(commands).collect();
    let way_there = lines.iter().position(is_resume).unwrap() + 1;
    for (name, line) in &lines[..way_there] {
        reader.types(name, line).await;
    }
    assert!(lines[way_there..].iter().any(is_resume));
    for (name, line) in &lines[way_there..] {
        let resumed = reader.types(name, line).await;
        if line == RESUME {
            assert!(resumed.starts_with("server saved the session"), "{}", resumed);
        }
    }
    is_signed_in(&reader, "laptop").await;
    assert_eq!(reader.shows("server").0, "closed");
    assert_eq!((reader.browsers("laptop"), reader.browsers("server")), (1, 0));
    if sections == SHORT {
        // All of it went over the wire, and whoever listened there has nothing of it. Words of a few letters would be
        // found in what is sealed as well, by chance.
        assert!(wire.len() > 10_000, "found {} bytes", wire.len());
        for secret in [&reader.invitation, ADA, "signed in", "HTTP/1.1"] {
            assert!(!wire.holds(secret), "{secret} was on the wire");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_machine_that_was_not_heard_says_what_was_taken_over_as_soon_as_it_hears_of_it() {
    let machines = match Machines::start() {
        Ok(machines) => machines,
        Err(why) => skip!("{why}"),
    };
    let mut reader = Reader::begin(machines);
    let lines: Vec<_> = SECTIONS.into_iter().flat_map(commands).collect();
    let way_there = lines.iter().position(is_resume).unwrap();
    for (name, line) in &lines[..way_there] {
        reader.types(name, line).await;
    }
    // It cannot reach the laptop, whose browser runs on until that hears of it.
    let resumed = reader.types("server", RESUME).await;
    let told = "laptop held the session and does not answer: taken over as it was saved last";
    assert!(resumed.starts_with(told), "{}", resumed);
    assert_eq!(reader.shows("server").0, "active");
    assert_eq!(reader.shows("laptop").0, "active");
    let status = said(&reader.machines.laptop, "baton sync status");
    assert!(status.contains("server took it over"), "{status}");
    assert!(status.ends_with("1 taken over by a peer: saved and closed here\n"), "{status}");
    eventually("its browser here has ended", async || reader.shows("laptop").0 == "closed").await;
    assert_eq!((reader.browsers("laptop"), reader.browsers("server")), (0, 1));
    is_signed_in(&reader, "server").await;
}
