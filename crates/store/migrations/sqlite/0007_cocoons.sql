-- Services behind a node's proxy that were named over the API. The body is JSON, as it was sent.
create table cocoons (
    id text primary key,
    owner text not null,
    body text not null,
    updated_at bigint not null
);
