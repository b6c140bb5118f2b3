//! Tokens that a real provider has signed and that open nothing; whoever showed one is told why, and
//! what to do.

use super::story::{AUDIENCE, Story, allow, told, why};
use crate::two_nodes::{baton, said};
use baton_playground::tools::ProviderSettings;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_for_others_of_others_or_of_another_tenant_is_refused_with_the_reason() {
    let mut story = Story::of_strangers(&ProviderSettings::default()).await;
    let good = story.token("laptop", AUDIENCE).await;
    assert_eq!(story.told(&good).await, "200 it is let in");
    let mut heard = Vec::new();
    for (client, resource) in [("laptop", "urn:baton:other"), ("stranger", AUDIENCE)] {
        heard.push(story.told(&story.token(client, resource).await).await);
    }
    for other in [
        ProviderSettings { tenant: "t2".to_owned(), ..ProviderSettings::default() },
        ProviderSettings { roles: vec!["Other".to_owned()], ..ProviderSettings::default() },
        ProviderSettings { roles: Vec::new(), ..ProviderSettings::default() },
    ] {
        // Each of them signs with a key of its own.
        story.provider.stop().await.unwrap();
        story.provider.start_again(&ProviderSettings { key: key(), ..other }).await.unwrap();
        let token = story.token("laptop", AUDIENCE).await;
        heard.push(when_known(&story, &token).await);
    }
    insta::assert_snapshot!(heard.join("\n"), @"
    401 expected a token for the audience urn:baton:cloud, found one for urn:baton:other
    401 expected a token of a client that is let in, found one of stranger
    401 expected a token of the tenant t1, found one of t2
    401 expected a token with the role or scope Sessions.Sync, found Other
    401 expected a token with the role or scope Sessions.Sync, found none
    ");
    let mut noted = story.noted();
    noted.retain(|word| word != "unknown_key");
    assert_eq!(noted, ["role", "role", "tenant", "client", "audience"]);
    story.end().await;
}

/// What the cloud says to a token whose key it does not know yet: it asks the provider for keys every
/// few seconds at most, and says so until then.
async fn when_known(story: &Story, token: &str) -> String {
    for _ in 0..100 {
        let heard = story.told(token).await;
        if !heard.starts_with("503") {
            return heard;
        }
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    }
    panic!("expected the provider to be known within 20 s");
}

fn key() -> String {
    format!("key-{}", rand::random::<u32>())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_opens_what_signed_nodes_ask_and_nothing_else() {
    let story = Story::of_strangers(&ProviderSettings::default()).await;
    let token = story.token("laptop", AUDIENCE).await;
    let base = story.cloud.client().unwrap().base().clone();
    let http = reqwest::Client::new();
    let mut heard = Vec::new();
    for path in ["sessions", "sync/index", "sync/peers", "audit", "sync/conflicts"] {
        let request = http.get(base.join(path).unwrap()).bearer_auth(&token);
        heard.push(format!("{path} {}", request.send().await.unwrap().status().as_u16()));
    }
    // A header that says that it is signed does not sign it.
    let id = "0192f0c1-0000-7000-8000-000000000001";
    for path in ["sync/index".to_owned(), format!("sync/sessions/{id}/revisions")] {
        let request = http.get(base.join(&path).unwrap()).bearer_auth(&token);
        let request = request.header("baton-node", "e30");
        heard.push(format!("signed? {}", request.send().await.unwrap().status().as_u16()));
    }
    insta::assert_snapshot!(heard.join("\n"), @"
    sessions 401
    sync/index 401
    sync/peers 401
    audit 401
    sync/conflicts 401
    signed? 403
    signed? 403
    ");
    story.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_registers_a_peer_is_told_what_is_wrong_and_what_to_type() {
    let story = Story::of_strangers(&ProviderSettings::default()).await;
    let flags = |issuer: &str, client: &str, resource: &str| {
        let flags = ["--auth", "msal", "--issuer", issuer, "--client-id", client];
        flags.iter().chain(&["--resource", resource]).map(ToString::to_string).collect::<Vec<_>>()
    };
    let issuer = story.provider.issuer().to_owned();
    let nobody = "http://127.0.0.1:9".to_owned();
    let mut heard = Vec::new();
    for (flags, secret) in [
        (flags(&issuer, "laptop", "urn:baton:other"), "laptop-secret"),
        (flags(&issuer, "stranger", AUDIENCE), "stranger-secret"),
        (flags(&issuer, "laptop", AUDIENCE), "wrong"),
        (flags(&issuer, "laptop", "no:resource"), "laptop-secret"),
        (flags(&nobody, "laptop", AUDIENCE), "laptop-secret"),
        (flags("https://10.0.0.7", "laptop", AUDIENCE), "laptop-secret"),
        (flags(&issuer, "laptop", AUDIENCE)[..6].to_vec(), "laptop-secret"),
    ] {
        let run = story.register_with(&flags, &[("BATON_PEER_CLIENT_SECRET", secret)]).failure();
        let exit = run.get_output().status.code().unwrap();
        let (message, hint) = why(&run);
        heard.push(format!("{exit}: {message}\n   {}", hint.replace('\n', "\n   ")));
    }
    let cloud = story.cloud.client().unwrap().base().to_string();
    let heard = heard.join("\n").replace(&issuer, "ISSUER").replace(&cloud, "CLOUD");
    insta::assert_snapshot!(heard, @"
    5: peer cloud does not let this node in by msal: expected a token for the audience urn:baton:cloud, found one for urn:baton:other
       register the peer again, with the --scope or --resource that gives this audience
       here: baton peers add CLOUD --name cloud --auth msal --issuer ISSUER --client-id laptop --resource urn:baton:other
    5: peer cloud does not let this node in by msal: expected a token of a client that is let in, found one of stranger
       auth.oidc.allowed_clients in the settings of the node that refuses it names those that are
       here: baton peers add CLOUD --name cloud --auth msal --issuer ISSUER --client-id stranger --resource urn:baton:cloud
    5: expected a token for peer cloud, found none: the provider ISSUER gives client laptop no token: invalid_client: client authentication failed
       make sure that the provider knows the client laptop, its secret and what it asks for; then run: baton peers add CLOUD --name cloud --auth msal --issuer ISSUER --client-id laptop --resource urn:baton:cloud
    5: expected a token for peer cloud, found none: the provider ISSUER gives client laptop no token: invalid_target: resource indicator is missing, or unknown
       make sure that the provider knows the client laptop, its secret and what it asks for; then run: baton peers add CLOUD --name cloud --auth msal --issuer ISSUER --client-id laptop --resource no:resource
    1: expected a token for peer cloud, found none: the provider http://127.0.0.1:9 does not answer: Connection refused (os error 111)
       nothing is to be typed: this node asks again the next time
    5: expected a token for peer cloud, found none: the provider https://10.0.0.7 cannot be asked: expected an address that this node may ask, found 10.0.0.7, which leads to the private address 10.0.0.7
       outbound.allow in the settings names what may be asked besides
    2: expected --scope, or --resource, with --auth msal, found none
    ");
    let peers = said(&baton(&story.laptop, &["peers", "list"]).success());
    assert_eq!(peers["items"], serde_json::json!([]), "nothing of that is registered");
    story.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_is_let_in_no_more_is_told_so_when_it_moves_sessions() {
    let mut story = Story::begin(&ProviderSettings::default()).await;
    story.push("one").success();
    // The other client is named at the cloud, and this one is not any more.
    allow(&story.cloud, story.provider.issuer(), "");
    let file = story.cloud.data().path().join("baton.toml");
    let settings = std::fs::read_to_string(&file).unwrap().replace("\"laptop\"", "\"stranger\"");
    std::fs::write(&file, settings).unwrap();
    story.cloud.keep_address().unwrap();
    story.cloud.stop_node().await.unwrap();
    story.cloud.start_node().await.unwrap();
    story.save("two");
    let run = told(&baton(&story.laptop, &["sync", "run"]).failure());
    let expected = "peer cloud does not let this node in by msal: expected a token of a client that \
                    is let in, found one of laptop";
    assert!(run.contains(expected), "{run}");
    assert!(run.contains("auth.oidc.allowed_clients") && run.contains("baton peers add"), "{run}");
    // Another client is taken in the place of the one that was.
    let flags: Vec<String> =
        story.client().iter().map(|flag| flag.replace("laptop", "stranger")).collect();
    let secret = [("BATON_PEER_CLIENT_SECRET", "stranger-secret")];
    let again = said(&story.register_with(&flags, &secret).success());
    assert_eq!(again["state"], "confirmed", "{again}");
    baton(&story.laptop, &["sync", "run"]).success();
    story.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_limited_peer_is_not_removed_while_its_client_would_be_let_in_without_limits() {
    let mut story = Story::begin(&ProviderSettings::default()).await;
    story.push("one").success();
    let peer =
        said(&baton(&story.cloud, &["peers", "list"]).success())["items"][0]["nodeId"].clone();
    let peer = peer.as_str().unwrap().to_owned();
    baton(&story.cloud, &["peers", "limit", &peer, "--sites", "shop.test"]).success();
    let (refused, hint) = why(&baton(&story.cloud, &["peers", "remove", &peer]).failure());
    let name = said(&baton(&story.cloud, &["peers", "list"]).success())["items"][0]["name"].clone();
    assert_eq!(
        refused.replace(name.as_str().unwrap(), "NAME"),
        "expected the client laptop of the peer NAME to be let in no more, found that the settings \
         let it in: it would come back without its limits"
    );
    assert!(hint.starts_with("take it out of auth.oidc.allowed_clients"), "{hint}");

    story.cloud.stop_node().await.unwrap();
    let file = story.cloud.data().path().join("baton.toml");
    let settings = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, settings.replace(r#"["laptop"]"#, r#"["another"]"#)).unwrap();
    story.cloud.start_node().await.unwrap();
    baton(&story.cloud, &["peers", "remove", &peer]).success();
    story.end().await;
}
