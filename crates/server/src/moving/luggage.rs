//! What goes with a session to another node: its files, and what is made ready there for it.
//!
//! The one idea: all that can be done while the session still runs is done before its pause, and in the pause only
//! what changed since. Here everything stays until the session runs there; what was sent to a node to which the
//! session does not come, that node is told to forget.

use crate::cluster::{Cluster, Errand, NotDone};
use crate::context::Context;
use axum::body::Body;
use axum::http::Method;
use baton_api::{Answers, FileAhead};
use baton_runtime::Caller;
use baton_runtime::luggage::{self, Packed};
use baton_session::{NodeId, Session};
use baton_store::ClusterRow;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, UNIX_EPOCH};
use tokio::io::AsyncReadExt;
use tokio_util::io::ReaderStream;

/// How long another node may take to make a profile ready. The session runs on meanwhile, but all that are
/// to move after it wait.
const READY_LIMIT: Duration = Duration::from_secs(30);
/// How long a file may take.
const FILE_LIMIT: Duration = Duration::from_mins(2);
/// How long another node may take to forget what came.
const FORGET_LIMIT: Duration = Duration::from_secs(10);

/// What goes with a session of this node.
pub(super) struct Luggage<'a> {
    context: &'a Context,
    cluster: &'a Cluster,
    session: &'a Session,
    caller: Caller,
    /// What is at which node, by name, as it was here.
    sent: HashMap<NodeId, (ClusterRow, BTreeMap<String, Packed>)>,
}

impl<'a> Luggage<'a> {
    /// None of it was sent anywhere.
    pub(super) fn new(context: &'a Context, cluster: &'a Cluster, session: &'a Session) -> Self {
        let caller = Caller::node(session.owner.clone());
        Self { context, cluster, session, caller, sent: HashMap::new() }
    }

    /// Sends what there is ahead of the session, while it runs here. What fails is done in its pause instead.
    pub(super) async fn send_ahead(&mut self, row: &ClusterRow) {
        let id = self.session.id;
        self.sent.entry(row.member.node).or_insert_with(|| (row.clone(), BTreeMap::new()));
        let path = format!("{}/profile", self.path(row));
        if let Err(error) = self.ask(row, Method::POST, &path, READY_LIMIT).await {
            tracing::warn!(session = %id, to = row.member.name, %error, "nothing was made ready for a session that moves");
        }
        if let Err(why) = self.bring(row).await {
            tracing::warn!(session = %id, to = row.member.name, why, "files of a session that moves go with it only");
        }
    }

    /// Brings to a node what of the files differs from what it has. Fails with why not all of it is there.
    pub(super) async fn bring(&mut self, row: &ClusterRow) -> Result<(), String> {
        let (node, id) = (row.member.node, self.session.id);
        let files = luggage::pack(self.context, id).await;
        let files = files.map_err(|error| error.problem().detail)?;
        let (_, mut there) = self.sent.remove(&node).unwrap_or((row.clone(), BTreeMap::new()));
        let brought = async {
            let here: BTreeMap<_, _> = files.iter().map(|file| (&file.name, file)).collect();
            let gone: Vec<String> =
                there.keys().filter(|name| !here.contains_key(name)).cloned().collect();
            for name in gone {
                let path = self.path_of(row, &name);
                let removed = self.ask(row, Method::DELETE, &path, FILE_LIMIT).await;
                removed.map_err(|error| error.to_string())?;
                there.remove(&name);
            }
            for file in files {
                if there.get(&file.name) != Some(&file) {
                    self.send(row, &file).await?;
                    there.insert(file.name.clone(), file);
                }
            }
            Ok(())
        };
        let brought = brought.await;
        self.sent.insert(node, (row.clone(), there));
        brought
    }

    /// What is at a node of the files.
    pub(super) fn at(&self, node: NodeId) -> Vec<FileAhead> {
        let sent = self.sent.get(&node).into_iter().flat_map(|(_, files)| files.values());
        sent.map(|file| FileAhead { name: file.name.clone(), bytes: file.bytes }).collect()
    }

    /// A node has nothing any more of what was sent there.
    pub(super) fn lost(&mut self, node: NodeId) {
        if let Some((_, files)) = self.sent.get_mut(&node) {
            files.clear();
        }
    }

    async fn send(&self, row: &ClusterRow, file: &Packed) -> Result<(), String> {
        let opened = luggage::open(self.context, self.session.id, file).await;
        let opened = opened.map_err(|error| error.problem().detail)?;
        // The browser may write to it meanwhile: as many bytes are sent as were announced.
        let bytes = tokio::fs::File::from_std(opened).take(file.bytes);
        let body = Body::from_stream(ReaderStream::new(bytes));
        let modified = file.modified.duration_since(UNIX_EPOCH).unwrap_or_default().as_micros();
        let path = format!("{}?modified={modified}", self.path_of(row, &file.name));
        let errand = Errand::new(Method::PUT, &path, &self.caller, FILE_LIMIT);
        let identity = self.context.own.identity.now();
        let sent = self.cluster.ask(&identity, row, errand.with_body(body, file.bytes)).await;
        sent.map_err(|error| format!("the file {:?} did not come with it: {error}", file.name))
    }

    /// The session runs at a node: what of its files that one has taken is removed here, and other nodes forget what
    /// came.
    pub(super) async fn arrived(mut self, at: NodeId) {
        if let Some((_, files)) = self.sent.remove(&at) {
            let files = files.into_values().collect();
            let left = luggage::leave(self.context, self.session.id, files).await;
            if let Err(error) = left {
                tracing::warn!(session = %self.session.id, %error, "files of a session that moved still lie here");
            }
        }
        self.call_back().await;
    }

    /// The session does not come: who was sent something forgets it.
    pub(super) async fn call_back(self) {
        for (row, _) in self.sent.values() {
            if let Err(error) = self.ask(row, Method::DELETE, &self.path(row), FORGET_LIMIT).await {
                // It forgets it by itself after a while.
                tracing::info!(session = %self.session.id, to = row.member.name, %error, "a node was not told to forget a session");
            }
        }
    }

    async fn ask(
        &self,
        row: &ClusterRow,
        method: Method,
        path: &str,
        limit: Duration,
    ) -> Result<(), NotDone> {
        let identity = self.context.own.identity.now();
        self.cluster.ask(&identity, row, Errand::new(method, path, &self.caller, limit)).await
    }

    fn path(&self, row: &ClusterRow) -> String {
        format!("/nodes/{}/sessions/{}", row.member.node, self.session.id)
    }

    fn path_of(&self, row: &ClusterRow, name: &str) -> String {
        format!("{}/files/{}", self.path(row), utf8_percent_encode(name, NON_ALPHANUMERIC))
    }
}
