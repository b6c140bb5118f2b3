//! What a program that runs as the first process of a sandbox, or as a tool in it, was started for.

use super::error::InitError;
use super::{bare, serve, tool};
use std::path::Path;

/// Runs as the first process of a sandbox until the socket on standard input closes: in namespaces that the
/// kernel takes away with it, or, given `bare PATH`, without any, in that folder. Given other words, runs
/// as one of the tools that move files: `read PATH [BYTES]`, `write PATH`, `pack PATH`; or as the one that
/// reaches a socket: `connect PATH`.
pub fn run(words: &[String]) -> Result<(), InitError> {
    match words {
        [] => serve::serve(),
        [verb, path] if verb == bare::BARE => bare::hold(Path::new(path)),
        [verb, path] => tool::run(verb, Path::new(path), None),
        [verb, path, more] => tool::run(verb, Path::new(path), Some(more)),
        _ => Err(InitError::NoTool),
    }
}
