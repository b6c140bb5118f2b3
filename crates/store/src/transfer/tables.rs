//! Every table and column, in an order in which rows can be put in: those first that others refer to.
//!
//! What a migration adds is added here too, with its version. A test holds this list against the
//! real tables of both engines at every version.

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Integer,
    Bytes,
}

/// A column of a table.
#[derive(Debug, Clone, Copy)]
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    /// The version that brought it.
    since: i64,
}

impl Column {
    const fn since(self, version: i64) -> Self {
        Self { since: version, ..self }
    }
}

/// A table. Its first columns are its primary key.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) name: &'static str,
    pub(super) key: usize,
    /// The version that brought it.
    since: i64,
    /// The version that took it away, if one did.
    until: i64,
    columns: &'static [Column],
}

impl Table {
    const fn until(self, version: i64) -> Self {
        Self { until: version, ..self }
    }

    /// Its columns at a version of the schema; none when there was no such table, or no more.
    pub(super) fn columns(&self, version: i64) -> Vec<Column> {
        let columns = self.columns.iter().copied().filter(|_| version < self.until);
        columns.filter(|column| version >= self.since.max(column.since)).collect()
    }
}

/// Every table.
pub(super) const TABLES: [Table; 27] = [
    table("data_keys", 2, 1, &[text("id"), text("wrapped_by"), bytes("wrapped")]),
    table("sessions", 1, 1, SESSIONS),
    table("parts", 1, 1, &[text("id"), text("owner"), bytes("sealed")]),
    table("snapshots", 1, 1, SNAPSHOTS),
    table("snapshot_parts", 2, 1, &[text("snapshot"), text("part")]).until(3),
    table("part_spans", 3, 3, PART_SPANS),
    table("receipts", 2, 1, RECEIPTS),
    table("api_keys", 1, 1, API_KEYS),
    table("nodes", 1, 2, &[text("id"), text("place"), integer("beat"), integer("lease")]),
    table("leases", 1, 2, &[text("session"), text("node"), integer("term")]),
    table("audit", 1, 2, AUDIT),
    table("identities", 1, 4, IDENTITIES),
    table("peers", 2, 4, PEERS),
    table("shared_sessions", 2, 4, SHARED_SESSIONS),
    table("sync_owners", 1, 4, &[text("owner"), integer("generation")]),
    table("revision_snapshots", 3, 4, REVISION_SNAPSHOTS),
    table("staged_parts", 3, 4, STAGED_PARTS),
    table("peer_acks", 3, 4, PEER_ACKS),
    table("session_agents", 1, 5, SESSION_AGENTS),
    table("cocoons", 1, 7, &[text("id"), text("owner"), text("body"), integer("updated_at")]),
    table("invitations", 1, 10, INVITATIONS),
    table("cluster_nodes", 1, 11, CLUSTER_NODES),
    table("session_labels", 1, 12, &[text("session"), text("labels")]),
    table("cluster_rates", 1, 13, &[text("node"), text("spent")]),
    table("sandbox_holds", 1, 13, &[text("sandbox"), text("owner"), text("node")]),
    table("page_sessions", 1, 14, PAGE_SESSIONS),
    table("list_changes", 2, 17, &[text("owner"), integer("slot"), integer("changes")]),
];

const PAGE_SESSIONS: &[Column] = &[
    bytes("cookie_hash"),
    text("cluster"),
    bytes("value_hash"),
    bytes("key_hash"),
    text("key_id"),
    text("owner"),
    bytes("person"),
    bytes("rule"),
    integer("person_ends_at"),
    integer("ends_at"),
];

const CLUSTER_NODES: &[Column] = &[
    text("node"),
    text("cluster"),
    text("name"),
    text("internal_url"),
    text("node_key"),
    text("version"),
    text("start"),
    integer("started_at"),
    integer("seen_at"),
    integer("lease"),
    integer("clock_ahead"),
    integer("browsers"),
    text("labels").since(12),
    integer("places").since(12),
    integer("is_draining").since(12),
    integer("sandboxes").since(15),
    integer("sandbox_places").since(15),
];

const INVITATIONS: &[Column] = &[
    text("id"),
    text("owner"),
    text("node"),
    text("invitation_key"),
    integer("created_at"),
    integer("expires_at"),
    integer("redeemed_at"),
];

const SESSION_AGENTS: &[Column] = &[
    text("session"),
    text("agent"),
    integer("fence"),
    integer("since"),
    text("reason"),
    text("gives_back_to").since(18),
];

const SESSIONS: &[Column] = &[
    text("id"),
    text("owner"),
    text("name"),
    text("description"),
    text("node"),
    integer("headed"),
    text("lifecycle"),
    integer("created_at"),
    integer("updated_at"),
    integer("failed_resumes").since(2),
    integer("debug").since(6),
];

const SNAPSHOTS: &[Column] = &[
    text("id"),
    text("session"),
    text("owner"),
    integer("ordinal"),
    integer("taken_at"),
    text("reason"),
    bytes("manifest"),
    integer("term").since(2),
    integer("sibling").since(2),
    integer("shrunk").since(2),
    integer("saved").since(2),
];

const PART_SPANS: &[Column] =
    &[text("session"), text("place"), integer("since"), integer("until"), text("part")];

const RECEIPTS: &[Column] = &[
    text("session"),
    integer("ordinal"),
    text("snapshot"),
    integer("created_at"),
    bytes("sealed"),
];

const API_KEYS: &[Column] = &[
    text("id"),
    text("owner"),
    text("name"),
    text("scopes"),
    bytes("secret_hash"),
    integer("created_at"),
    integer("revoked_at"),
    text("for_node").since(9),
];

const AUDIT: &[Column] = &[
    text("id"),
    integer("at"),
    text("owner"),
    text("actor"),
    text("action"),
    text("subject"),
    text("outcome"),
    text("detail"),
];

const IDENTITIES: &[Column] = &[
    text("node"),
    text("formerly"),
    text("place"),
    text("epoch"),
    bytes("sealed"),
    text("listens").since(10),
];

const PEERS: &[Column] = &[
    text("owner"),
    text("node"),
    text("name"),
    text("url"),
    text("node_type"),
    text("auth"),
    text("state"),
    text("node_key"),
    text("seal_key"),
    bytes("credential"),
    text("api_key"),
    integer("added_at"),
    integer("last_seen"),
    integer("last_sync"),
    text("limits").since(8),
    text("pin").since(10),
];

const SHARED_SESSIONS: &[Column] = &[
    text("owner"),
    text("session"),
    integer("generation"),
    bytes("entry"),
    bytes("body"),
    integer("updated_at"),
];

const REVISION_SNAPSHOTS: &[Column] =
    &[text("owner"), text("session"), text("revision"), text("snapshot"), integer("released_at")];

const STAGED_PARTS: &[Column] =
    &[text("owner"), text("session"), text("part"), integer("staged_at")];

const PEER_ACKS: &[Column] =
    &[text("owner"), text("node"), text("session"), text("revision"), integer("at")];

const fn table(name: &'static str, key: usize, since: i64, columns: &'static [Column]) -> Table {
    Table { name, key, since, until: i64::MAX, columns }
}

const fn text(name: &'static str) -> Column {
    Column { name, kind: Kind::Text, since: 1 }
}

const fn integer(name: &'static str) -> Column {
    Column { name, kind: Kind::Integer, since: 1 }
}

const fn bytes(name: &'static str) -> Column {
    Column { name, kind: Kind::Bytes, since: 1 }
}
