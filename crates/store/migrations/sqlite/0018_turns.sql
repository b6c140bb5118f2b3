-- That a person has taken a session over, and who gets it back: an agent, '' for nobody; null where it is no person.
alter table session_agents add column gives_back_to text;
-- There are as many as people who drive now; they are looked for every ten seconds.
create index session_agents_turns on session_agents (session) where gives_back_to is not null;
