-- Who is signed in to the page of a cluster: hashes of the two halves that open it, and the key behind them. All
-- instants are by the clock of the database, in milliseconds since 1970.
create table page_sessions (
    cookie_hash blob primary key,
    cluster text not null,
    value_hash blob not null,
    -- The hash of the key's secret, as the table of keys has it.
    key_hash blob not null,
    key_id text not null,
    owner text not null,
    -- Of a person of a provider: a hash of who they are, that of the rule that let them in, and when their pages end.
    person blob,
    rule blob,
    person_ends_at bigint,
    ends_at bigint not null
);
create index page_sessions_cluster on page_sessions (cluster, ends_at);
create index page_sessions_key on page_sessions (key_id);
create index page_sessions_person on page_sessions (person) where person is not null;
