//! Other people's tools, as their users have them: installed from npm and PyPI, in pinned versions.
//!
//! The one idea: a tool is installed once, under `target/tools`, and lives in a [`Room`] of its own,
//! which ends whatever the tool left behind. No package's own script runs while it is installed.

mod extension;
mod install;
mod npm;
mod provider;
mod python;
mod room;
mod types;

pub use extension::Extension;
pub use npm::Npm;
pub use provider::{Provider, ProviderSettings};
pub use python::Python;
pub use room::Room;
pub use types::{Types, extension_types};
