//! Caches, files and service workers without their secrets.
//!
//! A response or a file may hold anything, and so may a header; names, addresses and sizes stay.

use super::{redact_base64, redact_str, redact_text, redact_url};
use crate::cache::Cache;
use crate::cache::{CacheEntry, CachedResponse};
use crate::file::FileContent;
use crate::file::FileEntry;
use crate::registration::Registration;

pub(super) fn redact_cache(cache: &Cache) -> Cache {
    let entries = cache.entries.iter().map(redact_entry).collect();
    Cache { name: cache.name.clone(), position: cache.position, entries }
}

fn redact_entry(entry: &CacheEntry) -> CacheEntry {
    let mut response = entry.response.clone();
    if let CachedResponse::Whole { headers, body, .. } = &mut response {
        *headers = redact_headers(headers);
        *body = redact_base64(body);
    }
    CacheEntry { url: redact_url(&entry.url), headers: redact_headers(&entry.headers), response }
}

fn redact_headers(headers: &[(String, String)]) -> Vec<(String, String)> {
    headers.iter().map(|(name, value)| (name.clone(), redact_str(value))).collect()
}

pub(super) fn redact_file(entry: &FileEntry) -> FileEntry {
    let mut entry = entry.clone();
    if let FileContent::File { bytes } = &mut entry.content {
        *bytes = redact_base64(bytes);
    }
    entry
}

pub(super) fn redact_registration(registration: &Registration) -> Registration {
    let mut registration = registration.clone();
    registration.scope = redact_url(&registration.scope);
    registration.script_url = redact_url(&registration.script_url);
    let header = &mut registration.navigation_preload.header;
    *header = redact_str(header);
    for script in &mut registration.scripts {
        script.url = redact_url(&script.url);
        script.source = redact_text(&script.source);
    }
    registration
}
