-- Who holds a session, what a snapshot is worth, and what was done.

-- Nodes that hold sessions. A beat that others see standing still for the length of a lease has
-- ended it: instants of different machines are never compared.
create table nodes (
    id text collate "C" primary key,
    -- The data folder it runs in, so that a copy of the folder is told from the folder itself.
    place text collate "C" not null,
    beat bigint not null,
    -- The length of its leases in milliseconds; 0 when they never end by themselves.
    lease bigint not null
);

-- Terms count up within a session and are never given twice. Nobody holds a session without a node.
create table leases (
    session text collate "C" primary key references sessions (id) on delete cascade,
    node text collate "C",
    term bigint not null
);

-- Resumes in a row that have failed.
alter table sessions add column failed_resumes bigint not null default 0;
-- A list of those in one state does not look at the others.
create index sessions_owner_lifecycle on sessions (owner, lifecycle, id);

-- The term of its writer; one that another holder's term had ended is a sibling.
alter table snapshots add column term bigint not null default 0;
alter table snapshots add column sibling bigint not null default 0;
-- More than half of what the last good one held was gone, and nobody asked for it.
alter table snapshots add column shrunk bigint not null default 0;
-- Kept for good.
alter table snapshots add column saved bigint not null default 0;

create table audit (
    id text collate "C" primary key,
    at bigint not null,
    owner text collate "C" not null,
    -- Who did it: the name of an API key, or of a part of the node.
    actor text collate "C" not null,
    action text collate "C" not null,
    -- What it was done to, such as a session's id; empty when there is no such thing.
    subject text collate "C" not null,
    outcome text collate "C" not null,
    -- More about it as JSON, without secrets.
    detail text collate "C" not null
);
create index audit_owner on audit (owner, id);
create function audit_is_appended_to() returns trigger language plpgsql as $$
begin
    raise exception 'the audit log is only appended to';
end
$$;
create trigger audit_is_not_changed before update or delete on audit
    for each row execute function audit_is_appended_to();
