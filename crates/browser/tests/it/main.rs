//! Tests of the browser crate, most of them with a real Chromium.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test ends there")]

mod answers;
mod areas;
mod asking;
mod at_rest;
mod blocks;
mod cdp;
mod changes;
mod confined;
mod databases;
#[cfg(target_os = "linux")]
mod desktop;
mod difference;
#[cfg(target_os = "linux")]
mod display;
mod egress;
mod faults;
mod fixture;
mod floods;
#[cfg(target_os = "linux")]
mod headed;
mod heard;
mod histories;
mod icon_loads;
mod icons;
mod install;
mod keeper;
mod keeper_end;
mod keeper_pages;
mod keeper_spawn;
mod keeper_start;
#[cfg(target_os = "linux")]
mod keyring;
mod launch;
mod links;
mod losses;
mod made_again;
mod moving;
mod offstage;
mod opened;
mod own_pages;
mod partitions;
mod permissions;
mod pictures;
mod profiles;
mod recording;
mod relay;
mod restorer;
mod round_trip;
mod site;
mod starting_frames;
mod stored;
mod story;
mod tabs;
mod visits;
mod watching;
#[cfg(target_os = "linux")]
mod ways;
mod workers;
