//! The guide to looking in, typed as it stands: into a tab of a session, into one of a person's own browser
//! behind the proxy, and by whoever reaches that from elsewhere.

use super::browser::Browser;
use crate::guide::{Guide, Reader, Step};
use crate::notes::eventually;
use axum::Router;
use axum::http::StatusCode;
use axum::response::Html;
use axum::routing::{get, post};
use baton_playground::tools::Extension;
use baton_playground::{Page, Site};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use serde_json::Value;
use std::fs;
use url::Url;

const GUIDE: &str = include_str!("../../../../../docs/guide/look-in.md");

const NPM: &str = "npm --prefix extensions/chrome ci && npm --prefix extensions/chrome run build";
const LEFT_OUT: [(&str, &str); 1] = [(
    NPM,
    "it fills the sources with packages; the same script builds it in a folder of the story",
)];

/// What the page sends that nobody may read who did not say so beforehand.
const SECRET: &str = "Zq7-password";

const PAGE: &str = "<title>shop</title><link rel=icon href='data:,'><script>
    const logIn = async () => {
      const body = new URLSearchParams({ user: 'ada', password: 'Zq7-password' });
      await fetch('login', { method: 'POST', body });
      await fetch('missing');
      console.warn('logged in');
    };
    logIn();
    </script>";

fn shop() -> Router {
    let missing = async || (StatusCode::NOT_FOUND, "no such page");
    let pages = Router::new().route("/", get(async || Html(PAGE)));
    pages.route("/login", post(async || "welcome")).fallback(missing)
}

/// The token of the tab that shows this address, once it is listed.
async fn token(reader: &Reader, address: &str) -> String {
    let mut found = None;
    eventually(&format!("a tab shows {address}"), async || {
        let tabs = json(reader, "baton debug list-tabs");
        found = tabs["items"].as_array().unwrap().iter().find(|tab| tab["url"] == address).cloned();
        found.is_some()
    })
    .await;
    reader.own(found.unwrap()["token"].as_str().unwrap())
}

/// Logs in once more. From now on the token of the examples is that of the session's tab, and their number
/// that of the request by which the page logged in.
async fn logs_in(reader: &mut Reader, page: &Page) {
    let token = token(reader, "https://shop.example/").await;
    assert!(page.evaluate::<bool>("logIn().then(() => true)").await.unwrap());
    let mut number = 0;
    eventually("what the page did is told", async || {
        let network = json(reader, &format!("baton debug network {token}"));
        let requests = network["requests"].as_array().unwrap();
        let ended = |path: &str, status: u16| {
            let is_it = |it: &&Value| it["url"].as_str().unwrap().ends_with(path);
            let last = requests.iter().rfind(is_it).filter(|it| it["status"] == status)?;
            last["number"].as_u64().filter(|last| *last > number)
        };
        let logged_in = ended("/login", 200);
        // The request after that one has ended, too.
        let is_told = ended("/missing", 404) > logged_in;
        number = logged_in.filter(|_| is_told).unwrap_or(number);
        is_told
    })
    .await;
    reader.instead("TOKEN", token);
    reader.instead("--id 12", format!("--id {number}"));
}

fn json(reader: &Reader, line: &str) -> Value {
    let said = reader.types(&format!("{line} --json"));
    serde_json::from_str(&said).unwrap_or_else(|_| panic!("{line}: {said}"))
}

/// What is typed in a section, told by how it begins.
fn find(steps: &[Step], beginning: &str) -> Step {
    let found = steps.iter().find(|step| step.text.starts_with(beginning));
    found.unwrap_or_else(|| panic!("expected {beginning} in {steps:#?}")).clone()
}

/// Starts a node with these settings, in a terminal that stays open.
async fn serves(reader: &mut Reader, settings: &Step) {
    let text = reader.own(&settings.text);
    fs::write(reader.data().join("baton.toml"), text).unwrap();
    reader.types("baton stop");
    let terminal = reader.starts("baton serve");
    let file = reader.data().join("node.json");
    eventually("the node is ready", async || {
        let said = fs::read_to_string(&terminal).unwrap();
        assert!(!said.contains("error:"), "{said}");
        file.exists()
    })
    .await;
}

