//! Agents that do not behave, models that do not answer, and callers who leave.

use super::gateway::Agency;
use super::model::{Model, runs, says, written};
use super::scene::Scene;
use baton_api::{CreateKey, Scope};
use baton_session::Owner;
use reqwest::Response;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;

/// How long something may take to happen.
const LIMIT: Duration = Duration::from_mins(1);

/// Programs that do not behave.
const PROGRAMS: &str = r#"
[[gateway.agents]]
name = "endless"
command = ["yes", "and so on"]
prompt = "stdin"
[[gateway.agents]]
name = "patient"
command = ["/bin/sh", "-c", "echo here; sleep 600"]
[[gateway.agents]]
name = "silent"
command = ["sleep", "600"]
prompt = "stdin"
[[gateway.agents]]
name = "nowhere"
command = ["/no/such/program"]
[[gateway.agents]]
name = "elsewhere"
command = ["true"]
flavor = "none-such"
"#;

fn question(model: &str) -> Value {
    json!({"model": model, "messages": [{"role": "user", "content": "Hello?"}]})
}

/// Asks as this node's own user.
pub(super) async fn ask(scene: &Scene, request: &Value) -> Response {
    use secrecy::ExposeSecret;
    let client = scene.client();
    post(scene, client.key().expose_secret(), request).await
}

async fn post(scene: &Scene, key: &str, request: &Value) -> Response {
    let url = scene.client().base().join("v1/chat/completions").unwrap();
    let call = reqwest::Client::new().post(url).bearer_auth(key).json(request);
    call.send().await.unwrap()
}

/// What a caller is refused, in one line.
async fn refused(answer: Response) -> String {
    let status = answer.status().as_u16();
    let retries = answer.headers().get("x-should-retry").unwrap().to_str().unwrap().to_owned();
    let told: Value = answer.json().await.unwrap();
    let error = &told["error"];
    assert_eq!((retries.as_str(), &error["param"]), ("false", &Value::Null), "{told}");
    format!("{status} {}: {}", error["code"].as_str().unwrap(), error["message"].as_str().unwrap())
}

/// Why an answer ends, and what is said in it.
pub(super) async fn ends(answer: Response) -> (String, String) {
    let told: Value = answer.json().await.unwrap();
    let choice = &told["choices"][0];
    let text = |value: &Value| value.as_str().unwrap_or_else(|| panic!("{told}")).to_owned();
    (text(&choice["finish_reason"]), text(&choice["message"]["content"]))
}

