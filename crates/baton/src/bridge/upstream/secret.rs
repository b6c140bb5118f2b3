//! The random part of the browser's address, which stays between the bridge and the other server: in
//! what a server passes on, such as the error of a connection, something else stands in its place.

use std::sync::Arc;

/// What stands in the place of the secret.
const HIDDEN: &str = "[redacted]";

/// What nobody else may read. Cheap to clone.
#[derive(Clone)]
pub(super) struct Secret(Arc<str>);

impl Secret {
    pub(super) fn new(text: &str) -> Self {
        Self(text.into())
    }

    /// How long it is, in bytes.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// A text without it.
    pub(super) fn hide(&self, text: Vec<u8>) -> Vec<u8> {
        let text = String::from_utf8(text)
            .unwrap_or_else(|other| String::from_utf8_lossy(other.as_bytes()).into_owned());
        let hidden = text.contains(&*self.0).then(|| text.replace(&*self.0, HIDDEN));
        hidden.unwrap_or(text).into_bytes()
    }
}
