-- The nodes that are one: where their own network asks each, and when it was last there. All instants are by the
-- clock of the database, in milliseconds since 1970.
create table cluster_nodes (
    node text primary key,
    cluster text not null,
    name text not null,
    internal_url text not null,
    node_key text not null,
    version text not null,
    -- Random, of one start: two nodes with one identity differ in it.
    start text not null,
    started_at bigint not null,
    seen_at bigint not null,
    -- For how long it counts as there without another word of it.
    lease bigint not null,
    -- How far its own clock is ahead.
    clock_ahead bigint not null,
    browsers bigint not null
);
create index cluster_nodes_cluster on cluster_nodes (cluster);
