//! The programs of the system that make sandboxes.

use crate::error::SandboxError;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Where administrators' programs are, which is not on everybody's path.
const MORE: [&str; 2] = ["/usr/sbin", "/sbin"];

/// The programs of the system that make sandboxes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tools {
    pub(super) bwrap: PathBuf,
    pub(super) slirp: PathBuf,
    pub(super) nft: PathBuf,
    pub(super) unshare: PathBuf,
    pub(super) setpriv: PathBuf,
}

impl Tools {
    /// Finds them on a search path, such as the variable `PATH`.
    pub fn find(path: &OsStr) -> Result<Self, SandboxError> {
        let find = |program, hint| {
            let folders = std::env::split_paths(path).chain(MORE.map(PathBuf::from));
            let mut places = folders.map(|folder| folder.join(program));
            places.find(|place| is_program(place)).ok_or(SandboxError::Missing { program, hint })
        };
        Ok(Self {
            bwrap: find("bwrap", "the package bubblewrap")?,
            slirp: find("slirp4netns", "the package slirp4netns")?,
            nft: find("nft", "the package nftables")?,
            unshare: find("unshare", "the package util-linux")?,
            setpriv: find("setpriv", "the package util-linux")?,
        })
    }
}

fn is_program(place: &Path) -> bool {
    place.is_absolute() && place.is_file()
}
