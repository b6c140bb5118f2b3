//! Agents that are asked as if they were models, with OpenAI's own SDK.

use super::agent::{browser, tools};
use super::model::{Model, runs, says, written};
use super::scene::Scene;
use crate::guide::Guide;
use baton_api::{CreateKey, OpenSession, Scope, SnapshotReason};
use baton_playground::Page;
use baton_playground::tools::{Npm, Python, Room};
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;
use url::Url;

/// How long a program may take.
const LIMIT: Duration = Duration::from_mins(2);

/// A scene whose node has agents, and the model that one of them asks.
pub(super) struct Agency {
    pub(super) scene: Scene,
    pub(super) model: Model,
    _key: tempfile::NamedTempFile,
}

impl Agency {
    /// With settings behind those of sandboxes.
    pub(super) async fn open(flavor: &str, agents: &str) -> Self {
        Self::with(Model::start().await, flavor, agents).await
    }

    /// With this model.
    pub(super) async fn with(model: Model, flavor: &str, agents: &str) -> Self {
        let key = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(key.path(), "m0del\n").unwrap();
        let settings = format!("{flavor}{}{agents}", model.settings(key.path()));
        Self { scene: Scene::set_with(&settings).await, model, _key: key }
    }

    /// Runs a program of Python that asks.
    async fn python(&self, room: &Room, text: &str) -> String {
        let client = self.scene.client();
        let key = CreateKey {
            name: "agents".to_owned(),
            owner: None,
            scopes: BTreeSet::from([Scope::Sandbox]),
            for_node: None,
        };
        let key = client.create_key(&key).await.unwrap().secret;
        let mut python = room.command("python").unwrap();
        python.args(["-c", text]).env("BATON_KEY", key);
        python.env("BATON_URL", client.base().as_str().trim_end_matches('/'));
        room.run(python, LIMIT).await.unwrap()
    }
}

/// The program of the guide.
fn guide() -> String {
    let mut guide = Guide::read(include_str!("../../../../../docs/guide/hand-in.md"));
    let mut steps = guide.section("Ask an agent").into_iter();
    steps.find(|step| step.language == "python").unwrap().text
}

/// A browser that finds `host` at this machine, as sandboxes do; and settings that name it.
fn browser_that_knows_host(folder: &Path) -> String {
    let (program, real) = (folder.join("browser"), browser());
    let script = format!(
        "#!/bin/sh\nexec {} --host-resolver-rules='MAP host 127.0.0.1' \"$@\"\n",
        real.display()
    );
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    format!("[browser]\nprogram = \"{}\"\n", program.display())
}