/// Waits until no sandbox is left.
async fn empty(scene: &Scene) {
    let gone = async {
        while !scene.client().list_sandboxes().await.unwrap().items.is_empty() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(LIMIT, gone).await.expect("no sandbox is left");
}

/// Waits until some sandbox has the session, or none.
async fn has(scene: &Scene, some: bool) {
    let there = async {
        while scene.client().fetch_session("shop").await.unwrap().sandbox.is_some() != some {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(LIMIT, there).await.expect("the session is lent, or given back");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_leaves_ends_the_agent_and_gets_the_session_back() {
    let agency = Agency::open("", PROGRAMS).await;
    let scene = &agency.scene;
    scene.session("shop").await;
    for is_stream in [true, false] {
        let mut request = question("patient");
        request["browser_session_id"] = json!("shop");
        request["stream"] = json!(is_stream);
        let answer = tokio::spawn({
            let (url, key) = (scene.client().base().clone(), scene.client().key().clone());
            async move {
                use secrecy::ExposeSecret;
                let call = reqwest::Client::new().post(url.join("v1/chat/completions").unwrap());
                let answer = call.bearer_auth(key.expose_secret()).json(&request).send().await;
                // It is read until it is dropped.
                answer.unwrap().bytes().await
            }
        });
        has(scene, true).await;
        answer.abort();
        has(scene, false).await;
        let shown = scene.client().fetch_session("shop").await.unwrap();
        assert_eq!(shown.session.state.as_str(), "recoverable");
    }
    agency.scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_is_bounded_in_what_it_says_and_in_time() {
    let limit = format!("[gateway]\nlimit = 2\n{PROGRAMS}");
    let mut agency = Agency::open("", PROGRAMS).await;
    let (why, said) = ends(ask(&agency.scene, &question("endless")).await).await;
    assert_eq!((why.as_str(), said.len()), ("length", 4 << 20));
    let scene = &mut agency.scene;
    scene.settle(&limit).await;
    insta::assert_snapshot!(refused(ask(scene, &question("silent")).await).await, @"504 timed_out: expected an answer within 2s, found none (gateway.limit says how long an agent may take)");
    let mut request = question("silent");
    request["stream"] = json!(true);
    let told = ask(scene, &request).await.text().await.unwrap();
    assert!(told.contains("\"code\":\"timed_out\"") && !told.contains("[DONE]"), "{told}");
    empty(scene).await;
    agency.scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_asked_is_refused_and_leaves_nothing() {
    let agency = Agency::open("", PROGRAMS).await;
    let scene = &agency.scene;
    scene.session("shop").await;
    let say = async |request: Value| refused(ask(scene, &request).await).await;
    insta::assert_snapshot!(say(question("nowhere")).await, @"422 invalid_request: /no/such/program could not be started in the sandbox: No such file or directory (os error 2)");
    insta::assert_snapshot!(say(question("elsewhere")).await, @r#"422 unknown_flavor: expected a flavor among agent-ready, found "none-such" ([[sandboxes.flavors]] in the settings names them)"#);
    insta::assert_snapshot!(say(json!({"model": "patient"})).await, @"422 invalid_request: in the body, missing field `messages` at line 1 column 19");
    insta::assert_snapshot!(say(json!("Hello?")).await, @r#"422 invalid_request: in the body, invalid type: string "Hello?", expected struct ChatRequest at line 1 column 8"#);
    let long = json!([{"role": "user", "content": "long ".repeat(40_000)}]);
    insta::assert_snapshot!(say(json!({"model": "nowhere", "messages": long})).await, @"422 invalid_request: expected a command and environment of at most 131072 bytes, found more");

    // A session that somebody has, and one of somebody else.
    let holder = scene.sandbox_of("shop").await;
    let mut request = question("patient");
    request["browser_session_id"] = json!("shop");
    let held = say(request.clone()).await.replace(&holder.id.to_string(), "ID");
    insta::assert_snapshot!(held, @r#"409 session_held: expected session shop to be held by nobody, found that sandbox ID has it (end that first, or hand in a copy (--shared, or "shared": true))"#);
    scene.end(&holder).await;
    let key = async |scope| {
        let owner = Some("somebody-else".parse::<Owner>().unwrap());
        let scopes = BTreeSet::from([scope]);
        let request =
            CreateKey { name: format!("theirs {scope:?}"), owner, scopes, for_node: None };
        scene.client().create_key(&request).await.unwrap().secret
    };
    let (theirs, reader) = (key(Scope::Sandbox).await, key(Scope::Read).await);
    insta::assert_snapshot!(refused(post(scene, &theirs, &request).await).await, @r#"404 session_not_found: no session "shop" (baton sessions list shows the sessions there are)"#);
    insta::assert_snapshot!(refused(post(scene, &reader, &request).await).await, @"403 forbidden: expected a key with the scope sandbox, found one with read (baton keys create makes a key with other scopes)");
    empty(scene).await;
    agency.scene.strike().await;
}

const TOOLS: &str = "[[sandboxes.flavors]]\nname = \"tools\"\n";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_model_says_is_heard_while_it_speaks() {
    let agency = Agency::with(Model::start_slow().await, TOOLS, "").await;
    let (scene, model) = (&agency.scene, &agency.model);
    model.then(|_| says("one two three"));
    let mut request = question("baseline-cli-agent");
    request["stream"] = true.into();
    let mut answer = ask(scene, &request).await;
    let mut told = String::new();
    // The model says no more before this one has been heard.
    while !told.contains("one ") {
        told += std::str::from_utf8(&answer.chunk().await.unwrap().unwrap()).unwrap();
    }
    assert!(!told.contains("two"), "{told}");
    (0..10).for_each(|_| model.heard());
    told += &answer.text().await.unwrap();
    assert!(told.contains("two ") && told.contains("three") && told.contains("[DONE]"), "{told}");
    agency.scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_that_knows_no_streams_is_asked_for_all_of_it() {
    let agency = Agency::with(Model::start_plain().await, TOOLS, "").await;
    agency.model.then(|_| says("all at once"));
    let ended = ends(ask(&agency.scene, &question("baseline-cli-agent")).await).await;
    assert_eq!(ended, ("stop".to_owned(), "all at once".to_owned()));
    agency.scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_that_does_not_behave_is_told_apart() {
    let agency = Agency::open(TOOLS, "").await;
    let (scene, model) = (&agency.scene, &agency.model);
    let request = question("baseline-cli-agent");
    insta::assert_snapshot!(refused(ask(scene, &request).await).await, @"502 upstream_failed: the model of [gateway.upstream] gives no answer: it answers 503 Service Unavailable");
    model.then(|_| json!({"choices": []}));
    insta::assert_snapshot!(refused(ask(scene, &request).await).await, @"502 upstream_failed: the model of [gateway.upstream] gives no answer: expected a choice, found none");

    // One that never comes to an end.
    (0..3).for_each(|_| model.then(|_| runs("echo again")));
    let ended = ends(ask(scene, &request).await).await;
    assert_eq!(ended, ("length".to_owned(), "I look.\n\nI look.\n\nI look.".to_owned()));

    // One that misuses its tool is told so, and may do better.
    model.then(|_| {
        let mut turn = runs("");
        turn["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"] = json!("nonsense");
        turn
    });
    model.then(|asked| {
        assert_eq!(written(asked), "error: expected arguments such as {\"command\": \"ls\"}");
        runs("seq 100000; exit 7")
    });
    model.then(|asked| {
        let text = written(asked);
        says(&format!(
            "{} {}",
            text.contains("bytes are left out"),
            text.ends_with("[exit code 7]")
        ))
    });
    let (why, said) = ends(ask(scene, &request).await).await;
    assert_eq!((why.as_str(), said.as_str()), ("stop", "I look.\n\nI look.\n\ntrue true"));
    empty(scene).await;
    agency.scene.strike().await;
}
