//! Dev tunnels: their token gets through, and proves nothing. The tunnel is one of our own here, for a
//! real one needs an account of its maker: it passes on whoever shows the right header.

use super::story::{AUDIENCE, Story, told, why};
use crate::two_nodes::{baton, said};
use assert_cmd::assert::Assert;
use assert_cmd::cargo::cargo_bin_cmd;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use baton_playground::Site;
use baton_playground::tools::ProviderSettings;
use std::sync::{Arc, Mutex};
use url::Url;

const HEADER: &str = "x-tunnel-authorization";

/// What leads to a node.
#[derive(Clone)]
struct Tunnel {
    to: Url,
    /// What was asked, and whether it was let through.
    seen: Arc<Mutex<Vec<(String, bool)>>>,
    token: Arc<Mutex<String>>,
}

/// Passes a request on, as it is: the host too, which is signed.
async fn pass(State(tunnel): State<Tunnel>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let shown = parts.headers.get(HEADER).and_then(|value| value.to_str().ok());
    let is_let = shown == Some(&format!("tunnel {}", tunnel.token.lock().unwrap()));
    tunnel.seen.lock().unwrap().push((parts.uri.path().to_owned(), is_let));
    if !is_let {
        return (StatusCode::UNAUTHORIZED, "sign in to this tunnel").into_response();
    }
    let url = tunnel.to.join(parts.uri.path_and_query().unwrap().as_str()).unwrap();
    let body = to_bytes(body, 1 << 20).await.unwrap();
    let answer =
        reqwest::Client::new().request(parts.method, url).headers(parts.headers).body(body);
    let answer = answer.send().await.unwrap();
    let mut response = Response::new(Body::empty());
    *response.status_mut() = answer.status();
    *response.headers_mut() = answer.headers().clone();
    *response.body_mut() = Body::from(answer.bytes().await.unwrap());
    response
}

/// The cloud stands behind a tunnel.
struct Behind {
    story: Story,
    tunnel: Tunnel,
    url: Url,
    _site: Site,
}

impl Behind {
    async fn begin() -> Self {
        let mut story = Story::of_strangers(&ProviderSettings::default()).await;
        story.cloud.keep_address().unwrap();
        let tunnel = Tunnel {
            to: story.cloud.client().unwrap().base().clone(),
            seen: Arc::default(),
            token: Arc::new(Mutex::new("t0ken-one".to_owned())),
        };
        let site = axum::Router::new().fallback(pass).with_state(tunnel.clone());
        let site = Site::start(site).await.unwrap();
        let url = site.url("/").unwrap();
        // The name of the tunnel is a name of the node.
        let host = format!("{}:{}", url.host_str().unwrap(), url.port().unwrap());
        story.cloud.stop_node().await.unwrap();
        let file = story.cloud.data().path().join("baton.toml");
        let settings = std::fs::read_to_string(&file).unwrap();
        let settings = format!("[server]\nallowed_hosts = [\"{host}\"]\n\n{settings}");
        std::fs::write(&file, settings).unwrap();
        story.cloud.start_node().await.unwrap();
        Self { story, tunnel, url, _site: site }
    }

    fn add(&self, flags: &[&str], secrets: &[(&str, &str)]) -> Assert {
        let mut command = cargo_bin_cmd!("baton");
        command.arg("--data").arg(self.story.laptop.data().path()).arg("--json").write_stdin("");
        command.args(["peers", "add", self.url.as_str(), "--name", "cloud", "--auth", "tunnel"]);
        command.args(flags).envs(secrets.iter().copied()).assert()
    }

