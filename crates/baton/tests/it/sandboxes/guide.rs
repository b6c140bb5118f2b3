//! The guide to handing in as a whole, typed as it stands: its flavor is the node's, and each sandbox of it is
//! logged in, watched, asked, and ended.

use super::model::{Model, runs, says, written};
use super::scene::{COLOUR, Scene};
use super::viewer::Viewer;
use crate::guide::{Guide, Step};
use baton_api::sandbox::SandboxView;
use baton_playground::tools::{Npm, Python, Room};
use regex::Regex;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;
use tokio::time::timeout;

const GUIDE: &str = include_str!("../../../../../docs/guide/hand-in.md");

/// How long anything that is typed may take.
const LIMIT: Duration = Duration::from_mins(2);

/// What a sandbox is called, in what its maker is told.
fn sandbox_in(said: &str) -> String {
    let line = Regex::new(r"(?m)^sandbox +(\S+)").unwrap();
    line.captures(said).unwrap_or_else(|| panic!("expected a sandbox in {said}"))[1].to_owned()
}

/// A folder as the guide's flavor shows it, with agent-browser in it.
fn agents(npm: &Npm) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("bin")).unwrap();
    std::fs::copy(npm.agent_browser(), folder.path().join("bin/agent-browser")).unwrap();
    folder
}

/// Somebody who reads the guide, with a node that has this flavor, and a model for its agent.
struct Reader {
    scene: Scene,
    model: Model,
    room: Room,
}

impl Reader {
    async fn begin(flavor: &str, room: Room) -> Self {
        let model = Model::start().await;
        let key = room.path().join("model.key");
        std::fs::write(&key, "m0del\n").unwrap();
        let upstream = model.settings(&key).replace("\"tools\"", "\"agent-ready\"");
        let scene = Scene::set_with(&format!("{flavor}{upstream}")).await;
        scene.session("shop").await;
        let program = Path::new(env!("CARGO_BIN_EXE_baton")).parent().unwrap();
        let data = scene.test_node.data().path();
        let room = room.with_programs(program).with("BATON_DATA", data);
        Self { scene, model, room }
    }

    /// Types lines in one shell, with the site of the scene in the place of the example's.
    async fn types(&self, lines: &[Step]) -> String {
        let lines: Vec<&str> = lines.iter().map(|step| step.text.as_str()).collect();
        let site = self.scene.url();
        let lines = lines.join("\n").replace("https://example.org", &site);
        let lines = lines.replace("--domain example.org", "--domain host");
        self.types_as_it_is(&lines).await
    }

    async fn types_as_it_is(&self, lines: &str) -> String {
        let mut shell = self.room.command("sh").unwrap();
        shell.args(["-e", "-c", lines]);
        self.room.run(shell, LIMIT).await.unwrap()
    }

    /// Ends a sandbox, whose session is written back.
    async fn ends(&self, sandbox: &str) {
        let said = self.types_as_it_is(&format!("baton sandbox delete {sandbox}")).await;
        assert!(said.contains("is written back"), "{said}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_hands_a_session_in_and_has_it_back_each_time() {
    let (npm, python) = (Npm::install().await.unwrap(), Python::install().await.unwrap());
    let agents = agents(&npm);
    let mut guide = Guide::read(GUIDE);
    let flavor = guide.section("What is in it");
    let shown = format!("\"{}:/opt/agents\"", agents.path().display());
    let flavor = flavor[0].text.replace("\"/opt/agents:/opt/agents\"", &shown);
    assert!(flavor.contains(&shown), "{flavor}");
    let reader = Reader::begin(&flavor, python.room().unwrap()).await;

    // The agent is logged in, and the session comes back.
    let said = reader.types(&guide.section("Hand in")).await;
    assert!(said.contains("t0k3n") && said.contains("is written back"), "{said}");

    // A state comes with the request.
    let made = reader.types(&guide.section("What is handed in")).await;
    let made: SandboxView = serde_json::from_str(&made).expect(&made);
    assert_eq!(made.browser_session.as_ref().unwrap().logins[0].domain.as_str(), "example.org");
    reader.scene.end(&made).await;

    // An agent may log in somewhere new.
    let said = reader.types(&guide.section("What comes back")).await;
    reader.ends(&sandbox_in(&said)).await;

    // Somebody watches, by what the command says.
    let said = reader.types(&guide.section("Watch it")).await;
    let told = Regex::new(r"(?m)^vnc +(127\.0\.0\.1:\d+), password (\S{8})$").unwrap();
    let told = told.captures(&said).unwrap_or_else(|| panic!("expected a display in {said}"));
    let mut viewer = Viewer::open(&told[1], &told[2]).await.unwrap().ok().unwrap();
    let (sandbox, site) = (sandbox_in(&said), reader.scene.url());
    let open = format!("baton sandbox exec {sandbox} -- agent-browser open {site}");
    reader.types_as_it_is(&open).await;
    timeout(LIMIT, viewer.see(COLOUR, 40)).await.expect("the page is seen").unwrap();
    reader.ends(&sandbox).await;

    // An agent is asked as if it were a model.
    let line = format!("agent-browser open {site} > open.log && agent-browser get text '#who'");
    reader.model.then(move |_| runs(&line));
    reader
        .model
        .then(|asked| says(&format!("You are {}.", written(asked).lines().next().unwrap())));
    let ask = guide.section("Ask an agent");
    let (program, typed) = ask.split_first().unwrap();
    let file = reader.room.path().join(program.file.as_ref().unwrap());
    std::fs::write(file, &program.text).unwrap();
    assert_eq!(reader.types(typed).await, "I look.\n\nYou are Ada.");

    guide.leave_out(&[
        (
            "const context = await chromium.launchPersistentContext(process.env.AGENT_BROWSER_PROFILE, {",
            "the story of looks runs it",
        ),
        (
            "baton sandbox exec \"$SANDBOX\" -- sh -c 'echo \"$BATON_TABS\" | head -1 | xargs agent-browser open'",
            "this session has no tabs: the stories of tabs ask the variable",
        ),
        (
            "baton sandbox exec \"$SANDBOX\" -- sh -c '\"$AGENT_BROWSER_EXECUTABLE_PATH\" --user-data-dir=\"$AGENT_BROWSER_PROFILE\"'",
            "it ends with its window: a story of tabs starts it",
        ),
    ]);
    guide.end();
    assert!(reader.scene.client().list_sandboxes().await.unwrap().items.is_empty());
    reader.room.clear().await.unwrap();
    reader.scene.strike().await;
}
