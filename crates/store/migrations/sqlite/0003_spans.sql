-- What a session's snapshots name, by span: a part that stays takes no rows however often it is
-- captured.

-- A place is one kind and name, such as the cookies of one site; its name here is an HMAC under a
-- key of the owner. The part in it is named by the snapshots with the ordinals from `since` to
-- `until`, or by all since then when there is no `until`.
create table part_spans (
    session text not null references sessions (id) on delete cascade,
    place text not null,
    since bigint not null,
    until bigint,
    part text not null references parts (id),
    primary key (session, place, since)
) without rowid;
create index part_spans_part on part_spans (part);

-- What is sealed cannot be read here, so a part of a version before is a place of its own.
insert into part_spans (session, place, since, until, part)
select snapshots.session, snapshot_parts.part, min(snapshots.ordinal), max(snapshots.ordinal),
    snapshot_parts.part
from snapshot_parts join snapshots on snapshots.id = snapshot_parts.snapshot
group by snapshots.session, snapshot_parts.part;
drop table snapshot_parts;

-- Parts are collected by what named them; a sweep looks at every row anyway.
drop index parts_owner;
