//! Cache Storage: one cache with what it answers to which request.
//!
//! The words are those of the W3C's Service Workers. A cache takes requests of the method `GET`
//! only, so no method is kept. Header values and status texts are strings of bytes, which a page
//! sees as Latin-1.

use crate::text::Text;
use serde::{Deserialize, Serialize};

/// One cache of one storage key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cache {
    /// Unique within its storage key.
    pub name: Text,
    /// Where it stands among the caches of its storage key: `caches.match` asks them in this order.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub position: u32,
    /// In the order in which the cache lists them.
    pub entries: Vec<CacheEntry>,
}

/// A request and the response that is kept for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheEntry {
    /// The address of the request.
    pub url: String,
    /// Its headers. Where the response has a `Vary` header, they decide what it answers to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<(String, String)>,
    /// What is kept.
    pub response: CachedResponse,
}

/// A response of a cache.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum CachedResponse {
    /// One that a page can read.
    #[serde(rename_all = "camelCase")]
    Whole {
        /// Such as 200.
        status: u16,
        /// Such as `OK`; may be empty.
        status_text: String,
        /// In the order of their names.
        headers: Vec<(String, String)>,
        /// Its bytes in base64.
        body: String,
    },
    /// One that no script can read.
    Lost {
        /// The type of the response, such as `opaque`.
        kind: String,
    },
}

impl Cache {
    /// How many of its responses could not be carried.
    pub fn lost(&self) -> usize {
        let is_lost = |entry: &&CacheEntry| matches!(entry.response, CachedResponse::Lost { .. });
        self.entries.iter().filter(is_lost).count()
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(position: &u32) -> bool {
    *position == 0
}
