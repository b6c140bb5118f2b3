-- Whether what a session's tabs do is recorded while its browser runs.
alter table sessions add column debug bigint not null default 0;