/// A status that a page behind the proxy answers with, to somebody who trusts the guide's certificate.
fn asks(reader: &Reader, port: u16, header: &str) -> String {
    let address = format!("shop.dev.example.org:{port}");
    reader.types(&format!(
        "curl -s -o page.html -w '%{{http_code}}' --cacert /etc/baton/tls.crt \
         --resolve {address}:127.0.0.1 -H '{header}' https://{address}/"
    ))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_looks_into_each_of_the_guides_tabs() {
    let own = Site::start(shop()).await.unwrap();
    let address = own.url("/").unwrap();
    let mut guide = Guide::read(GUIDE);
    let mut reader = Reader::new();
    reader.instead("https://shop.example", address.as_str().trim_end_matches('/'));
    guide.leave_out(&LEFT_OUT);

    reader.follows(&guide.section("Record"));
    let page = reader.page(&reader.data(), "shop", address.as_str()).await;
    logs_in(&mut reader, &page).await;
    looks(&mut reader, &guide.section("Look"), &page).await;

    let steps = guide.section("Your own browser, and services of yours");
    let services = [Site::start(shop()).await.unwrap(), Site::start(shop()).await.unwrap()];
    for (example, service) in
        ["http://127.0.0.1:3000", "http://127.0.0.1:3001"].iter().zip(&services)
    {
        reader.instead(example, service.url("").unwrap().as_str().trim_end_matches('/'));
    }
    behind_the_proxy(&mut reader, &steps).await;
    from_elsewhere(&mut reader, &steps).await;

    let secrets = guide.section("See secrets");
    let [keep, show, forget] = &secrets[..] else { panic!("{secrets:?}") };
    logs_in(&mut reader, &page).await;
    reader.types(&keep.text);
    logs_in(&mut reader, &page).await;
    assert!(reader.types(&show.text).contains(SECRET), "it is kept, and shown");
    reader.types(&forget.text);
    let (code, said) = reader.tries(&show.text);
    assert!(code == Some(4) && !said.contains(SECRET), "{said}");

    reader.types("baton sessions close shop");
    reader.types("baton stop");
    guide.end();
}

/// Looks into the tab of a session.
async fn looks(reader: &mut Reader, steps: &[Step], page: &Page) {
    let mut terminal = None;
    let mut said = Vec::new();
    for step in steps {
        if step.text.contains("--follow") {
            terminal = Some(reader.starts(&step.text));
        } else {
            said.push(reader.types(&step.text));
        }
    }
    let [tabs, all, wrong, one, har] = &said[..] else { panic!("{said:#?}") };
    assert!(tabs.contains("shop"), "{tabs}");
    assert!(all.contains("POST"), "{all}");
    assert!(wrong.contains("404") && !wrong.contains("POST"), "{wrong}");
    assert!(one.contains("POST") && one.contains("welcome") && !one.contains(SECRET), "{one}");
    let archive = fs::read_to_string(reader.home().join("shop.har")).expect(har);
    let archive: Value = serde_json::from_str(&archive).unwrap();
    assert!(!archive["log"]["entries"].as_array().unwrap().is_empty());
    assert!(page.evaluate::<bool>("console.error('out of stock'); true").await.unwrap());
    let terminal = terminal.expect("a step that follows");
    eventually("what the page writes is followed", async || {
        fs::read_to_string(&terminal).unwrap().contains("out of stock")
    })
    .await;
}

/// Looks into tabs of a person's own browser, in front of which the proxy stands.
async fn behind_the_proxy(reader: &mut Reader, steps: &[Step]) {
    reader.instead("127.0.0.1:8081", "127.0.0.1:0");
    serves(reader, &steps[0]).await;
    let listed = json(reader, "baton cocoons list");
    let pages: Url = listed["items"][0]["urls"][0].as_str().unwrap().parse().unwrap();
    let port = pages.port().unwrap();
    reader.instead("127.0.0.1:8081", format!("127.0.0.1:{port}"));
    reader.instead("localhost:8081", format!("localhost:{port}"));

    let extension = Extension::unpack().await.unwrap();
    let browser = Browser::start(&extension.build().await.unwrap()).await;
    let pair = find(steps, "baton debug pair");
    let said = reader.types(&pair.text);
    pair.shows(&said);
    let word = |name: &str| {
        let line = said.lines().find_map(|line| line.strip_prefix(name)).expect(&said);
        reader.own(line.trim())
    };
    browser.pair(&word("address"), &word("code")).await;
    for address in ["http://shop.localhost:8081/", "http://127.0.0.1:8081/proxy/shop/"] {
        let tab = browser.open(&reader.own(address)).await;
        let token = token(reader, address).await;
        eventually("the tab of a person tells of its console", async || {
            reader.types(&format!("baton debug console {token}")).contains("logged in")
        })
        .await;
        browser.close_tab(tab).await;
    }
    browser.close().await;
    extension.clear().await.unwrap();

    let rest = steps.iter().skip_while(|step| !step.text.starts_with("baton cocoons "));
    for step in rest.filter(|step| step.language == "console") {
        let said = reader.types(&step.text);
        step.shows(&said);
        assert!(!step.text.starts_with("curl ") || said.contains("<title>shop"), "{said}");
    }
}

/// Reaches the service by the name of a domain, over TLS and with a key only.
async fn from_elsewhere(reader: &mut Reader, steps: &[Step]) {
    let folder = reader.folder("/etc/baton");
    let names = ["*.dev.example.org".to_owned(), "localhost".to_owned()];
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(names).unwrap();
    fs::write(folder.join("tls.crt"), cert.pem()).unwrap();
    fs::write(folder.join("tls.key"), signing_key.serialize_pem()).unwrap();
    reader.instead("0.0.0.0:8081", "0.0.0.0:0");
    serves(reader, steps.iter().rfind(|step| step.language == "toml").unwrap()).await;
    let opened: Url = reader.types("baton cocoons open shop").trim().parse().unwrap();
    assert_eq!((opened.scheme(), opened.host_str()), ("https", Some("shop.dev.example.org")));
    let port = opened.port().unwrap();
    let key = reader.types("baton keys create --name me --scope debug --quiet");
    let key = key.lines().last().unwrap().trim();
    assert_eq!(asks(reader, port, "Accept: */*"), "401");
    assert_eq!(asks(reader, port, &format!("Authorization: Bearer {key}")), "200");
}
