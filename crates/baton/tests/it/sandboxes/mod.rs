//! Sandboxes as their users have them: sessions handed in, and written back.

mod again;
mod agent;
mod apps;
mod bare;
mod certificates;
mod curl;
mod damaged;
mod databases;
mod escapes;
mod everything;
mod fenced;
mod firebase;
mod gateway;
mod gateway_bad;
mod guide;
mod hostile;
mod leaks;
mod looks;
mod model;
mod page;
mod prepared;
mod provider;
mod refusals;
mod revoked;
mod scene;
mod services;
mod signed_in;
mod tabs;
mod taken;
mod tasks;
mod told;
mod too_much;
mod unlimited;
mod viewer;
mod vnc;

pub(crate) use agent::browser;
