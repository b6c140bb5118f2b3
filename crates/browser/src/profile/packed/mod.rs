//! Profiles as archives, for where their browsers share no disk with us.
//!
//! The one idea: what comes back was written by strangers. Of an archive only plain files with the names
//! that a profile has are taken, up to a bound; a link in it leads nowhere, because none is made. Bounds are those of what is read, not of what it
//! says of itself.

mod bounded;
mod pack;
mod unpack;

pub use bounded::BoundedTar;
pub use pack::Pack;
pub use unpack::unpack;
