-- Which agent drives a session, of several at one node; an empty name says that nobody does. The fence
-- counts up with every change, so that what an earlier one still asks for can be told from the rest.
create table session_agents (
    session text collate "C" primary key references sessions (id) on delete cascade,
    agent text collate "C" not null,
    fence bigint not null,
    since bigint not null,
    reason text collate "C" not null
);