/// Somebody logs in, in a browser of the node, which is closed then.
async fn log_in(scene: &Scene, name: &str) {
    let login = Url::parse(&scene.url()).unwrap().join("login").unwrap();
    let request = OpenSession::new(name.parse().unwrap(), [login.clone()]);
    let id = scene.client().open_session(&request).await.unwrap().session.id;
    let page = Page::attach(&scene.test_node.keeper_socket(id), login.as_str()).await.unwrap();
    page.wait_for("document.getElementById('name') !== null").await.unwrap();
    page.type_into("name", "Ada").await.unwrap();
    page.press_enter().await.unwrap();
    page.wait_for("document.getElementById('who')?.textContent === 'Ada'").await.unwrap();
    scene.client().close_session(name).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_says_who_is_logged_in() {
    let (npm, python) = (Npm::install().await.unwrap(), Python::install().await.unwrap());
    let folder = tempfile::tempdir().unwrap();
    let agency = Agency::open(&tools(&npm), &browser_that_knows_host(folder.path())).await;
    let (scene, model) = (&agency.scene, &agency.model);
    log_in(scene, "shop").await;
    let line = format!("$AB open {} > open.log && $AB get text '#who'", scene.url());
    model.then(move |_| runs(&line));
    model.then(|asked| says(&format!("You are {}.", written(asked).lines().next().unwrap())));
    let room = python.room().unwrap();
    let said = agency.python(&room, &guide().replace("example.org", "host")).await;
    assert_eq!(said, "I look.\n\nYou are Ada.");

    // The agent was told where it is logged in, and what it was asked; the session came back.
    let asked = model.asked();
    let told = asked[0]["messages"].as_array().unwrap();
    assert!(told[0]["content"].as_str().unwrap().contains("the following domains:\n- host\n"));
    assert_eq!(told[1]["content"], "Who am I at host?");
    assert_eq!((asked[0]["model"].as_str(), asked.len()), (Some("scripted"), 2));
    let shown = scene.client().fetch_session("shop").await.unwrap();
    assert_eq!(shown.snapshot.unwrap().reason, SnapshotReason::Sandbox);
    assert!(shown.sandbox.is_none());
    let cookies = scene.cookies("shop").await;
    let rotated = cookies.iter().find(|(name, _)| name == "refresh").unwrap();
    assert!(rotated.1.parse::<u32>().unwrap() > 2, "{cookies:?}");
    assert!(scene.client().list_sandboxes().await.unwrap().items.is_empty());
    agency.scene.strike().await;
}

/// Programs that are asked: one for each way of telling it what to do.
const PROGRAMS: &str = r#"
[[gateway.agents]]
name = "by-argument"
command = ["/bin/sh", "-c", "printf 'a:%s' \"$1\"", "sh"]
[[gateway.agents]]
name = "by-stdin"
command = ["/bin/sh", "-c", "printf 's:'; cat; printf ' %s' \"$OWN\""]
prompt = "stdin"
env = { OWN = "of its own" }
[[gateway.agents]]
name = "by-file"
command = ["/bin/sh", "-c", "printf 'f:'; cat \"$1\"", "sh"]
prompt = "file"
"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn programs_are_asked_whole_and_in_pieces() {
    let python = Python::install().await.unwrap();
    let agency = Agency::open("", PROGRAMS).await;
    let room = python.room().unwrap();
    let said = agency
        .python(
            &room,
            r#"
import os, openai
baton = openai.OpenAI(base_url=os.environ["BATON_URL"] + "/v1", api_key=os.environ["BATON_KEY"])
names = [model.id for model in baton.models.list()]
print(*names)
assert all(baton.models.retrieve(name).id == name for name in names)
try:
    baton.models.retrieve("nobody")
except openai.NotFoundError as error:
    assert error.code == "model_not_found", error
for name in names[1:]:
    answer = baton.chat.completions.create(model=name, messages=[
        {"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello?"}])
    print(answer.choices[0].finish_reason, repr(answer.choices[0].message.content), answer.usage)
stream = baton.chat.completions.create(model="by-stdin", stream=True, messages=[
    {"role": "user", "content": [{"type": "text", "text": "Hello?"}]}])
pieces = list(stream)
print(repr("".join(piece.choices[0].delta.content or "" for piece in pieces)))
print(pieces[0].choices[0].delta.role, pieces[-1].choices[0].finish_reason)
print(sorted(pieces[-1].baton), pieces[0].id.startswith("chatcmpl-"))
"#,
        )
        .await;
    insta::assert_snapshot!(said, @r##"
    baseline-cli-agent by-argument by-stdin by-file
    stop 'a:Be brief.\n\nHello?' None
    stop 's:Be brief.\n\nHello? of its own' None
    stop 'f:Be brief.\n\nHello?' None
    's:Hello? of its own'
    assistant stop
    ['sandbox_id'] True
    "##);
    agency.scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_sdk_raises_its_own_errors() {
    let python = Python::install().await.unwrap();
    let failing = "[[gateway.agents]]\nname = \"failing\"\n\
                   command = [\"/bin/sh\", \"-c\", \"echo half; echo no luck >&2; exit 3\"]\n";
    let agency = Agency::open("", failing).await;
    let room = python.room().unwrap();
    let said = agency
        .python(
            &room,
            r#"
import os, openai
base, key = os.environ["BATON_URL"] + "/v1", os.environ["BATON_KEY"]
def ask(key=key, stream=False, **more):
    asked = dict(model="failing", messages=[{"role": "user", "content": "Hello?"}]) | more
    try:
        answer = openai.OpenAI(base_url=base, api_key=key).chat.completions.create(stream=stream, **asked)
        for piece in answer if stream else []:
            print("piece", repr(piece.choices[0].delta.content))
        print("no error")
    except openai.APIError as error:
        print(type(error).__name__, error.code, error.type, error.message.split(" - ")[-1])
ask()
ask(stream=True)
ask(key="nobody")
ask(model="other")
ask(messages=[])
ask(n=2)
ask(extra_body={"browser_session_id": "none"})
"#,
        )
        .await;
    insta::assert_snapshot!(said, @r##"
    InternalServerError agent_failed server_error expected agent failing to end with code 0, found that it ended with code 3: no luck
    piece ''
    piece 'half\n'
    APIError agent_failed server_error expected agent failing to end with code 0, found that it ended with code 3: no luck
    AuthenticationError unauthenticated authentication_error expected "Authorization: Bearer KEY" with a valid key, found no key of Baton
    NotFoundError model_not_found invalid_request_error expected a model among baseline-cli-agent, failing, found "other" ([gateway] in the settings names agents)
    UnprocessableEntityError invalid_request invalid_request_error expected messages to be 1 to 1000 messages, found 0
    UnprocessableEntityError invalid_request invalid_request_error expected n to be 1: an agent gives one answer, found 2
    NotFoundError session_not_found invalid_request_error no session "none" (baton sessions list shows the sessions there are)
    "##);
    agency.scene.strike().await;
}
