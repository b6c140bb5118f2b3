//! Other people's tools, as their users have them: installed from npm and PyPI, in pinned versions.
//!
//! The one idea: a tool is installed once, under `target/tools`, and lives in a [`Room`] of its own,
//! which ends whatever the tool left behind. No package's own script runs while it is installed.

mod extension;
mod firebase;
mod packages;
mod provider;
mod room;

pub use extension::{Extension, Types, extension_types};
pub use firebase::Firebase;
pub use packages::{Npm, Python};
pub use provider::{NOTES, Provider, ProviderSettings};
pub use room::Room;
