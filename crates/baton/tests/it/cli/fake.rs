//! A node that answers what it was told to, so that words can be seen for which it takes two.

use super::fixture::Folder;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use baton_api::{ErrorCode, Health, Problem};
use baton_playground::Site;
use baton_session::NodeId;
use baton_store::data::NodeFile;
use serde::Serialize;
use serde_json::Value;
use std::collections::HashMap;
use std::fs::File;
use std::sync::{Arc, Mutex};

/// Its id, and that of the node behind it.
pub(super) const NODE: &str = "0f000000-0000-8000-8000-000000000001";

/// A data folder, and the node that seems to run on it.
pub(super) struct FakeNode {
    pub(super) folder: Folder,
    script: Script,
    _site: Site,
    _lock: File,
}

/// What it answers, and what it has heard.
#[derive(Clone, Default)]
struct Script(Arc<Mutex<Lines>>);

#[derive(Default)]
struct Lines {
    /// By method and path: the answers in their order; the last one is given again and again.
    answers: HashMap<String, Vec<(u16, Value)>>,
    heard: Vec<String>,
}

impl FakeNode {
    /// A node that answers nothing yet.
    pub(super) async fn start() -> Self {
        let (folder, script) = (Folder::new(), Script::default());
        let pages = Router::new().fallback(answer).with_state(script.clone());
        let site = Site::start(pages).await.unwrap();
        let data = baton_store::data::DataFolder::at(&folder.data()).unwrap();
        data.create().unwrap();
        std::fs::write(data.admin_key(), "baton_admin").unwrap();
        let lock = File::create(folder.data().join("node.lock")).unwrap();
        lock.try_lock().unwrap();
        // No process has the number 0, so nobody is ended in its place.
        let file = NodeFile { url: site.url("/").unwrap(), pid: 0, node_id: node() };
        file.publish(&data).unwrap();
        Self { folder, script, _site: site, _lock: lock }
    }

    /// With an answer to a request, such as `GET /sync/peers`; after those that it has already.
    pub(super) fn with(self, request: &str, answer: &impl Serialize) -> Self {
        self.add(request, 200, serde_json::to_value(answer).unwrap())
    }

    /// With a refusal.
    pub(super) fn refusing(self, request: &str, code: ErrorCode, detail: &str) -> Self {
        let problem = serde_json::to_value(Problem::new(code, detail)).unwrap();
        self.add(request, code.status(), problem)
    }

    fn add(self, request: &str, status: u16, body: Value) -> Self {
        let mut lines = self.script.0.lock().unwrap();
        lines.answers.entry(request.to_owned()).or_default().push((status, body));
        drop(lines);
        self
    }

    /// What it has heard: method, path and body of each request.
    pub(super) fn heard(&self) -> Vec<String> {
        std::mem::take(&mut self.script.0.lock().unwrap().heard)
    }
}

pub(super) fn node() -> NodeId {
    NODE.parse().unwrap()
}

async fn answer(State(script): State<Script>, method: Method, uri: Uri, body: Bytes) -> Response {
    if uri.path() == "/health" {
        let (status, version) = ("ok".to_owned(), env!("CARGO_PKG_VERSION").to_owned());
        let identity = super::peers::card().identity();
        return Json(Health { status, version, node_id: node(), identity }).into_response();
    }
    let request = format!("{method} {}", uri.path());
    let mut lines = script.0.lock().unwrap();
    let heard = format!("{request} {}", String::from_utf8_lossy(&body));
    lines.heard.push(heard.trim_end().to_owned());
    let Some(answers) = lines.answers.get_mut(&request) else {
        let problem = Problem::new(ErrorCode::RouteNotFound, format!("nothing at {request}"));
        return (StatusCode::NOT_FOUND, Json(problem)).into_response();
    };
    let (status, body) = if answers.len() > 1 { answers.remove(0) } else { answers[0].clone() };
    (StatusCode::from_u16(status).unwrap(), Json(body)).into_response()
}
