//! What happens to the folders of nodes: they are copied, restored, and taken away.

use super::member::Member;
use super::world::World;
use crate::fixture::Folder;
use crate::sync::pair::{start_on, store};
use baton_server::config::Choices;
use std::path::Path;

/// The most nodes.
const NODES: usize = 5;

impl World {
    /// A node ends, its folder is copied, and it starts again.
    pub(super) async fn back_up(&mut self, at: usize) {
        let copy = tempfile::tempdir().unwrap();
        let member = self.members.remove(at);
        let member = member.restart(|folder| copy_into(folder, copy.path())).await;
        let backup = Some((copy, member.promised));
        self.members.insert(at, Member { backup, ..member });
    }

    /// The copy of a node's folder takes its place: as a folder of its own, or file by file, so that
    /// nobody knows.
    pub(super) async fn restore(&mut self, at: usize, is_new_folder: bool) {
        if self.members[at].backup.is_none() {
            return;
        }
        let mut member = self.members.remove(at);
        if let Some((copy, promised)) = member.backup.take() {
            self.twice |= promised.acknowledged & !promised.published;
            let put_back = |folder: &Path| {
                clear(folder, is_new_folder);
                copy_into(copy.path(), folder);
            };
            member = Member { promised, ..member.restart(put_back).await };
            member.backup = Some((copy, promised));
        }
        self.members.insert(at, member);
    }

    /// The folder of a node is copied and started elsewhere.
    pub(super) async fn copy(&mut self, at: usize) {
        if self.members.len() >= NODES {
            return;
        }
        self.back_up(at).await;
        let original = &self.members[at];
        let Some((copy, promised)) = &original.backup else { return };
        self.twice |= promised.acknowledged & !promised.published;
        let folder = Folder::new();
        clear(folder.data.path(), true);
        copy_into(copy.path(), folder.data.path());
        let choices = (original.choices)();
        let resolution = choices.conflict_resolution;
        let choices = move || Choices { conflict_resolution: resolution, ..Choices::default() };
        let node = start_on(folder, choices()).await;
        let member = Member {
            name: format!("copy{}", self.started),
            is_copy: true,
            store: store(&node).await,
            node,
            choices: Box::new(choices),
            promised: *promised,
            backup: None,
            side: false,
        };
        self.started += 1;
        self.members.push(member);
    }

    /// A node is gone, and registered nowhere any more.
    pub(super) async fn remove(&mut self, at: usize) {
        let known = self.members.iter().filter(|member| !member.is_copy).count();
        if known <= 2 || self.members[at].is_copy {
            return;
        }
        let gone = self.members.remove(at);
        let id = gone.node.id();
        let name = gone.name.clone();
        gone.stop().await;
        // Its copies go with it: who is registered nowhere is heard by nobody.
        let (copies, others): (Vec<Member>, Vec<Member>) = std::mem::take(&mut self.members)
            .into_iter()
            .partition(|member| member.node.id() == id);
        self.members = others;
        for copy in copies {
            copy.stop().await;
        }
        for member in &self.members {
            member.client().remove_peer(&name).await.unwrap();
        }
    }
}

/// Takes all files out of a folder. A node knows its folder by its lock, which stays when nobody is to
/// know.
fn clear(folder: &Path, with_lock: bool) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            std::fs::remove_dir_all(&path).unwrap();
        } else if with_lock || !path.ends_with("node.lock") {
            std::fs::remove_file(&path).unwrap();
        }
    }
}

/// Copies all files of a folder but its lock into another one.
fn copy_into(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            std::fs::create_dir_all(&target).unwrap();
            copy_into(&path, &target);
        } else if path.is_file() && !path.ends_with("node.lock") {
            std::fs::copy(&path, &target).unwrap();
        }
    }
}
