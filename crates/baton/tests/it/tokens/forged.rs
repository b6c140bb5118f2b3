//! Tokens that no provider has signed.

use super::story::{AUDIENCE, Story};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use baton_playground::tools::ProviderSettings;
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use serde_json::{Value, json};
use std::time::Instant;

/// A part of a token.
fn part(value: &Value) -> String {
    URL_SAFE_NO_PAD.encode(value.to_string())
}

/// What a good token says.
fn claims(issuer: &str) -> Value {
    json!({"iss": issuer, "aud": AUDIENCE, "tid": "t1", "azp": "laptop", "exp": 4_000_000_000_u32,
           "roles": ["Sessions.Sync"]})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_that_no_provider_signed_opens_nothing() {
    let story = Story::of_strangers(&ProviderSettings::default()).await;
    let good = story.token("laptop", AUDIENCE).await;
    let parts: Vec<&str> = good.split('.').collect();
    let [header, payload, signature] = parts.as_slice() else { panic!("{good}") };
    let said = part(&claims(story.provider.issuer()));
    let alg = |alg: &str| part(&json!({"alg": alg, "kid": "first", "typ": "JWT"}));
    let critical = part(&json!({"alg": "RS256", "kid": "first", "crit": ["b64"], "b64": false}));
    let keyless = part(&json!({"alg": "RS256"}));
    let foreign = part(&claims("https://elsewhere.test"));
    let mut heard = Vec::new();
    for (what, token) in [
        ("alg none", format!("{}.{said}.", alg("none"))),
        ("alg none, signed", format!("{}.{said}.{signature}", alg("none"))),
        ("alg NONE", format!("{}.{said}.", alg("NONE"))),
        ("HMAC with the public key", hmac(&story).await),
        ("another algorithm", format!("{}.{said}.{signature}", alg("RS512"))),
        ("a curve's name on an RSA key", format!("{}.{payload}.{signature}", alg("ES256"))),
        ("other claims", format!("{header}.{said}.{signature}")),
        ("no signature", format!("{header}.{payload}.")),
        ("critical extensions", format!("{critical}.{payload}.{signature}")),
        ("no key", format!("{keyless}.{payload}.{signature}")),
        ("another issuer", format!("{header}.{foreign}.{signature}")),
        ("no JSON", format!("x.{payload}.{signature}")),
        ("nothing", "..".to_owned()),
        ("too long", format!("{header}.{}.{signature}", "A".repeat(20_000))),
    ] {
        let told = story.told(&token).await;
        heard.push(format!("{what}: {told}"));
    }
    insta::assert_snapshot!(heard.join("\n"), @"
    alg none: 401 expected a token that is signed with RS256 or ES256, found none
    alg none, signed: 401 expected a token that is signed with RS256 or ES256, found none
    alg NONE: 401 expected a token that is signed with RS256 or ES256, found NONE
    HMAC with the public key: 401 expected a token that is signed with RS256 or ES256, found HS256
    another algorithm: 401 expected a token that is signed with RS256 or ES256, found RS512
    a curve's name on an RSA key: 401 expected a token that is signed with RS256 or ES256, found another way than its key has
    other claims: 401 expected the signature of the provider, found another one
    no signature: 401 expected the signature of the provider, found another one
    critical extensions: 401 expected a token that is signed with RS256 or ES256, found one with critical extensions
    no key: 401 expected a token that is signed with a key of the provider, found the key without a name
    another issuer: 401 expected a token of the issuer ISSUER, found one of https://elsewhere.test
    no JSON: 401 expected a token in the form of a JWT, found another text
    nothing: 401 expected a token in the form of a JWT, found another text
    too long: 401 expected a token in the form of a JWT, found another text
    ");
    // What no one has signed is noted, but does not fill the log.
    let noted = story.noted();
    assert_eq!(noted.len(), 10, "{noted:?}");
    assert_eq!(story.told(&good).await, "200 it is let in");
    story.end().await;
}

/// A token that takes the provider's public key for a secret: the classic confusion.
async fn hmac(story: &Story) -> String {
    let url = format!("{}/jwks", story.provider.issuer());
    let keys: Value = reqwest::get(url).await.unwrap().json().await.unwrap();
    let secret = EncodingKey::from_secret(keys["keys"][0]["n"].as_str().unwrap().as_bytes());
    let header = Header { kid: Some("first".to_owned()), ..Header::new(Algorithm::HS256) };
    jsonwebtoken::encode(&header, &claims(story.provider.issuer()), &secret).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_of_unknown_keys_costs_the_provider_next_to_nothing() {
    let story = Story::of_strangers(&ProviderSettings::default()).await;
    let good = story.token("laptop", AUDIENCE).await;
    assert_eq!(story.told(&good).await, "200 it is let in");
    let said = part(&claims(story.provider.issuer()));
    let (begun, before) = (Instant::now(), story.provider.asked("GET /jwks").unwrap());
    let forged: Vec<String> = (0..200)
        .map(|nr| {
            let header = part(&json!({"alg": "RS256", "kid": format!("unknown {nr}")}));
            format!("{header}.{said}.AAAA")
        })
        .collect();
    for some in forged.chunks(20) {
        let answers = some.iter().map(|token| story.card(token));
        for answer in futures_util::future::join_all(answers).await {
            let status = answer.status().as_u16();
            assert!([401, 429, 503].contains(&status), "{status}");
        }
    }
    let fetched = story.provider.asked("GET /jwks").unwrap() - before;
    let most = 1 + usize::try_from(begun.elapsed().as_secs() / 3).unwrap();
    assert!(fetched <= most, "expected at most {most} fetches, found {fetched}");
    // Whoever shows a good one is let in all the while.
    assert_eq!(story.told(&good).await, "200 it is let in");
    assert!(story.noted().len() <= 20, "{}", story.noted().len());
    story.end().await;
}
