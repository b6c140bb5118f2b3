//! Secrets: hidden before anything is kept.
//!
//! The one idea: what is not [`Clean`] cannot be kept, and only this room makes things clean. What is
//! [`Revealed`] is kept beside it, where nobody looks who may not, and only of a tab of which somebody
//! asked for it. What was
//! hidden says so, `[redacted]`, and the shape around it stays: `a=1&token=[redacted]`. A thing is a
//! secret by its *name* (a header, a field of a form or of JSON, `name=value` in a text; [`names`] has the
//! words) or by its *look* (a JWT, a key of a known kind; as the value of an address also a long random
//! text). Whatever is too long is cut first, so that the work is bounded too.

pub mod json;
pub mod message;
pub mod names;
pub mod patterns;
mod redaction;
pub mod text;

pub use redaction::{Clean, Page, Revealed};

/// What stands in the place of a secret.
pub const HIDDEN: &str = "[redacted]";
