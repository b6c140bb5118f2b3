-- How often the list of an owner's sessions became another one, over several rows, so that those who write at once
-- seldom wait for each other.
create table list_changes (
    owner text not null,
    slot bigint not null,
    changes bigint not null,
    primary key (owner, slot)
);
