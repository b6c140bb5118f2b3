//! What no real provider does: a stand-in that says whatever a story wants, signed as the story wants; and a browser
//! that is nobody's, which brings what it likes.

use super::person::{SHOPKEEPERS, page_of, send_people};
use crate::cluster::start_built;
use crate::test_nodes;
use axum::extract::{Form, State};
use axum::http::HeaderMap;
use axum::routing::{get, post};
use axum::{Json, Router};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use baton_playground::{Site, TestNode};
use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use rcgen::{KeyPair, PKCS_ECDSA_P256_SHA256};
use reqwest::{Method, Response};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::future::pending;
use std::sync::{Arc, Mutex};
use url::Url;

/// What the stand-in says next.
#[derive(Default)]
pub(super) struct Says {
    /// The ID token.
    pub(super) token: String,
    /// What it says at `userinfo`.
    pub(super) more: Value,
    /// What a code has to be exchanged with.
    challenge: String,
    /// Whether it takes its time.
    pub(super) is_silent: bool,
}

/// A key of the stand-in.
pub(super) struct Key {
    secret: EncodingKey,
    public: Value,
}

impl Key {
    fn new() -> Self {
        let pair = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).unwrap();
        let secret = EncodingKey::from_ec_der(&pair.serialize_der());
        let mut public = Jwk::from_encoding_key(&secret, Algorithm::ES256).unwrap();
        public.common.key_id = Some("only".to_owned());
        Self { secret, public: serde_json::to_value(public).unwrap() }
    }

    /// Signs what somebody says.
    pub(super) fn sign(&self, claims: &Value) -> String {
        let header = Header { kid: Some("only".to_owned()), ..Header::new(Algorithm::ES256) };
        jsonwebtoken::encode(&header, claims, &self.secret).unwrap()
    }
}

/// A node, and its provider.
pub(super) struct Scene {
    pub(super) node: TestNode,
    /// Another node of its cluster, where it is of one.
    pub(super) other: Option<TestNode>,
    pub(super) key: Key,
    /// Another key, which the provider does not publish.
    pub(super) other_key: Key,
    pub(super) issuer: String,
    page: Url,
    says: Arc<Mutex<Says>>,
    http: reqwest::Client,
    _site: Site,
}

/// A browser on its way.
pub(super) struct Departed {
    pub(super) state: String,
    pub(super) nonce: String,
    pub(super) cookie: String,
}

impl Scene {
    /// One node.
    pub(super) async fn start() -> Self {
        Self::of(async |node| {
            let node = test_nodes::start(node()).await;
            let page = page_of(&node).await;
            (node, None, page)
        })
        .await
    }

    /// Two nodes of a cluster, behind a balancer that is called `agents.test`.
    pub(super) async fn start_cluster() -> Self {
        Self::of(async |node| {
            let database = baton_postgres::create_database().unwrap();
            let settings = [("BATON_PUBLIC_URL", "http://agents.test".to_owned())];
            let own = start_built(node(), &database, "own", &settings).await;
            let other = start_built(node(), &database, "other", &settings).await;
            (own, Some(other), "http://agents.test/".parse().unwrap())
        })
        .await
    }

    /// Nodes that send people to the stand-in, and where their page is.
    async fn of(
        start: impl AsyncFnOnce(&dyn Fn() -> TestNode) -> (TestNode, Option<TestNode>, Url),
    ) -> Self {
        let (key, says) = (Key::new(), Arc::new(Mutex::new(Says::default())));
        let issuer = Arc::new(Mutex::new(String::new()));
        let site = Site::start(provider(&key, says.clone(), issuer.clone())).await.unwrap();
        let name = site.url("/").unwrap().as_str().trim_end_matches('/').to_owned();
        issuer.lock().unwrap().clone_from(&name);
        let build = || {
            let node = test_nodes::build();
            // One address comes more often than people do.
            send_people(&node, &name, SHOPKEEPERS, "[limits]\nrefused_keys_per_minute = 10000");
            node
        };
        let (node, other, page) = start(&build).await;
        let http = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
        let http = http.no_proxy().build().unwrap();
        let (issuer, other_key) = (name.clone(), Key::new());
        Self { node, other, key, other_key, issuer, page, says, http, _site: site }
    }

    fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        self.request_at(&self.node, method, path)
    }

    /// A request of the page to this node.
    pub(super) fn request_at(
        &self,
        node: &TestNode,
        method: Method,
        path: &str,
    ) -> reqwest::RequestBuilder {
        let url = node.client().unwrap().base().join(path).unwrap();
        let port = self.page.port().map(|port| format!(":{port}")).unwrap_or_default();
        let host = format!("{}{port}", self.page.host_str().unwrap());
        self.http.request(method, url).header("host", host)
    }

    /// A browser departs.
    pub(super) async fn depart(&self) -> Departed {
        let answer = self.request(Method::POST, "page/oidc").send().await.unwrap();
        assert_eq!(answer.status(), 200);
        let cookie = answer.headers()["set-cookie"].to_str().unwrap().to_owned();
        for wanted in ["Path=/page/oidc/callback;", "; HttpOnly", "; SameSite=Lax", "Max-Age=600"] {
            assert!(cookie.contains(wanted), "{cookie}");
        }
        let cookie = cookie.split(';').next().unwrap().to_owned();
        let departure: Value = answer.json().await.unwrap();
        let url: Url = departure["url"].as_str().unwrap().parse().unwrap();
        let asked: HashMap<String, String> = url.query_pairs().into_owned().collect();
        assert_eq!(asked["code_challenge_method"], "S256");
        assert_eq!((&*asked["response_type"], &*asked["client_id"]), ("code", "page"));
        assert_eq!(asked["scope"], "openid profile email");
        let back = self.page.join("/page/oidc/callback").unwrap();
        assert_eq!(asked["redirect_uri"], back.as_str());
        self.says.lock().unwrap().challenge.clone_from(&asked["code_challenge"]);
        Departed { state: asked["state"].clone(), nonce: asked["nonce"].clone(), cookie }
    }

    /// What a good token says in answer to a departure.
    pub(super) fn claims(&self, departed: &Departed) -> Value {
        json!({"iss": self.issuer, "aud": "page", "sub": "7", "exp": 4_000_000_000_u32,
               "nonce": departed.nonce, "email": "ada@example.org", "groups": ["shop"]})
    }

    /// The provider says this next.
    pub(super) fn says(&self, change: impl FnOnce(&mut Says)) {
        change(&mut self.says.lock().unwrap());
    }

    /// A browser comes back with this query and cookie: who it is then, or what its page says.
    pub(super) async fn arrive(&self, query: &[(&str, &str)], cookie: Option<&str>) -> String {
        let answer = self.arrive_at([&self.node; 2], query, cookie).await;
        self.told(answer).await
    }

    /// The same at these nodes: the one to which the provider sends it, and the one that the page asks then.
    pub(super) async fn arrive_at(
        &self,
        [first, second]: [&TestNode; 2],
        query: &[(&str, &str)],
        cookie: Option<&str>,
    ) -> Response {
        let (code, cookie) = self.come_back(first, query, cookie).await;
        self.redeem_at(second, &code, Some(&cookie)).await
    }

    /// A browser comes back to this node: the code with which it is led to the page, and the cookie that it gets with
    /// it.
    pub(super) async fn come_back(
        &self,
        node: &TestNode,
        query: &[(&str, &str)],
        cookie: Option<&str>,
    ) -> (String, String) {
        let path = Url::parse_with_params("http://x.test/page/oidc/callback", query).unwrap();
        let path = format!("page/oidc/callback?{}", path.query().unwrap_or_default());
        let mut request = self.request_at(node, Method::GET, &path);
        if let Some(cookie) = cookie {
            request = request.header("cookie", cookie);
        }
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status(), 303);
        // It leads to the page and nowhere else.
        let place = answer.headers()["location"].to_str().unwrap();
        let code = place.strip_prefix("/#code=").unwrap_or_else(|| panic!("{place}"));
        let cookies = answer.headers().get_all("set-cookie").iter();
        let mut cookies = cookies.map(|cookie| cookie.to_str().unwrap());
        let cookie = cookies.find(|cookie| cookie.contains("; Path=/page/session;")).unwrap();
        for wanted in ["; Max-Age=120", "; HttpOnly", "; SameSite=Strict"] {
            assert!(cookie.contains(wanted), "{cookie}");
        }
        (code.to_owned(), cookie.split(';').next().unwrap().to_owned())
    }

    /// The page of a browser with this cookie gives a code back to this node.
    pub(super) async fn redeem_at(
        &self,
        node: &TestNode,
        code: &str,
        cookie: Option<&str>,
    ) -> Response {
        let mut request = self.request_at(node, Method::POST, "page/session");
        if let Some(cookie) = cookie {
            request = request.header("cookie", cookie);
        }
        request.json(&json!({ "code": code })).send().await.unwrap()
    }

    /// Who is signed in by this answer, or why nobody is.
    pub(super) async fn told(&self, answer: Response) -> String {
        let status = answer.status().as_u16();
        let told: Value = answer.json().await.unwrap();
        if status == 200 {
            return format!("{} by {}", told["owner"], told["key"]).replace('"', "");
        }
        format!("{status} {}", told["detail"].as_str().unwrap()).replace(&self.issuer, "ISSUER")
    }

    pub(super) async fn end(self) {
        self.node.clear().await.unwrap();
        if let Some(other) = self.other {
            other.clear().await.unwrap();
        }
    }
}

