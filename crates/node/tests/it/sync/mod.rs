//! Sessions move between two nodes: real HTTP, real databases, no browser.

mod at_hand;
mod bad_company;
mod bad_input;
mod by_itself;
mod bytes;
mod cloud;
mod compression;
mod conflicts;
mod deletions;
mod files;
mod folder;
mod folder_moving;
mod forgetting;
mod leases;
mod limits;
mod moves;
mod pair;
mod receiver;
mod refusals;
mod registering;
mod simulation;
mod staging;
mod stranger;
mod views;
mod watched;
mod webhooks;
