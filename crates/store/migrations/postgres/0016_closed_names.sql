-- A name that only closed sessions bear, the newest first; the index of names leaves them out.
create index sessions_closed_name on sessions (owner, name, id) where lifecycle = 'closed';
