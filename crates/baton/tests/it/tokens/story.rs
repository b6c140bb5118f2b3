//! Two nodes and a provider: `cloud` takes its tokens, and `laptop` gets some there.

use crate::test_nodes;
use crate::two_nodes::{baton, said};
use assert_cmd::assert::Assert;
use assert_cmd::cargo::cargo_bin_cmd;
use baton_playground::TestNode;
use baton_playground::tools::{Provider, ProviderSettings};
use serde_json::{Value, json};
use std::fs;

/// For whom the tokens are that the cloud takes.
pub(super) const AUDIENCE: &str = "urn:baton:cloud";

/// The nodes and the provider.
pub(super) struct Story {
    pub(super) provider: Provider,
    pub(super) cloud: TestNode,
    pub(super) laptop: TestNode,
}

impl Story {
    /// The laptop knows the cloud, and is let in by a token.
    pub(super) async fn begin(settings: &ProviderSettings) -> Self {
        let story = Self::of_strangers(settings).await;
        story.register(&story.client()).success();
        story.confirm();
        story
    }

    /// Neither node knows the other one.
    pub(super) async fn of_strangers(settings: &ProviderSettings) -> Self {
        let provider = Provider::start(settings).await.unwrap();
        let cloud = test_nodes::build();
        allow(&cloud, provider.issuer(), "");
        let (cloud, laptop) = (test_nodes::start(cloud).await, test_nodes::test_node().await);
        Self { provider, cloud, laptop }
    }

    /// The flags that name the client of the laptop.
    pub(super) fn client(&self) -> Vec<String> {
        let flags = ["--auth", "msal", "--issuer", self.provider.issuer(), "--client-id", "laptop"];
        let flags = flags.iter().chain(&["--resource", AUDIENCE]).map(ToString::to_string);
        flags.collect()
    }

    /// A person registers the cloud at the laptop; the secret is that of the client `laptop`.
    pub(super) fn register(&self, flags: &[String]) -> Assert {
        self.register_with(flags, &[("BATON_PEER_CLIENT_SECRET", "laptop-secret")])
    }

    /// The same with these secrets.
    pub(super) fn register_with(&self, flags: &[String], secrets: &[(&str, &str)]) -> Assert {
        let url = self.cloud.client().unwrap().base().to_string();
        let mut command = cargo_bin_cmd!("baton");
        command.arg("--data").arg(self.laptop.data().path()).arg("--json").write_stdin("");
        command.args(["peers", "add", &url, "--name", "cloud"]).args(flags);
        command.envs(secrets.iter().copied()).assert()
    }

    pub(super) fn confirm(&self) {
        let seen = said(&baton(&self.cloud, &["peers", "list"]).success());
        let seen = seen["fingerprint"].as_str().unwrap().to_owned();
        let confirm = ["peers", "confirm", "cloud", "--fingerprint", &seen];
        let confirmed = said(&baton(&self.laptop, &confirm).success());
        // A token says nothing of the node that shows it: a person at the cloud types what is told here.
        if let Some(next) = confirmed["confirmThere"].as_str() {
            let words = shell_words::split(next).unwrap();
            let args: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
            baton(&self.cloud, &args).success();
        }
    }

    /// A session is saved at the laptop, and moves.
    pub(super) fn push(&self, name: &str) -> Assert {
        self.save(name);
        baton(&self.laptop, &["sync", "run"])
    }

    /// A session of this name is saved at the laptop.
    pub(super) fn save(&self, name: &str) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("state.json");
        let cookie = json!({"name": "sid", "value": name, "domain": "shop.test", "path": "/",
                            "expires": -1, "httpOnly": true, "secure": true, "sameSite": "Lax"});
        let state = json!({"cookies": [cookie], "origins": []});
        fs::write(&file, state.to_string()).unwrap();
        baton(&self.laptop, &["import", file.to_str().unwrap(), "--name", name]).success();
        baton(&self.laptop, &["save", name]).success();
    }

    /// The names of the sessions at the cloud.
    pub(super) fn at_the_cloud(&self) -> Vec<String> {
        let listed = said(&baton(&self.cloud, &["sessions", "list"]).success());
        let items = listed["items"].as_array().unwrap().iter();
        items.map(|item| item["name"].as_str().unwrap().to_owned()).collect()
    }

    /// What the provider gives this client for a resource.
    pub(super) async fn token(&self, client: &str, resource: &str) -> String {
        let form = format!(
            "grant_type=client_credentials&client_id={client}&client_secret={client}-secret\
             &resource={resource}"
        );
        let request = reqwest::Client::new().post(format!("{}/token", self.provider.issuer()));
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        let answer: Value = request.body(form).send().await.unwrap().json().await.unwrap();
        answer["access_token"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    /// Asks the cloud who it is, with a token.
    pub(super) async fn card(&self, token: &str) -> reqwest::Response {
        let url = self.cloud.client().unwrap().base().join("sync/card").unwrap();
        reqwest::Client::new().get(url).bearer_auth(token).send().await.unwrap()
    }

    /// What the cloud says to a token, in one line: the status, and why.
    pub(super) async fn told(&self, token: &str) -> String {
        let answer = self.card(token).await;
        let status = answer.status().as_u16();
        let problem: Value = answer.json().await.unwrap();
        let detail = problem["detail"].as_str().unwrap_or("it is let in");
        format!("{status} {detail}").replace(self.provider.issuer(), "ISSUER")
    }

    /// What was refused at the cloud, newest first, in one word each.
    pub(super) fn noted(&self) -> Vec<String> {
        let audit = said(&baton(&self.cloud, &["audit", "--limit", "200"]).success());
        let items = audit["items"].as_array().unwrap().iter();
        let refused = items.filter(|item| item["action"] == "peer.refuse");
        refused.map(|item| item["detail"]["refused"].as_str().unwrap().to_owned()).collect()
    }

    pub(super) async fn end(self) {
        self.cloud.clear().await.unwrap();
        self.laptop.clear().await.unwrap();
        self.provider.clear().await.unwrap();
    }
}

/// The node of a test node takes tokens of this provider, with these settings besides.
pub(super) fn allow(test_node: &TestNode, issuer: &str, more: &str) {
    let settings = format!(
        "[auth.oidc]\nissuer = \"{issuer}\"\ntenant = \"t1\"\naudience = [\"{AUDIENCE}\"]\n\
         allowed_clients = [\"laptop\"]\nroles = [\"Sessions.Sync\"]\nleeway = 0\n{more}"
    );
    fs::create_dir_all(test_node.data().path()).unwrap();
    test_node.data().create().unwrap();
    fs::write(test_node.data().path().join("baton.toml"), settings).unwrap();
}

/// What a failed command said: why, and what to do.
pub(super) fn why(run: &Assert) -> (String, String) {
    let told = said(run);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    (text(&told["error"]["message"]), text(&told["error"]["hint"]))
}

/// What became of the sessions of a run, or of the peers that were not asked.
pub(super) fn told(run: &Assert) -> String {
    let output = run.get_output();
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}
