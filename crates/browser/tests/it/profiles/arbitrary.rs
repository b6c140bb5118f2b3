//! States of what a profile has: anything that a browser could hold, and what it would not.

use baton_session::cookie::{Expiry, PartitionKey, Priority, SameSite, SourceScheme};
use baton_session::{Cookie, Entries, State, StorageKey, Text};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

/// Text of any UTF-16: lone surrogates and NUL among it.
pub(crate) fn text() -> impl Strategy<Value = Text> + Clone {
    let unit = prop_oneof![any::<u16>(), 0xd800..=0xdfffu16, select(vec![0, 34, 92, 97])];
    prop_oneof![
        2 => ".{0,8}".prop_map(Text::from),
        1 => "[a-zA-Zé]{0,40}".prop_map(Text::from),
        1 => vec(unit, 0..6).prop_map(|units| Text::from_utf16(&units)),
    ]
}

/// A cookie that may or may not be one that a browser takes.
pub(crate) fn cookie(hosts: Vec<String>) -> impl Strategy<Value = Cookie> {
    let name = prop_oneof![
        8 => "[a-zA-Z0-9_.é!#$%&'*+^`|~-]{1,6}",
        1 => select(vec!["", "__Host-a", "__Secure-b", "__Http-c", "__HostHttp-d", "__host-e",
            "__Host-Http-f", " padded", "a b", "a,b", "\"q\""]).prop_map(str::to_owned),
    ];
    let value = prop_oneof![
        8 => "[ -:<-~é漢]{0,20}",
        1 => select(vec!["\"quoted\"", "a\tb", " x", "x ", "a;b", "a\u{1}b", "=", "a=b"])
            .prop_map(str::to_owned),
        1 => "[a-z]{3000,5000}",
    ];
    let path = prop_oneof![
        5 => Just("/".to_owned()),
        2 => "/[a-z]{1,5}(/[a-z ]{0,3})?",
        1 => select(vec!["/a%20b", "/é", "/a?b", "/a#b", "//", "/a//b", "/.."]).prop_map(str::to_owned),
    ];
    let same_site = option::of(select(vec![SameSite::Strict, SameSite::Lax, SameSite::None]));
    let priority = select(vec![Priority::Low, Priority::Medium, Priority::High]);
    let scheme = select(vec![SourceScheme::Unset, SourceScheme::NonSecure, SourceScheme::Secure]);
    let expires = option::of(1_700_000_000_000_000..1_830_000_000_000_000_i64);
    let rest = (expires, any::<bool>(), any::<bool>(), option::of(1..u16::MAX));
    ((name, value), select(hosts), path, partition_key(), (same_site, priority, scheme), rest)
        .prop_map(|((name, value), domain, path, partition_key, words, rest)| Cookie {
            name,
            value,
            domain,
            path,
            expires: rest.0.map(Expiry),
            http_only: rest.1,
            secure: rest.2 || partition_key.is_some(),
            same_site: words.0,
            priority: words.1,
            source_scheme: words.2,
            source_port: rest.3,
            partition_key,
        })
}

fn partition_key() -> impl Strategy<Value = Option<PartitionKey>> {
    let site = select(vec!["https://app.test", "http://x.localhost", "https://example.co.uk"]);
    option::weighted(
        0.2,
        (site, any::<bool>()).prop_map(|(site, has_cross_site_ancestor)| PartitionKey {
            top_level_site: site.to_owned(),
            has_cross_site_ancestor,
        }),
    )
}

/// Hosts of cookies, with and without a dot, some of them no hosts.
pub(crate) fn hosts() -> Vec<String> {
    let hosts = [
        "app.test",
        ".app.test",
        "www.app.co.uk",
        "localhost",
        "127.0.0.1",
        "[::1]",
        ".co.uk",
        "UPPER.test",
        "ä.test",
        ".x.localhost",
        "xn--4ca.test",
        "",
    ];
    hosts.map(str::to_owned).to_vec()
}

/// The entries of one storage area.
pub(crate) fn entries() -> impl Strategy<Value = Entries> {
    btree_map(text(), text(), 1..6).prop_map(Entries)
}

/// First parties, partitions, and keys that no page can have.
fn storage_key() -> impl Strategy<Value = StorageKey> {
    select(vec![
        "https://app.test/",
        "http://localhost:8080/",
        "http://[::1]:8080/",
        "https://cdn.test/^0https://app.test",
        "https://cdn.test/^31",
        "https://app.test/^112345^267890",
        "file:///",
    ])
    .prop_map(StorageKey::new)
}

/// A state with cookies and localStorage.
pub(crate) fn state() -> impl Strategy<Value = State> {
    (vec(cookie(hosts()), 0..20), btree_map(storage_key(), entries(), 0..5)).prop_map(
        |(cookies, areas)| {
            let mut state = State { cookies, ..State::default() };
            for (key, entries) in areas {
                state.origins.entry(key).or_default().local_storage = entries;
            }
            state
        },
    )
}
