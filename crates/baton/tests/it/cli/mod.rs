//! The command line as a person or a program sees it; no browser.

mod audit;
mod backup;
mod backup_postgres;
mod carry;
mod clients;
mod clocks;
mod completions;
mod docs;
mod doctor;
mod fake;
mod federation;
mod fixture;
mod foreign;
mod help;
mod invite;
mod keys;
mod node;
mod own;
mod peers;
mod profile;
mod sync;
mod terminal;
mod tls;
mod two_nodes;
mod url;
mod usage;
