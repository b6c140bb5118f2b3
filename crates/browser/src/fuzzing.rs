//! Doors for the fuzz targets, to what reads untrusted bytes.
//!
//! The one idea: each door knows what must hold of whatever is read, and panics when it does not. Only
//! the feature `fuzzing` opens them; nothing that is installed has it.

pub use crate::keeper::fuzzing::cdp_frames;
pub use crate::profile::fuzzing::{cookie_store, leveldb};
