//! Every operation, with every kind of key. What is expected stands in one table; an operation without a
//! line in it fails.

use super::{Operation, operations, owners};
use crate::fixture::{Folder, Node, problem};
use baton_api::{CreateKey, ErrorCode, Scope};
use baton_net::rates::RateLimits;
use std::collections::BTreeMap;

/// Who may do it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Who {
    /// Anybody.
    Anybody,
    /// Who has opened an ask, and no key.
    Guest,
    /// Whoever has a key; what it allows is looked at by what is asked for.
    AnyKey,
    /// A key with this scope.
    With(Scope),
    /// A key with one of the two.
    Either(Scope, Scope),
}

/// Who may do what.
const TABLE: &str = "
    GET /health anybody
    GET /ready anybody
    GET /openapi.json anybody
    POST /debug/pair/exchange anybody
    POST /page/session anybody
    GET /page/ways anybody
    POST /page/oidc anybody
    GET /page/oidc/callback anybody
    POST /asked/look anybody
    POST /asked/open anybody
    GET /asked guest
    POST /asked/end guest
    PUT /asked/files/{name} guest
    GET /asked/live guest
    POST /asked/live guest
    POST /page/tickets key
    GET /page/session key
    DELETE /page/session key
    GET /mcp key
    POST /mcp key
    DELETE /mcp key
    GET /sessions read
    POST /sessions drive
    POST /sessions/attach admin
    POST /sessions/import drive
    GET /sessions/{id} read
    DELETE /sessions/{id} drive
    POST /sessions/{id}/abandon drive
    POST /sessions/{id}/capture drive
    GET /sessions/{id}/cdp drive
    POST /sessions/{id}/cdp drive
    POST /sessions/{id}/close drive
    GET /sessions/{id}/contexts read
    POST /sessions/{id}/contexts/keep drive
    POST /sessions/{id}/debug drive
    GET /sessions/{id}/diff read
    GET /sessions/{id}/export read
    GET /sessions/{id}/files drive
    GET /sessions/{id}/files/{name} drive
    PUT /sessions/{id}/files/{name} drive
    DELETE /sessions/{id}/files/{name} drive
    GET /sessions/{id}/history read
    GET /sessions/{id}/icon read
    GET /sessions/{id}/live watch
    POST /sessions/{id}/live watch
    GET /sessions/{id}/logins read
    POST /sessions/{id}/ask drive
    GET /sessions/{id}/ask/{ask} drive
    DELETE /sessions/{id}/ask/{ask} drive
    POST /sessions/{id}/pass drive
    GET /sessions/{id}/preview read
    POST /sessions/{id}/resume drive
    POST /sessions/{id}/rollback drive
    POST /sessions/{id}/save sync
    GET /sessions/{id}/state read
    GET /events read
    GET /federation read
    POST /federation drive
    GET /federation/events read
    GET /federation/sessions read
    GET /audit read|admin
    GET /usage read
    GET /nodes admin
    GET /nodes/{id} admin
    DELETE /nodes/{id} admin
    POST /nodes/{id}/drain admin
    DELETE /nodes/{id}/drain admin
    POST /nodes/{id}/sessions/{session} key
    POST /nodes/{id}/tools/{tool} key
    DELETE /nodes/{id}/sessions/{session} key
    POST /nodes/{id}/sessions/{session}/profile key
    PUT /nodes/{id}/sessions/{session}/files/{name} key
    DELETE /nodes/{id}/sessions/{session}/files/{name} key
    GET /keys admin
    POST /keys admin
    DELETE /keys/{id} admin
    GET /cocoons debug
    PUT /cocoons/{id} admin
    DELETE /cocoons/{id} admin
    POST /cocoons/{id}/ticket debug
    GET /debug/tabs debug
    GET /debug/tabs/{token}/har debug
    POST /debug/tabs/{token}/console debug
    POST /debug/tabs/{token}/network debug
    POST /debug/pair debug
    POST /debug/connect browser
    GET /api/signaling/ws debug
    GET /api/sandboxes sandbox
    POST /api/sandboxes sandbox
    GET /api/sandboxes/{id} sandbox
    DELETE /api/sandboxes/{id} sandbox
    GET /api/sandboxes/{id}/display sandbox
    POST /api/sandboxes/{id}/display sandbox
    POST /api/sandboxes/{id}/exec sandbox
    GET /api/sandboxes/{id}/files sandbox
    PUT /api/sandboxes/{id}/files sandbox
    GET /v1/models sandbox
    GET /v1/models/{id} sandbox
    POST /v1/chat/completions sandbox
    GET /sync/card sync
    GET /sync/conflicts sync
    GET /sync/conflicts/{session} sync
    POST /sync/conflicts/{session} sync
    GET /sync/differences/{peer} sync
    GET /sync/directory sync
    GET /sync/events sync
    POST /sync/files sync
    GET /sync/greeting sync
    GET /sync/icons/{peer}/{session} sync
    GET /sync/index sync
    POST /sync/index/next sync
    GET /sync/invitations admin
    POST /sync/invitations admin
    DELETE /sync/invitations/{id} admin
    POST /sync/invitations/redeem anybody
    POST /sync/join admin
    DELETE /sync/listener admin
    GET /sync/peers sync
    POST /sync/peers sync
    DELETE /sync/peers/{peer} admin
    POST /sync/peers/{peer}/confirm admin
    PUT /sync/peers/{peer}/limits admin
    POST /sync/peers/{peer}/ping sync
    POST /sync/pull/{peer}/{session} sync
    POST /sync/push/{peer}/{session} sync
    POST /sync/sessions sync
    DELETE /sync/sessions/{id} sync
    GET /sync/sessions/{id} sync
    POST /sync/sessions/{id}/lease sync
    POST /sync/sessions/{id}/parts sync
    POST /sync/sessions/{id}/parts/fetch sync
    GET /sync/sessions/{id}/revisions sync
    POST /sync/sessions/{id}/revisions sync
    POST /sync/sessions/{id}/revisions/seen sync
    POST /sync/sessions/{id}/seal/{peer} sync
    GET /sync/sessions/{session}/icon sync
