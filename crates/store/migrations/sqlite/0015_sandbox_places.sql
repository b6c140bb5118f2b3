-- Where new sandboxes go: how many a node has, and how many more it makes; -1 where it does not say.
alter table cluster_nodes add column sandboxes bigint not null default 0;
alter table cluster_nodes add column sandbox_places bigint not null default -1;
