//! A person signs in at a real provider, in a real Chromium, and comes back.

use crate::telling::{Story, tell, wanted_shots};
use crate::test_nodes;
use baton_playground::TestNode;
use baton_playground::tools::{Provider, ProviderSettings};
use serde_json::{Value, json};
use std::fs;
use std::time::Duration;
use url::Url;

/// How long the whole story may take.
const LIMIT: Duration = Duration::from_mins(6);

/// Has a node send people to a provider, with these rules; what the page is called there is said by `name`.
pub(super) fn send_people(test_node: &TestNode, issuer: &str, rules: &str, more: &str) {
    let data = test_node.data();
    fs::create_dir_all(data.path()).unwrap();
    data.create().unwrap();
    let secret = data.path().join("page.secret");
    fs::write(&secret, "page-secret\n").unwrap();
    let settings = format!(
        "{more}\n[auth.oidc]\nissuer = \"{issuer}\"\n[auth.oidc.people]\nclient_id = \"page\"\n\
         client_secret_file = \"{}\"\nname = \"Example\"\nrules = [{rules}]\n",
        secret.display()
    );
    fs::write(data.path().join("baton.toml"), settings).unwrap();
}

/// Who works in the shop comes in.
pub(super) const SHOPKEEPERS: &str = "{ claim = \"groups\", value = \"shop\", owner = \"shop\", \
                                      scopes = [\"read\", \"drive\", \"watch\"] }";

/// Where the page of a node is.
pub(super) async fn page_of(test_node: &TestNode) -> Url {
    let mut page = test_node.client().unwrap().open_page().await.unwrap().url;
    page.set_fragment(None);
    page
}

/// The provider knows Ada, who works in the shop, and Eve, who does not.
fn people(page: &Url, claims: &str) -> ProviderSettings {
    let known = json!({
        "ada": {"email": "ada@example.org", "email_verified": true, "groups": ["staff", "shop"]},
        "eve": {"email": "eve@example.org", "email_verified": true, "groups": ["staff"]},
    });
    let Value::Object(people) = known else { unreachable!() };
    let back = vec![page.join("/page/oidc/callback").unwrap().to_string()];
    ProviderSettings { back, people, claims: claims.to_owned(), ..ProviderSettings::default() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_comes_from_a_provider_and_has_what_a_rule_says() {
    let mut provider = Provider::start(&ProviderSettings::default()).await.unwrap();
    let issuer = provider.issuer().to_owned();
    let test_node = test_nodes::build();
    send_people(&test_node, &issuer, SHOPKEEPERS, "");
    let mut test_node = test_nodes::start(test_node).await;
    test_node.keep_address().unwrap();
    let page = page_of(&test_node).await;
    provider.stop().await.unwrap();
    let settings = people(&page, "id_token");
    provider.start_again(&settings).await.unwrap();

    let data = test_node.data().path().to_owned();
    let variables =
        [("DATA", data.as_os_str()), ("PAGE", page.as_str().as_ref()), ("ISSUER", issuer.as_ref())];
    let text = include_str!("person.mjs");
    let story = Story { text, variables: &variables, shots: wanted_shots(), limit: LIMIT };
    let seen = tell(story, async |what| {
        match what {
            "stop the provider" => provider.stop().await.unwrap(),
            "start the provider with another key" => {
                let key = "second".to_owned();
                let claims = "userinfo".to_owned();
                let settings = ProviderSettings { key, claims, ..settings.clone() };
                provider.start_again(&settings).await.unwrap();
            }
            "start the node again" => {
                test_node.stop_node().await.unwrap();
                test_node.start_node().await.unwrap();
            }
            "take the rule away" => {
                test_node.stop_node().await.unwrap();
                let others = SHOPKEEPERS.replace("\"shop\", owner", "\"books\", owner");
                send_people(&test_node, &issuer, &others, "");
                test_node.start_node().await.unwrap();
            }
            other => panic!("nobody knows how to {other}"),
        }
        "done".to_owned()
    })
    .await;
    insta::assert_snapshot!(seen, @"
    signed in as shop, by what the provider says of Ada
    two pages of hers, and one that signs out
    a person whom no rule names
    a person who does not want to
    an answer that another browser brings, and the one that it belongs to
    an answer that comes twice
    an address that signs in who came back by it, and nobody else
    a provider that does not answer
    a provider with another key, which says more where it is asked
    a node that starts again knows her
    her key is revoked, and her page goes dark
    signed out
    a rule that is gone takes along what it gave
    ");
    test_node.clear().await.unwrap();
    provider.clear().await.unwrap();
}
