-- Where new browsers go: what a node is for, how many more it takes, and whether it is being drained.
-- Words that are asked for, with a space around each.
alter table cluster_nodes add column labels text not null default ' ';
-- As many as it says; -1 where it does not count.
alter table cluster_nodes add column places bigint not null default -1;
alter table cluster_nodes add column is_draining bigint not null default 0;
-- Which labels a session asks its node for; none where it has no row.
create table session_labels (
    session text primary key references sessions (id) on delete cascade,
    labels text not null
);
