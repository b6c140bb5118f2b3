-- What an owner has at once, over all nodes: sandboxes stand in no other table.
create table sandbox_holds (
    sandbox text primary key,
    owner text not null,
    node text not null
);
create index sandbox_holds_owner on sandbox_holds (owner);
-- Which sessions are held, among all that ever were.
create index leases_held on leases (session) where node is not null;
