-- What an owner has at once, over all nodes: sandboxes stand in no other table.
create table sandbox_holds (
    sandbox text primary key,
    owner text not null,
    node text not null
);
create index sandbox_holds_owner on sandbox_holds (owner);
-- Which sessions are held, among all that ever were.
create index leases_held on leases (session) where node is not null;
-- Which callers asked a node of a cluster much of late, for the others to count; none where nobody did.
create table cluster_rates (
    node text primary key,
    spent text not null
);
