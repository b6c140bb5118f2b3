//! What a process that Baton starts may not reach.
//!
//! The one idea: a process confines itself before it obeys anybody or starts anything, and the kernel
//! hands on to its children what it gave up; none of it comes back. So every room here is a call on
//! the calling *thread*, made while it is the only one of its process, or by a thread that then starts
//! what is meant to be confined.
//!
//! Rooms: [`keyring`] leaves the keys of the user behind; [`calls`] refuses the calls of the kernel
//! that reach into other processes or into the kernel itself; [`capabilities`] gives up what root has
//! beside files.

#[cfg(target_os = "linux")]
pub mod calls;
#[cfg(target_os = "linux")]
pub mod capabilities;
#[cfg(target_os = "linux")]
pub mod keyring;
