//! Revisions: nodes agree, nothing is lost, and nobody claims what they have not seen.

mod copies;
mod forgery;
mod forks;
mod losers;
mod meeting;
mod merged;
mod names;
mod node;
mod oracle;
mod part_stories;
mod parts;
mod simulation;
mod step;
mod stories;
mod tell;
mod trail;
mod users;
mod vectors;
mod world;
