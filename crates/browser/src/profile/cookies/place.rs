//! Where the cookie store of a profile is.
//!
//! The one idea: Chromium moved it. From Windows profiles come whose network state lies in a folder of its
//! own, and a file in there says so: with it Chromium reads there on every system, without it only beside
//! the other files (`content/browser/network_sandbox.cc`).

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

/// The two places, in the folder of a profile.
const PLAIN: &str = "Cookies";
const NETWORK: &str = "Network/Cookies";
/// Says that the store was moved for good.
pub(in crate::profile) const MOVED: &str = "Network/NetworkDataMigrated";

/// All places in which a store can be, in the folder of a profile.
pub(in crate::profile) const PLACES: [&str; 2] = [PLAIN, NETWORK];
/// What stands beside a store and belongs to it.
const BESIDE: [&str; 3] = ["", "-journal", "-wal"];

/// Where the store of a profile is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::profile) struct Place {
    /// The one that counts, in the folder of the profile; nothing need be there.
    pub(in crate::profile) name: &'static str,
    /// Another one, of which no browser takes notice.
    pub(in crate::profile) other: Option<&'static str>,
}

impl Place {
    /// Looks into the folder of a profile.
    pub(in crate::profile) fn find(folder: &Path) -> io::Result<Self> {
        let is_there = |name: &str| match fs::symlink_metadata(folder.join(name)) {
            Ok(_) => Ok(true),
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                Ok(false)
            }
            Err(error) => Err(error),
        };
        let (plain, network) = (is_there(PLAIN)?, is_there(NETWORK)?);
        // One that was copied without the file that tells is better than none.
        let (name, other, has_other) = if is_there(MOVED)? || (network && !plain) {
            (NETWORK, PLAIN, plain)
        } else {
            (PLAIN, NETWORK, network)
        };
        Ok(Self { name, other: has_other.then_some(other) })
    }

    /// The names of the store and of what belongs to it, below the folder of the profile.
    pub(in crate::profile) fn files(self) -> impl Iterator<Item = String> {
        BESIDE.into_iter().map(move |end| format!("{}{end}", self.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_store_is_where_a_browser_looks_for_it() {
        for (there, name, other) in [
            (&[][..], PLAIN, None),
            (&[PLAIN], PLAIN, None),
            (&[NETWORK], NETWORK, None),
            (&[PLAIN, NETWORK], PLAIN, Some(NETWORK)),
            (&[PLAIN, NETWORK, MOVED], NETWORK, Some(PLAIN)),
            (&[NETWORK, MOVED], NETWORK, None),
            (&[PLAIN, MOVED], NETWORK, Some(PLAIN)),
        ] {
            let folder = tempfile::tempdir().unwrap();
            fs::create_dir(folder.path().join("Network")).unwrap();
            for name in there {
                fs::write(folder.path().join(name), "").unwrap();
            }
            assert_eq!(Place::find(folder.path()).unwrap(), Place { name, other }, "{there:?}");
        }
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("Network"), "a file").unwrap();
        assert_eq!(Place::find(folder.path()).unwrap().name, PLAIN);
    }
}
