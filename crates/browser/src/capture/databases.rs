//! Reads the databases of one storage key, in a frame or a worker that can see them.

use super::PAGE_LIMIT;
use super::work::Work;
use crate::cdp::CdpSession;
use crate::generators;
use crate::live::mirror::DirtyDatabases;
use crate::script::{self, Script, ScriptError, World};
use baton_session::{Database, StorageKey, Text, Unread};
use serde::Deserialize;
use serde_json::{Value, json};

/// Where databases can be read.
#[derive(Debug)]
pub(super) struct Window<'a> {
    pub(super) session: &'a CdpSession,
    pub(super) world: &'a World,
    pub(super) key: &'a StorageKey,
}

/// What `collect.js` returns of them.
#[derive(Debug, Deserialize)]
struct Collected {
    databases: Vec<Database>,
    names: Option<Vec<Text>>,
    failures: Vec<Failure>,
}

/// A database that could not be read.
#[derive(Debug, Deserialize)]
struct Failure {
    database: Text,
    reason: String,
    /// Whether another try would find the same.
    lasting: bool,
}

impl Window<'_> {
    /// Reads what is wanted into the mirror, and returns what could not be read.
    pub(super) async fn read(
        &self,
        wanted: &DirtyDatabases,
        work: &Work<'_>,
    ) -> Result<Vec<Unread>, ScriptError> {
        let argument = json!({
            "origin": self.key.origin(),
            "wantLocal": false,
            "wantSession": false,
            "wantDatabases": self.wanted(wanted, work),
        });
        let script = Script::Collect;
        let mut collected: Collected =
            script::run(self.session, self.world, script, &argument, PAGE_LIMIT).await?;
        self.read_generators(&mut collected).await;
        Ok(self.take(collected, work))
    }

    /// Which databases to read: all, or those that are named, are new, or do not look as they did.
    fn wanted(&self, databases: &DirtyDatabases, work: &Work<'_>) -> Value {
        match databases {
            DirtyDatabases::All => json!({ "all": true, "named": [], "known": [] }),
            DirtyDatabases::Named(names) => {
                let mirror = work.shared().mirror();
                json!({ "all": false, "named": names, "known": mirror.looks(self.key) })
            }
        }
    }

    fn take(&self, collected: Collected, work: &Work<'_>) -> Vec<Unread> {
        let Collected { databases, names, failures } = collected;
        let again = failures.iter().filter(|failure| !failure.lasting);
        work.did_databases(self.key, again.map(|failure| failure.database.clone()));
        let mut unread = Vec::new();
        if let Some(names) = names {
            work.shared().mirror().set_databases(self.key, databases, &names);
        } else {
            let reason = "expected the page to list its databases, found that it may not";
            unread.push(Unread::new(self.key.to_string(), reason));
        }
        unread.extend(failures.into_iter().map(|failure| {
            let place = format!("{} database {}", self.key, failure.database.to_lossy());
            Unread::new(place, failure.reason)
        }));
        unread
    }

    /// Asks for the position of each key generator, which no script can read without moving it. A
    /// database that vanished meanwhile could not be read.
    async fn read_generators(&self, collected: &mut Collected) {
        let databases = std::mem::take(&mut collected.databases);
        for mut database in databases {
            match generators::read(self.session, self.key, &mut database).await {
                Ok(()) => collected.databases.push(database),
                Err(error) => collected.failures.push(Failure {
                    database: database.name,
                    reason: error.to_string(),
                    lasting: false,
                }),
            }
        }
    }
}
