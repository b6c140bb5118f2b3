//! Parts in a database that are damaged, and mended, past the program.

use baton_session::SessionId;
use std::path::PathBuf;
use std::process::Command;

/// The database, past the program.
pub(crate) enum Database {
    Sqlite(PathBuf),
    Postgres(String),
}

/// Asks a SQLite file; `flip` changes a byte, and changes it back.
const ASK_SQLITE: &str = "import sqlite3, sys
def flip(sealed):
    return sealed[:8] + bytes([sealed[8] ^ 1]) + sealed[9:]
database = sqlite3.connect(sys.argv[1], timeout=30)
database.create_function('flip', 1, flip)
for row in database.execute(sys.argv[2]):
    print(row[0])
database.commit()";

impl Database {
    /// The first column of what it answers.
    fn ask(&self, sql: &str) -> Vec<String> {
        let said = match self {
            Self::Sqlite(file) => {
                let mut python = Command::new("python3");
                let done = python.args(["-c", ASK_SQLITE]).arg(file).arg(sql).output().unwrap();
                assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
                String::from_utf8(done.stdout).unwrap()
            }
            Self::Postgres(url) => baton_postgres::ask(url, sql).unwrap(),
        };
        said.lines().map(ToOwned::to_owned).collect()
    }

    /// Takes a table away, so that who asks for what it holds gets an error.
    pub(crate) fn take_away(&self, table: &str) {
        self.ask(&format!("alter table {table} rename to {table}_away"));
    }

    /// Brings back what was taken away.
    pub(crate) fn bring_back(&self, table: &str) {
        self.ask(&format!("alter table {table}_away rename to {table}"));
    }

    /// Notes of a session that an agent drives that a person has taken it over, whom no node knows: as one does that is
    /// killed in their turn.
    pub(crate) fn leave_turn(&self, session: SessionId, person: &str) {
        self.ask(&format!(
            "update session_agents set gives_back_to = agent, agent = '{person}' where session = '{session}'"
        ));
    }

    /// The parts of a session: those of its newest snapshot that came after the last one that was asked for
    /// before, or all. Between the two a node may have taken one by itself.
    pub(crate) fn parts(&self, newest: bool) -> Vec<String> {
        const NEWEST: &str = "where until is null and since > \
            (select coalesce(max(ordinal), 0) from snapshots \
             where reason = 'request' and ordinal < (select max(ordinal) from snapshots))";
        let wanted = if newest { NEWEST } else { "" };
        self.ask(&format!("select distinct part from part_spans {wanted} order by part"))
    }

    /// The parts of one snapshot.
    pub(crate) fn parts_of(&self, snapshot: &str) -> Vec<String> {
        self.ask(&format!(
            "select distinct part from part_spans join snapshots using (session) \
             where snapshots.id = '{snapshot}' \
             and ordinal between since and coalesce(until, ordinal) order by part"
        ))
    }

    /// Damages a part, or mends what was damaged.
    pub(crate) fn flip(&self, part: &str) {
        let flipped = match self {
            Self::Sqlite(_) => "flip(sealed)",
            Self::Postgres(_) => "set_byte(sealed, 8, get_byte(sealed, 8) # 1)",
        };
        self.ask(&format!("update parts set sealed = {flipped} where id = '{part}'"));
    }
}
