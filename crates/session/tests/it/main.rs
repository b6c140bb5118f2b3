//! The model's stories: what goes in comes out, and one bad thing never costs the others.

#![allow(clippy::unwrap_used, reason = "a failed expectation should end its test")]

mod arbitrary;
mod certificate;
mod cookie;
mod diff;
mod docs;
mod domains;
mod forecast;
mod history;
mod import;
mod lifecycle;
mod login;
mod parts;
mod permission;
mod playwright;
mod receipt;
mod redact;
mod revisions;
mod session_file;
mod shrunk;
mod sign_in;
mod unlent;
mod views;
mod wire;
