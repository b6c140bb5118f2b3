//! Profiles as archives, for where their browsers share no disk with us.
//!
//! The one idea: what comes back was written by strangers. Of an archive only plain files with the names
//! that a profile has are taken, up to a bound; a link in it leads nowhere, because none is made.

mod pack;
mod unpack;

pub use pack::Pack;
pub use unpack::unpack;