";

fn table() -> BTreeMap<String, Who> {
    let scope = |word: &str| {
        let found = Scope::ALL.into_iter().find(|scope| scope.as_str() == word);
        found.unwrap_or_else(|| panic!("no scope {word}"))
    };
    let lines = TABLE.lines().map(str::trim).filter(|line| !line.is_empty());
    let row = |line: &str| {
        let (operation, who) = line.rsplit_once(' ').unwrap();
        let who = match who {
            "anybody" => Who::Anybody,
            "guest" => Who::Guest,
            "key" => Who::AnyKey,
            word => match word.split_once('|') {
                Some((one, other)) => Who::Either(scope(one), scope(other)),
                None => Who::With(scope(word)),
            },
        };
        (operation.to_owned(), who)
    };
    lines.map(row).collect()
}

/// How a key is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Unknown,
    Forbidden,
    Heard,
}

async fn ask(node: &Node, operation: &Operation, key: Option<&str>) -> (Outcome, String) {
    let Operation { method, path, .. } = operation;
    let address = path.replace("{id}", "0197c0de").replace("{session}", "0197c0de");
    let address = address.replace("{peer}", "cloud").replace("{token}", "abcdefgh23456789");
    let address = address.replace("{ask}", "ask_0").replace("{name}", "note");
    let address = match address {
        path if path.ends_with("/diff") => format!("{path}?a=0197&b=0197"),
        path if path.ends_with("/files") && !path.starts_with("/sync") => format!("{path}?path=a"),
        path if path.ends_with("/export") => format!("{path}?format=session"),
        path => path,
    };
    let call = node.request(method.clone(), &address);
    let call = match key {
        Some(key) => call.bearer_auth(key),
        None => call,
    };
    let call = match owners::body(method, path) {
        Some(body) => call.json(&body),
        None => call,
    };
    let answer = call.send().await.unwrap();
    match answer.status().as_u16() {
        401 => (Outcome::Unknown, String::new()),
        // The API says what is lacking; OpenAI's protocol in its own form.
        403 => {
            let text = answer.text().await.unwrap();
            let lacks = text.contains("expected a key with the scope");
            (if lacks { Outcome::Forbidden } else { Outcome::Heard }, text)
        }
        status => (Outcome::Heard, status.to_string()),
    }
}

