//! A node as its callers see it: real HTTP, a real database in a temporary folder, no browser.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test ends there")]

mod addresses;
mod audit;
mod auth;
mod carry;
mod changes;
mod cluster;
mod cluster_bodies;
mod cluster_bus;
mod cluster_forgotten;
mod cluster_pages;
mod cluster_rates;
mod cluster_sandboxes;
mod cluster_silence;
mod cluster_tools;
mod config;
mod document;
mod drivers;
mod federation;
mod fixture;
mod folder;
mod history;
mod hostile;
mod identity;
mod idle;
mod keys;
mod mcp;
mod metrics;
mod opened;
mod page;
mod problems;
mod proxy;
mod quotas;
mod sessions;
mod signaling;
mod sync;
mod tickets;
mod tls;