fn provider(key: &Key, says: Arc<Mutex<Says>>, issuer: Arc<Mutex<String>>) -> Router {
    let keys = json!({ "keys": [key.public] });
    let document = async move || {
        let issuer = issuer.lock().unwrap().clone();
        let at = |path: &str| format!("{issuer}/{path}");
        Json(json!({
            "issuer": issuer, "jwks_uri": at("jwks"), "token_endpoint": at("token"),
            "authorization_endpoint": at("auth"), "userinfo_endpoint": at("userinfo"),
            "token_endpoint_auth_methods_supported": ["client_secret_basic"],
        }))
    };
    let more = async |State(says): State<Arc<Mutex<Says>>>, headers: HeaderMap| {
        assert_eq!(headers["authorization"], "Bearer opaque");
        Json(says.lock().unwrap().more.clone())
    };
    Router::new()
        .route("/.well-known/openid-configuration", get(document))
        .route("/jwks", get(async move || Json(keys)))
        .route("/token", post(exchange))
        .route("/userinfo", get(more))
        .with_state(says)
}

/// Exchanges a code, as strictly as a provider does.
async fn exchange(
    State(says): State<Arc<Mutex<Says>>>,
    headers: HeaderMap,
    Form(form): Form<HashMap<String, String>>,
) -> Json<Value> {
    let (token, challenge, is_silent) = {
        let says = says.lock().unwrap();
        (says.token.clone(), says.challenge.clone(), says.is_silent)
    };
    if is_silent {
        pending::<()>().await;
    }
    assert_eq!(form["code"], "the code");
    assert_eq!(form["grant_type"], "authorization_code");
    assert!(headers["authorization"].to_str().unwrap().starts_with("Basic "));
    let shown = URL_SAFE_NO_PAD.encode(Sha256::digest(form["code_verifier"].as_bytes()));
    assert_eq!(shown, challenge, "who exchanges the code is who departed");
    Json(json!({"access_token": "opaque", "token_type": "Bearer", "id_token": token}))
}
