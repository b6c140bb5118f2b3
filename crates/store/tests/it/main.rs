//! What the store promises, told as stories and held on both engines.
//!
//! The one idea: one contract. Nearly every test runs twice, on a SQLite file and on a PostgreSQL
//! server that this process starts for itself; a test that needs one engine says so in its name.

// A test that cannot go on has failed; the lint knows this for test functions, not for helpers.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod api_keys;
mod audit;
mod changes;
mod clock;
mod cluster;
mod fixture;
mod history;
mod identities;
mod invitations;
mod key_file;
mod leases;
mod lifecycle;
mod lists;
mod migrating;
mod naming;
mod opening;
mod outside;
mod pages;
mod parts;
mod peers;
mod quotas;
mod receipts;
mod sealed_file;
mod sealing;
mod sessions;
mod shared;
mod shared_contents;
mod shared_copy;
mod snapshots;
mod staged;
mod transfer;
mod written;
mod written_by;
