//! The node of a data folder: found, or started when none runs.

mod find;
mod start;

pub(crate) use find::{Elsewhere, Found, find, is_current};
pub(crate) use start::find_or_start;