    fn key(&self) -> String {
        let create = ["keys", "create", "--name", "laptop", "--scope", "sync"];
        let key = said(&baton(&self.story.cloud, &create).success());
        key["secret"].as_str().unwrap().to_owned()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_behind_a_tunnel_is_reached_with_its_token_and_a_key() {
    let behind = Behind::begin().await;
    let key = behind.key();
    let (tunnel, own) = ("BATON_PEER_TUNNEL_TOKEN", "BATON_PEER_KEY");
    // The token of the tunnel alone is not enough, nor is a wrong one.
    let run = behind.add(&[], &[(tunnel, "t0ken-one"), (own, "")]).failure();
    assert!(why(&run).0.contains("the API key of the other node"), "{}", told(&run));
    let run = behind.add(&[], &[(tunnel, "wrong"), (own, &key)]).code(5);
    let (message, hint) = why(&run);
    assert_eq!(
        message,
        "the tunnel to peer cloud does not let this node through: HTTP status 401 Unauthorized"
    );
    assert!(hint.contains("devtunnel token TUNNEL --scopes connect"), "{hint}");
    assert!(hint.ends_with("--name cloud --auth tunnel"), "{hint}");
    behind.add(&[], &[(tunnel, "t0ken-one"), (own, &key)]).success();
    behind.story.confirm();
    behind.story.push("shop").success();
    assert_eq!(behind.story.at_the_cloud(), ["shop"]);
    // Tokens of tunnels end within a day; another one is taken in the same way.
    *behind.tunnel.token.lock().unwrap() = "t0ken-two".to_owned();
    behind.tunnel.seen.lock().unwrap().clear();
    behind.story.save("desk");
    let run = told(&baton(&behind.story.laptop, &["sync", "run"]).failure());
    assert!(run.contains("the tunnel to peer cloud does not let this node through"), "{run}");
    let again = said(&behind.add(&[], &[(tunnel, "t0ken-two"), (own, &key)]).success());
    assert_eq!((&again["state"], &again["authMethod"]), (&"confirmed".into(), &"tunnel".into()));
    baton(&behind.story.laptop, &["peers", "ping", "cloud"]).success();
    baton(&behind.story.laptop, &["sync", "run"]).success();
    let seen = behind.tunnel.seen.lock().unwrap().clone();
    let late = seen.iter().skip_while(|(_, is_let)| !is_let);
    assert!(late.clone().count() > 3, "{seen:?}");
    assert!(late.clone().all(|(_, is_let)| *is_let), "every request shows it: {seen:?}");
    // Neither side has written it down.
    for test_node in [&behind.story.laptop, &behind.story.cloud] {
        assert!(!test_node.log().contains("t0ken"), "{}", test_node.log_tail());
        assert!(!told(&baton(test_node, &["audit"])).contains("t0ken"));
        assert!(!told(&baton(test_node, &["peers", "list"])).contains("t0ken"));
        let database = std::fs::read(test_node.data().path().join("baton.db")).unwrap();
        assert!(!database.windows(5).any(|part| part == b"t0ken"));
    }
    behind.story.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_behind_a_tunnel_is_reached_with_its_token_and_one_of_a_provider() {
    let behind = Behind::begin().await;
    let issuer = behind.story.provider.issuer().to_owned();
    let flags = ["--issuer", &issuer, "--client-id", "laptop", "--resource", AUDIENCE];
    let secrets =
        [("BATON_PEER_TUNNEL_TOKEN", "t0ken-one"), ("BATON_PEER_CLIENT_SECRET", "laptop-secret")];
    behind.add(&flags, &secrets).success();
    behind.story.confirm();
    behind.story.push("shop").success();
    assert_eq!(behind.story.at_the_cloud(), ["shop"]);
    behind.story.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_looks_like_a_tunnel_opens_nothing() {
    let story = Story::of_strangers(&ProviderSettings::default()).await;
    let base = story.cloud.client().unwrap().base().clone();
    let token = story.token("laptop", AUDIENCE).await;
    let http = reqwest::Client::new();
    let mut tried = 0;
    for path in ["sync/card", "sync/index", "sync/peers", "sessions", "audit"] {
        for headers in [
            vec![(HEADER, "tunnel anything".to_owned())],
            // A good token in the wrong header is none.
            vec![(HEADER, format!("tunnel {token}"))],
            vec![("x-forwarded-host", "x.devtunnels.ms".to_owned())],
            vec![
                (HEADER, "tunnel anything".to_owned()),
                ("x-forwarded-host", "x.devtunnels.ms".to_owned()),
                ("x-forwarded-proto", "https".to_owned()),
                ("x-forwarded-for", "127.0.0.1".to_owned()),
            ],
        ] {
            let request = http.get(base.join(path).unwrap());
            let request =
                headers.iter().fold(request, |request, (name, value)| request.header(*name, value));
            let status = request.send().await.unwrap().status().as_u16();
            assert_eq!(status, 401, "{path} with {headers:?}");
            tried += 1;
        }
    }
    assert_eq!(tried, 20);
    assert!(!story.cloud.log().contains("anything"), "{}", story.cloud.log_tail());
    story.end().await;
}
