-- For which node alone a key was made, by the fingerprint of that; nothing when it is for whoever shows it.
alter table api_keys add column for_node text;
