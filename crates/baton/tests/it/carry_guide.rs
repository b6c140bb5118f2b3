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
const SECTIONS: [&str; 3] = ["Let them know each other", "Move a session", "One of them holds it"];

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
    site: Site,
    /// The fingerprint that was looked at last.
    fingerprint: String,
}

impl Reader {
    /// What the guide takes for granted: a session on the laptop, and a certificate for the server.
    async fn begin(mut machines: Machines) -> Self {
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
        let reader = Self { machines, site, fingerprint: String::new() };
        let open = format!("baton open http://shop.example.org:{port}/login --name shop");
        said(&reader.machines.laptop, &open);
        reader
    }

    fn machine(&self, name: &str) -> &Machine {
        if name == "laptop" { &self.machines.laptop } else { &self.machines.server }
    }

    /// Types a line of the guide, with what differs from reader to reader in its place.
    async fn types(&mut self, name: &str, line: &str) -> Said {
        let line = line.replace("a1b2 c3d4 …", &self.fingerprint);
        let machine = self.machine(name);
        if line.starts_with("baton serve ") {
            machine.starts(&line);
            eventually("the node of the server is ready", async || {
                machine.data().join("node.json").exists()
            })
            .await;
            return Said::default();
        }
        let said = said(machine, &line);
        if line.starts_with("baton keys create ") {
            fs::write(self.machines.laptop.home().join("server.key"), &said.out).unwrap();
        } else if line == "baton peers list" {
            let first = said.out.lines().next().unwrap();
            first.strip_prefix("fingerprint").unwrap().trim().clone_into(&mut self.fingerprint);
        }
        said
    }

    /// How the session stands on a machine, and what its tab shows.
    fn shows(&self, name: &str) -> (String, String) {
        let shown = said(self.machine(name), "baton sessions show shop --json");
        let shown: Value = serde_json::from_str(&shown.out).unwrap();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        (text(&shown["state"]), text(&shown["tabs"][0]["title"]))
    }

    /// How many browsers run on a machine.
    fn browsers(&self, name: &str) -> usize {
        let running = victims::naming(self.machine(name).data());
        let keepers = running.iter().filter(|pid| {
            let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let words = String::from_utf8_lossy(&words).into_owned();
            words.contains("--user-data-dir=") && !words.contains("--type=")
        });
        keepers.count()
    }
}

/// A shop that knows who is signed in by a cookie that no script sees.
fn shop() -> Router {
    let login = async || {
        let cookie = "sid=ada; HttpOnly; Path=/; Max-Age=99999";
        ([(header::SET_COOKIE, cookie)], Redirect::to("/")).into_response()
    };
    let home = async |headers: HeaderMap| {
        let cookie = headers.get(header::COOKIE).and_then(|value| value.to_str().ok());
        let title = if cookie == Some("sid=ada") { "signed in" } else { "signed out" };
        Html(format!("<title>{title}</title>"))
    };
    Router::new().route("/", get(home)).route("/login", get(login))
}

/// What a command says, which has to succeed.
fn said(machine: &Machine, line: &str) -> Said {
    let output = machine.types(line);
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{line}: {}\n{out}\n{err}\n{}", output.status, machine.log());
    Said { out: out.into_owned(), err: err.into_owned() }
}

/// What a command says: its result, and what it tells a person besides.
#[derive(Default)]
struct Said {
    out: String,
    err: String,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_machines_follow_the_guide_to_its_end() {
    let machines = match Machines::start() {
        Ok(machines) => machines,
        Err(why) => skip!("{why}"),
    };
    let mut reader = Reader::begin(machines).await;
    let mut taken_over = false;
    for section in SECTIONS {
        for (name, line) in commands(section) {
            let said = reader.types(name, &line).await;
            println!("{name}$ {line}\n{}{}", said.out, said.err);
            if line != "baton sessions resume shop" {
                continue;
            }
            assert_eq!(reader.shows(name), ("active".to_owned(), "signed in".to_owned()));
            if name == "server" {
                // It cannot reach the laptop, whose browser runs on until that hears of it.
                assert!(said.out.contains("taken over"), "{}", said.out);
                taken_over = true;
            } else {
                assert!(taken_over);
                assert_eq!(reader.shows("server").0, "closed");
                assert_eq!((reader.browsers("laptop"), reader.browsers("server")), (1, 0));
            }
        }
    }
    assert_eq!(reader.shows("laptop"), ("active".to_owned(), "signed in".to_owned()));
    drop(reader.site);
}
