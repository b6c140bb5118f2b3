-- Which key the certificate of a peer has, where an invitation said so: the SHA-256 of its public key.
alter table peers add column pin text;
-- Where a node listens for peers, besides its settings; nothing when it does not.
alter table identities add column listens text;
-- Invitations of nodes. The key checks who has the secret, and opens nothing.
create table invitations (
    id text primary key,
    owner text not null,
    node text not null,
    invitation_key text not null,
    created_at bigint not null,
    expires_at bigint not null,
    redeemed_at bigint
);
create index invitations_owner on invitations (owner, node);
