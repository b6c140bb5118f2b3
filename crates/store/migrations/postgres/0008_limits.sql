-- How much of sessions goes to a peer and is taken from it, as JSON; nothing when that is everything.
alter table peers add column limits text;
