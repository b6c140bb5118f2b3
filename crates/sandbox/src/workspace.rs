//! Where a sandbox has its files.

/// Where a sandbox's own files are, in it.
pub const WORKSPACE: &str = "/workspace";