#[tokio::test]
async fn every_operation_answers_every_kind_of_key_as_the_table_says() {
    let folder = Folder::new();
    let mut config = folder.config();
    // Nobody is refused here for having asked often.
    config.rates =
        RateLimits { requests_per_minute: 1_000_000, refused_keys_per_minute: 1_000_000 };
    let node = folder.start_with(config).await;
    let owner = Some("bob".parse().unwrap());
    let key = async |name: &str, scopes: &[Scope]| {
        let scopes = scopes.iter().copied().collect();
        let request =
            CreateKey { name: name.to_owned(), owner: owner.clone(), scopes, for_node: None };
        node.admin().create_key(&request).await.unwrap()
    };
    let revoked = key("revoked", &Scope::ALL).await;
    node.admin().revoke_key(&revoked.key.id, owner.as_ref()).await.unwrap();
    let never = format!("baton_{}", "A".repeat(43));
    let mut single = Vec::new();
    for scope in Scope::ALL {
        single.push((scope, key(scope.as_str(), &[scope]).await.secret));
    }

    let table = table();
    let mut seen = Vec::new();
    let mut wrong = Vec::new();
    for operation in operations() {
        let name = format!("{} {}", operation.method, operation.path);
        let Some(who) = table.get(&name).copied() else {
            wrong.push(format!("{name}: expected a line in the table, found none"));
            continue;
        };
        seen.push(name.clone());
        let strangers = [
            ("no key", None),
            ("a wrong key", Some(never.as_str())),
            ("no key of ours", Some("x")),
        ];
        let strangers = strangers.into_iter().chain([("a revoked key", Some(&*revoked.secret))]);
        for (kind, key) in strangers {
            let (found, told) = ask(&node, &operation, key).await;
            // A code that pairs a browser, or signs a page in, is a key of its own, and so is a link.
            let is_pairing = [
                "POST /debug/pair/exchange",
                "POST /page/session",
                "POST /asked/look",
                "POST /asked/open",
            ]
            .contains(&name.as_str());
            let expected =
                if who == Who::Anybody && !is_pairing { Outcome::Heard } else { Outcome::Unknown };
            if found != expected && !(is_pairing && found == Outcome::Heard) {
                wrong.push(format!("{name} with {kind}: {found:?}, not {expected:?} {told}"));
            }
        }
        for (scope, key) in &single {
            let may = match who {
                Who::Guest => false,
                Who::Anybody | Who::AnyKey => true,
                Who::With(needed) => needed == *scope,
                Who::Either(one, other) => [one, other].contains(scope),
            };
            let (found, told) = ask(&node, &operation, Some(key)).await;
            let expected = match who {
                Who::Guest => Outcome::Unknown,
                _ if may => Outcome::Heard,
                _ => Outcome::Forbidden,
            };
            let is_refused_later =
                may && found == Outcome::Forbidden && !told.contains(&needs(*scope));
            let is_public = who == Who::Anybody && found == Outcome::Unknown;
            if found != expected && !is_refused_later && !is_public {
                wrong.push(format!("{name} with {scope}: {found:?}, not {expected:?} {told}"));
            }
        }
    }
    let gone = table.keys().filter(|name| !seen.contains(name));
    wrong.extend(gone.map(|name| format!("{name}: expected an operation, found none")));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    node.stop().await;
}

/// What is said when this scope is lacking. An operation may want another one besides.
fn needs(scope: Scope) -> String {
    format!("expected a key with the scope {scope}")
}

#[tokio::test]
async fn a_key_counts_only_as_a_bearer_and_never_in_an_address() {
    let node = Node::start().await;
    let key = node.admin_key();
    let forms = [
        ("authorization", format!("Basic {key}")),
        ("authorization", key.clone()),
        ("authorization", format!("Bearer{key}")),
        ("authorization", format!("Bearer {key}x")),
        ("authorization", format!("Bearer x{key}")),
        ("proxy-authorization", format!("Bearer {key}")),
        ("x-api-key", key.clone()),
        ("cookie", format!("authorization=Bearer {key}")),
    ];
    for (name, value) in forms {
        let call = node.request(reqwest::Method::GET, "/sessions").header(name, value);
        let refused = problem(call.send().await.unwrap()).await;
        assert_eq!(refused.code, ErrorCode::Unauthenticated, "{name}");
    }
    for query in ["key", "token", "access_token", "authorization"] {
        let call = node.request(reqwest::Method::GET, &format!("/sessions?{query}={key}"));
        assert_eq!(call.send().await.unwrap().status(), 401, "{query}");
    }
    for form in [format!("bearer\t{key}"), format!("BEARER  {key} ")] {
        let call = node.request(reqwest::Method::GET, "/sessions").header("authorization", form);
        assert_eq!(call.send().await.unwrap().status(), 200);
    }
    node.stop().await;
}
