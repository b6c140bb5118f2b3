//! Strategies for caches, files and service workers.

use super::text;
use super::values::base64;
use baton_session::stored::{
    CacheEntry, CachedResponse, FileContent, NavigationPreload, WorkerScript, WorkerType,
};
use baton_session::{Cache, FileEntry, Registration};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

fn headers() -> impl Strategy<Value = Vec<(String, String)>> {
    vec(("[a-z-]{1,6}", "[ -~é]{0,8}"), 0..3)
}

fn url() -> impl Strategy<Value = String> {
    "https://app\\.test/[a-z]{0,4}(\\?[a-z]=[a-z0-9]{1,4})?"
}

fn response() -> impl Strategy<Value = CachedResponse> {
    let whole = (200..600u16, "[A-Za-z ]{0,6}", headers(), base64());
    prop_oneof![
        4 => whole.prop_map(|(status, status_text, headers, body)| {
            CachedResponse::Whole { status, status_text, headers, body }
        }),
        1 => Just(CachedResponse::Lost { kind: "opaque".to_owned() }),
    ]
}

/// Caches, no two of which have the same name.
pub(crate) fn caches() -> impl Strategy<Value = Vec<Cache>> {
    let entry = (url(), headers(), response()).prop_map(|(url, headers, response)| CacheEntry {
        url,
        headers,
        response,
    });
    btree_map(text(), vec(entry, 0..3), 0..3).prop_map(|caches| {
        let cache = |((name, entries), position)| Cache { name, position, entries };
        caches.into_iter().zip(0..).map(cache).collect()
    })
}

/// Files and folders, no two of which have the same path.
pub(crate) fn files() -> impl Strategy<Value = Vec<FileEntry>> {
    let file = base64().prop_map(|bytes| FileContent::File { bytes });
    let content = prop_oneof![file, Just(FileContent::Folder)];
    btree_map(vec("[a-zé ./]{1,4}", 1..4), content, 0..4).prop_map(|files| {
        files.into_iter().map(|(path, content)| FileEntry { path, content }).collect()
    })
}

fn registration() -> impl Strategy<Value = Registration> {
    let preload = (any::<bool>(), "[a-z]{0,4}")
        .prop_map(|(enabled, header)| NavigationPreload { enabled, header });
    let kind = option::of(select(vec![WorkerType::Classic, WorkerType::Module]));
    let scripts = btree_map(url(), text(), 0..3).prop_map(|scripts| {
        scripts.into_iter().map(|(url, source)| WorkerScript { url, source }).collect()
    });
    let via = select(vec!["imports", "all", "none"]);
    (url(), url(), via, preload, kind, scripts).prop_map(
        |(scope, script_url, via, navigation_preload, worker_type, scripts)| Registration {
            scope,
            script_url,
            update_via_cache: via.to_owned(),
            navigation_preload,
            worker_type,
            scripts,
        },
    )
}

/// Registrations, no two of which have the same scope.
pub(crate) fn registrations() -> impl Strategy<Value = Vec<Registration>> {
    btree_map(url(), registration(), 0..3).prop_map(|registrations| {
        let scoped = |(scope, registration)| Registration { scope, ..registration };
        registrations.into_iter().map(scoped).collect()
    })
}
