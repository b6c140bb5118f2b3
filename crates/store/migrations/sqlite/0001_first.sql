-- The first schema. Times are milliseconds since 1970, flags are 0 or 1, ids are text.

-- The key that seals this database, wrapped once for each master key that may open it.
create table data_keys (
    id text not null,
    wrapped_by text not null,
    wrapped blob not null,
    primary key (id, wrapped_by)
);

create table sessions (
    id text primary key,
    owner text not null,
    name text not null,
    description text not null,
    node text not null,
    headed bigint not null,
    lifecycle text not null,
    created_at bigint not null,
    updated_at bigint not null
);
-- A closed session gives its name free.
create unique index sessions_name on sessions (owner, name) where lifecycle <> 'closed';
create index sessions_owner on sessions (owner, id);
create index sessions_node on sessions (node, lifecycle);

-- Pieces of states. The id is an HMAC under a key of the owner: it tells nothing of the content.
create table parts (
    id text primary key,
    owner text not null,
    sealed blob not null
);
create index parts_owner on parts (owner);

-- The manifest holds names of sites, so it is sealed too. Ordinals count up within a session: the
-- newest snapshot stays the newest when the clock is set back.
create table snapshots (
    id text primary key,
    session text not null references sessions (id) on delete cascade,
    owner text not null,
    ordinal bigint not null,
    taken_at bigint not null,
    reason text not null,
    manifest blob not null,
    unique (session, ordinal)
);

-- Who references which part: what no row names can be collected.
create table snapshot_parts (
    snapshot text not null references snapshots (id) on delete cascade,
    part text not null references parts (id),
    primary key (snapshot, part)
);
create index snapshot_parts_part on snapshot_parts (part);

create table receipts (
    session text not null references sessions (id) on delete cascade,
    ordinal bigint not null,
    snapshot text not null,
    created_at bigint not null,
    sealed blob not null,
    primary key (session, ordinal)
);

-- Only a hash of the secret is here.
create table api_keys (
    id text primary key,
    owner text not null,
    name text not null,
    scopes text not null,
    secret_hash blob not null unique,
    created_at bigint not null,
    revoked_at bigint
);
create unique index api_keys_name on api_keys (owner, name) where revoked_at is null;
