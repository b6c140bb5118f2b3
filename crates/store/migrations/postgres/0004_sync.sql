-- What nodes share: who they are, whom they know, and which revisions of sessions they hold.

-- The keys of a node, and the epoch in which its counters go on.
create table identities (
    node text collate "C" primary key,
    -- The id that it had before it had keys.
    formerly text collate "C" unique,
    -- The data folder it runs in, so that a copy of the folder is told from the folder itself.
    place text collate "C" not null,
    epoch text collate "C" not null,
    sealed bytea not null
);

-- Other nodes, as an owner registered them.
create table peers (
    owner text collate "C" not null,
    node text collate "C" not null,
    name text collate "C" not null,
    url text collate "C",
    node_type text collate "C" not null,
    auth text collate "C" not null,
    state text collate "C" not null,
    -- Public: what it signs with, and what is sealed for it.
    node_key text collate "C" not null,
    seal_key text collate "C" not null,
    -- What we show it. Sealed.
    credential bytea,
    -- The API key of ours that it shows.
    api_key text collate "C",
    added_at bigint not null,
    last_seen bigint,
    last_sync bigint,
    primary key (owner, node),
    unique (owner, name),
    unique (owner, api_key)
);

-- Revisions, as JSON that is sealed: what lists show of them, and all of them. A session that was
-- deleted is remembered here, so there is no reference to its row.
create table shared_sessions (
    owner text collate "C" not null,
    session text collate "C" not null,
    -- That of the owner at the last change.
    generation bigint not null,
    entry bytea not null,
    body bytea not null,
    updated_at bigint not null,
    primary key (owner, session)
);

-- Counts up with every change of what an owner shares.
create table sync_owners (
    owner text collate "C" primary key,
    generation bigint not null
);

-- Which snapshot holds what a revision says. One that is not needed any more stays for a while, for
-- merges.
create table revision_snapshots (
    owner text collate "C" not null,
    session text collate "C" not null,
    revision text collate "C" not null,
    snapshot text collate "C" not null references snapshots (id) on delete cascade,
    released_at bigint,
    primary key (owner, session, revision)
);
create index revision_snapshots_snapshot on revision_snapshots (snapshot);

-- Parts that came before the snapshot that will name them.
create table staged_parts (
    owner text collate "C" not null,
    session text collate "C" not null,
    part text collate "C" not null references parts (id),
    staged_at bigint not null,
    primary key (owner, session, part)
);
create index staged_parts_part on staged_parts (part);

-- The revision of a session that a peer is known to hold.
create table peer_acks (
    owner text collate "C" not null,
    node text collate "C" not null,
    session text collate "C" not null,
    revision text collate "C" not null,
    at bigint not null,
    primary key (owner, node, session),
    foreign key (owner, node) references peers (owner, node) on delete cascade
);
create index peer_acks_session on peer_acks (owner, session);
