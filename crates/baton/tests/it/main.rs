//! Stories of the whole program: the real binary, real browsers, real signals.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test ends there")]

mod attach;
mod backup;
mod carry;
mod carry_on;
mod cdp;
mod cli;
mod contexts;
mod crowd;
mod cut_off;
mod damage;
mod demo;
mod dice;
mod disk;
mod doctor;
mod edges;
mod environment;
mod everything;
mod history;
mod houses;
mod interrupted;
mod kills;
mod leases;
mod login;
mod mcp;
mod notes;
mod own_browser;
mod parts;
mod permissions;
mod profiles;
mod recipes;
mod rotating;
mod settings;
mod shutdown;
mod silent;
mod start_up;
mod states;
mod takeover;
mod two_agents;
mod two_logins;
mod two_nodes;
mod unread;
mod web_page;
mod with;
mod writer;
