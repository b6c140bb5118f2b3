//! Sessions move between two nodes: real HTTP, real databases, no browser.

mod bytes;
mod conflicts;
mod deletions;
mod files;
mod leases;
mod moves;
mod pair;
mod refusals;
mod registering;
