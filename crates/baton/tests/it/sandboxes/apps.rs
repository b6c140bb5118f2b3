//! What becomes of a login at a real app: it is signed in after all processes were killed, in a sandbox, and on another
//! node, by a file and by sync; and what changed in the sandbox's databases is back afterwards.

use super::agent::tools;
use super::scene::{Scene, reference};
use crate::test_nodes::{build, test_node};
use crate::two_nodes::{baton, introduce};
use baton_api::sandbox::CreateSandbox;
use baton_api::{ExportFormat, ExportSession, ImportSession};
use baton_playground::tools::Npm;
use baton_playground::{Page, TestNode};
use baton_session::SessionId;
use url::Url;

/// An app at 127.0.0.1, where it is in sandboxes, too. Its pages say in their title and in `#who` who is signed in, once
/// they know, and have [`NOTES`](baton_playground::tools::NOTES).
pub(super) struct App {
    pub(super) url: Url,
    /// The ports of this machine to which its people come.
    pub(super) ports: Vec<u16>,
    /// How it calls the person who signs in.
    pub(super) who: &'static str,
}

impl App {
    /// What it shows with these notes.
    fn shows(&self, notes: &str) -> (String, String) {
        (self.who.to_owned(), notes.to_owned())
    }

    /// What it shows in the session's own browser: who, and the notes.
    async fn shown(&self, test_node: &TestNode, id: SessionId) -> (String, String) {
        let socket = test_node.keeper_socket(id);
        let page = Page::attach(&socket, self.url.as_str()).await.unwrap();
        page.wait_for("document.title !== ''").await.unwrap();
        (page.evaluate("document.title").await.unwrap(), page.evaluate("notes()").await.unwrap())
    }
}

/// Signs in at an app, and takes the login everywhere.
pub(super) async fn take_along(app: &App, sign_in: impl AsyncFn(&Page)) {
    let npm = Npm::install().await.unwrap();
    let ports: Vec<_> = app.ports.iter().map(|port| format!("\"host:{port}\"")).collect();
    let settings = format!(
        "[sandboxes]\nnetwork = \"listed\"\nallow = [{}]\n{}",
        ports.join(", "),
        tools(&npm)
    );
    let mut scene = Scene::set_in(build(), &settings).await;
    let id = Box::pin(over_a_crash(&mut scene, app, sign_in)).await;
    Box::pin(into_a_sandbox(&scene, app, id)).await;
    Box::pin(to_another_node(&scene, app)).await;
    scene.strike().await;
}

async fn over_a_crash(scene: &mut Scene, app: &App, sign_in: impl AsyncFn(&Page)) -> SessionId {
    let id = scene.test_node.open("app", [app.url.clone()]).await.unwrap();
    let socket = scene.test_node.keeper_socket(id);
    let page = Page::attach(&socket, app.url.as_str()).await.unwrap();
    sign_in(&page).await;
    assert_eq!(page.evaluate::<String>("note('here')").await.unwrap(), "noted");
    drop(page);
    scene.client().capture_session("app").await.unwrap();
    scene.test_node.kill_everybody(&[id]).await.unwrap();
    scene.test_node.start_node().await.unwrap();
    scene.client().resume_session("app").await.unwrap();
    assert_eq!(app.shown(&scene.test_node, id).await, app.shows("here"));
    scene.client().close_session("app").await.unwrap();
    id
}

/// The sandbox starts signed in, and what changes there is back afterwards.
async fn into_a_sandbox(scene: &Scene, app: &App, id: SessionId) {
    let request = CreateSandbox {
        flavor: Some("tools".to_owned()),
        browser_session: Some(reference("app")),
        domains: vec!["127.0.0.1".to_owned()],
        ..CreateSandbox::default()
    };
    let sandbox = scene.client().create_sandbox(&request).await.unwrap();
    let handed = sandbox.browser_session.as_ref().unwrap();
    assert!(!handed.receipt.has_losses_of_a_profile(), "{:#?}", handed.receipt);
    let opened = format!("$AB open {} >&2 && $AB wait --fn \"document.title !== ''\" >&2", app.url);
    scene.says(&sandbox, &opened).await;
    assert_eq!(scene.says(&sandbox, "$AB get text '#who'").await, app.who);
    assert_eq!(scene.says(&sandbox, "$AB eval \"note('there')\"").await, "\"noted\"");
    let ended = scene.end(&sandbox).await.browser_session.unwrap();
    assert_eq!((ended.shrunk, ended.reason), (false, None));
    assert!(ended.left_out.items.is_empty(), "{:#?}", ended.left_out);
    scene.client().resume_session("app").await.unwrap();
    assert_eq!(app.shown(&scene.test_node, id).await, app.shows("here,there"));
}

/// In a file, and from node to node.
async fn to_another_node(scene: &Scene, app: &App) {
    baton(&scene.test_node, &["save", "app"]).success();
    scene.client().close_session("app").await.unwrap();
    let away = test_node().await;
    let export = ExportSession { format: ExportFormat::Session, deep: false };
    let file = scene.client().export_session("app", &export).await.unwrap().file;
    let name = Some("filed".parse().unwrap());
    let import = ImportSession { name, description: None, file };
    away.client().unwrap().import_session(&import).await.unwrap();
    is_signed_in(&away, app, "filed").await;

    introduce(&scene.test_node, "home", &away);
    baton(&away, &["sync", "run"]).success();
    is_signed_in(&away, app, "app").await;
    away.clear().await.unwrap();
}

/// A session that comes from elsewhere is signed in when it is resumed here.
async fn is_signed_in(away: &TestNode, app: &App, name: &str) {
    let client = away.client().unwrap();
    let id = client.resume_session(name).await.unwrap().session.session.id;
    assert_eq!(app.shown(away, id).await, app.shows("here,there"), "{name}");
    client.close_session(name).await.unwrap();
}
