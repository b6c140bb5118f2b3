//! Gives up what the kernel lets root do beside files (`capabilities(7)`).
//!
//! Executing a program as root brings them back, unless the thread may not get rights by that: so
//! `no_new_privs` is set with it. An ordinary user has none to give up.

use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities, set_no_new_privs};
use std::io;

/// Drops every capability of the calling thread, and of what it starts from now on.
pub fn drop_all() -> io::Result<()> {
    set_no_new_privs(true)?;
    let none = CapabilitySet::empty();
    let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
    Ok(set_capabilities(None, sets)?)
}
