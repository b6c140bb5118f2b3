//! The walls of the repository: who may depend on what, who may read what, and what each file owes its reader.
//!
//! A rule that only a document states is forgotten; these fail.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod arrows;
mod branches;
mod dependencies;
mod documents;
mod imports;
mod journeys;
mod licences;
mod names;
mod redactor;
mod repository;
mod sources;
mod tests;
mod threads;
mod versions;
