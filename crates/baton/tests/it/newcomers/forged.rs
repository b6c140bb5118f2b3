//! Answers that no good provider gives, and browsers that bring what is not theirs.

use super::standin::Scene;
use baton_api::ListAudit;
use serde_json::{Value, json};

/// What was heard, whatever the clock said.
fn without_now(heard: &str) -> String {
    let now = regex::Regex::new("; it is [0-9TZ:.-]+ here").unwrap();
    now.replace_all(heard, "; it is NOW here").into_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_an_id_token_for_this_very_sign_in_lets_a_person_in() {
    let scene = Scene::start().await;
    let soon = jiff::Timestamp::now().as_second() + 90;
    let mut heard = Vec::new();
    for (what, change) in [
        ("a good one", json!({})),
        ("for two, asked by us", json!({"aud": ["page", "other"], "azp": "page"})),
        ("for two, asked by nobody", json!({"aud": ["page", "other"]})),
        ("asked by another client", json!({"azp": "other"})),
        ("for another client", json!({"aud": "other"})),
        ("of another provider", json!({"iss": "https://elsewhere.test"})),
        ("of last year", json!({"exp": 1_700_000_000})),
        ("of next century", json!({"nbf": 3_900_000_000_u32})),
        ("that answers another sign-in", json!({"nonce": "other"})),
        ("that answers none", json!({"nonce": null})),
        ("about nobody", json!({"sub": ""})),
        ("about somebody who may not", json!({"groups": ["shopkeepers"]})),
        ("of a short session", json!({"session_expiry": soon})),
        ("of a session that is over", json!({"session_expiry": soon - 120})),
    ] {
        let departed = scene.depart().await;
        let mut claims = scene.claims(&departed);
        for (claim, value) in change.as_object().unwrap() {
            claims[claim] = value.clone();
        }
        let token = scene.key.sign(&claims);
        scene.says(|says| says.token = token);
        let query = [("code", "the code"), ("state", &*departed.state)];
        heard.push(format!("{what}: {}", scene.arrive(&query, Some(&departed.cookie)).await));
    }
    let heard = heard.join("\n");
    insta::assert_snapshot!(without_now(&heard), @"
    a good one: shop by ada@example.org (Example)
    for two, asked by us: shop by ada@example.org (Example)
    for two, asked by nobody: 401 expected an ID token for this sign-in, found one that another client asked for
    asked by another client: 401 expected an ID token for this sign-in, found one that another client asked for
    for another client: 401 expected a token for the audience page, found one for other
    of another provider: 401 expected a token of the issuer ISSUER, found one of https://elsewhere.test
    of last year: 401 expected a token that counts now, found one that expired at 2023-11-14T22:13:20Z; it is NOW here
    of next century: 401 expected a token that counts now, found one that counts from 2093-08-01T21:20:00Z on; it is NOW here
    that answers another sign-in: 401 expected an ID token for this sign-in, found one for another sign-in
    that answers none: 401 expected an ID token for this sign-in, found one for another sign-in
    about nobody: 401 expected an ID token for this sign-in, found one about nobody
    about somebody who may not: 403 expected somebody whom a rule names, found ada@example.org, whose groups none does
    of a short session: shop by ada@example.org (Example)
    of a session that is over: 401 expected an ID token for this sign-in, found one of a session that has ended there
    ");
    // What was refused is noted, with why.
    let audit = ListAudit { limit: Some(100), ..ListAudit::default() };
    let audit = scene.node.client().unwrap().list_audit(&audit).await.unwrap();
    let noted = audit.items.iter().filter(|entry| entry.action == "page.sign_in");
    let noted: Vec<String> = noted
        .map(|entry| {
            let why = entry.detail["refused"].as_str().unwrap_or("let in");
            format!("{} {why}", entry.actor.replace(&scene.issuer, "ISSUER"))
        })
        .map(|line| line.split(" (person").next().unwrap().to_owned())
        .collect();
    insta::assert_snapshot!(noted.join("\n"), @"
    a person of ISSUER not_this_one
    ada@example.org (Example)
    a person of ISSUER no_rule
    a person of ISSUER not_this_one
    a person of ISSUER not_this_one
    a person of ISSUER not_this_one
    a person of ISSUER not_yet
    a person of ISSUER expired
    a person of ISSUER issuer
    a person of ISSUER audience
    a person of ISSUER not_this_one
    a person of ISSUER not_this_one
    ada@example.org (Example)
    ada@example.org (Example)
    ");
    scene.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_another_key_signed_or_another_place_says_lets_nobody_in() {
    let scene = Scene::start().await;
    let mut heard = Vec::new();
    let unsigned = |claims: &Value| {
        use base64::Engine as _;
        let part = |value: &Value| {
            base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(value.to_string())
        };
        format!("{}.{}.", part(&json!({"alg": "none", "kid": "only"})), part(claims))
    };
    for (what, signed) in [("of another key", true), ("of no key", false)] {
        let departed = scene.depart().await;
        let claims = scene.claims(&departed);
        let token = if signed { scene.other_key.sign(&claims) } else { unsigned(&claims) };
        scene.says(|says| says.token = token);
        let query = [("code", "the code"), ("state", &*departed.state)];
        heard.push(format!("{what}: {}", scene.arrive(&query, Some(&departed.cookie)).await));
    }
    for (what, more) in [
        ("more of her", json!({"sub": "7", "groups": ["shop"]})),
        ("more of another person", json!({"sub": "8", "groups": ["shop"]})),
        ("nothing more", json!({"sub": "7"})),
        ("another name", json!({"sub": "7", "groups": ["shop"], "email": "root@example.org"})),
    ] {
        let departed = scene.depart().await;
        let mut claims = scene.claims(&departed);
        claims.as_object_mut().unwrap().remove("groups");
        let token = scene.key.sign(&claims);
        scene.says(|says| (says.token, says.more) = (token, more));
        let query = [("code", "the code"), ("state", &*departed.state)];
        heard.push(format!("{what}: {}", scene.arrive(&query, Some(&departed.cookie)).await));
    }
    insta::assert_snapshot!(heard.join("\n"), @"
    of another key: 401 expected the signature of the provider, found another one
    of no key: 401 expected a token that is signed with RS256 or ES256, found none
    more of her: shop by ada@example.org (Example)
    more of another person: 401 expected an ID token for this sign-in, found an answer about another person
    nothing more: 403 expected somebody whom a rule names, found ada@example.org, whose groups none does
    another name: shop by ada@example.org (Example)
    ");
    scene.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_counts_once_and_for_the_browser_that_left() {
    let scene = Scene::start().await;
    let (one, two) = (scene.depart().await, scene.depart().await);
    let token = scene.key.sign(&scene.claims(&two));
    scene.says(|says| says.token = token);
    let state = &*two.state;
    let good = [("code", "the code"), ("state", state)];
    let mut heard = Vec::new();
    for (what, query, cookie) in [
        ("no cookie", &good[..], None),
        ("a cookie of another sign-in", &good, Some(&one.cookie)),
        ("no state", &[("code", "the code")], Some(&two.cookie)),
        ("a state of nobody", &[("code", "the code"), ("state", "AAAA")], Some(&two.cookie)),
        ("in letters of elsewhere", &[("code", "the code"), ("state", "äöü;ß, \r\nx")], None),
        ("what it belongs to", &good, Some(&two.cookie)),
        ("the same again", &good, Some(&two.cookie)),
    ] {
        heard.push(format!("{what}: {}", scene.arrive(query, cookie.map(String::as_str)).await));
    }
    for (what, more) in [
        ("declined", [("error", "access_denied"), ("error_description", "she\ndid not want to")]),
        ("without a code", [("x", "y"), ("session_state", "z")]),
        ("of another provider", [("code", "the code"), ("iss", "https://elsewhere.test")]),
    ] {
        let departed = scene.depart().await;
        let query = [more[0], more[1], ("state", &*departed.state)];
        heard.push(format!("{what}: {}", scene.arrive(&query, Some(&departed.cookie)).await));
    }
    let departed = scene.depart().await;
    scene.says(|says| says.is_silent = true);
    let query = [("code", "the code"), ("state", &*departed.state)];
    heard.push(format!("silence: {}", scene.arrive(&query, Some(&departed.cookie)).await));
    insta::assert_snapshot!(heard.join("\n"), @"
    no cookie: 401 expected an answer to a sign-in that this browser began within 10 minutes, found one that another browser began
    a cookie of another sign-in: 401 expected an answer to a sign-in that this browser began within 10 minutes, found one that another browser began
    no state: 401 expected an answer to a sign-in that this browser began within 10 minutes, found one that does not count, or no longer
    a state of nobody: 401 expected an answer to a sign-in that this browser began within 10 minutes, found one that does not count, or no longer
    in letters of elsewhere: 401 expected an answer to a sign-in that this browser began within 10 minutes, found one that does not count, or no longer
    what it belongs to: shop by ada@example.org (Example)
    the same again: 401 expected an answer to a sign-in that this browser began within 10 minutes, found one that does not count, or no longer
    declined: 401 the provider signed nobody in: access_denied: she did not want to
    without a code: 401 the provider signed nobody in: its answer has no code
    of another provider: 401 expected an ID token for this sign-in, found an answer of another provider
    silence: 503 the provider ISSUER does not answer: it took too long
    ");
    scene.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_came_back_leads_no_other_browser_in() {
    let scene = Scene::start().await;
    let mut heard = Vec::new();
    let mut come_back = Vec::new();
    for query in [("code", "the code"), ("error", "access_denied")] {
        let departed = scene.depart().await;
        let token = scene.key.sign(&scene.claims(&departed));
        scene.says(|says| says.token = token);
        let query = [query, ("state", &*departed.state)];
        come_back.push(scene.come_back(&scene.node, &query, Some(&departed.cookie)).await);
    }
    let [(code, cookie), (refusal, its_cookie)] = &come_back[..] else { unreachable!() };
    for (what, code, cookie) in [
        ("the address alone", code, None),
        ("a cookie of another one", code, Some(its_cookie)),
        ("a refusal alone", refusal, None),
        ("what it belongs to", code, Some(cookie)),
        ("the same again", code, Some(cookie)),
        ("a refusal with its own", refusal, Some(its_cookie)),
    ] {
        let answer = scene.redeem_at(&scene.node, code, cookie.map(String::as_str)).await;
        heard.push(format!("{what}: {}", scene.told(answer).await));
    }
    insta::assert_snapshot!(heard.join("\n"), @"
    the address alone: 401 expected a code that signs the page in, found one with which another browser came back
    a cookie of another one: 401 expected a code that signs the page in, found one with which another browser came back
    a refusal alone: 401 expected a code that signs the page in, found one with which another browser came back
    what it belongs to: shop by ada@example.org (Example)
    the same again: 401 expected a code that signs the page in, found one that does not count, or no longer
    a refusal with its own: 401 the provider signed nobody in: access_denied
    ");
    scene.end().await;
}
