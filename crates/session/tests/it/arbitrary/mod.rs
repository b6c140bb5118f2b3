//! Strategies for the types of the model: anything that a browser could hold, and a bit more.

pub(crate) mod sayable;
pub(crate) mod stored;
pub(crate) mod values;

use baton_session::cookie::{Expiry, PartitionKey, Priority, SameSite, SourceScheme};
use baton_session::egress::{Egress, ProxyCredentials};
use baton_session::identity::{BrowserName, ColorScheme, Identity};
use baton_session::permission::{NAMES, Setting};
use baton_session::state::{Geolocation, OriginState, Viewport};
use baton_session::tab::{HistoryEntry, Scroll};
use baton_session::{
    Certificate, Cookie, Entries, Environment, History, Permission, State, StorageKey, Tab, Text,
};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use std::collections::BTreeMap;
use values::{database, value};

/// Text of any UTF-16: lone surrogates, NUL and quotes among it.
pub(crate) fn text() -> impl Strategy<Value = Text> + Clone {
    let unit = prop_oneof![any::<u16>(), 0xd800..=0xdfffu16, select(vec![0, 34, 92, 97])];
    prop_oneof![
        3 => ".{0,8}".prop_map(Text::from),
        1 => vec(unit, 0..6).prop_map(|units| Text::from_utf16(&units)),
    ]
}

/// A valid cookie of one of a few hosts.
pub(crate) fn cookie() -> impl Strategy<Value = Cookie> {
    let hosts = vec!["app.test", ".app.test", "www.app.co.uk", "localhost", "127.0.0.1", "[::1]"];
    let identity = ("[a-zA-Z_.]{1,3}", select(hosts), select(vec!["/", "/app"]), partition_key());
    let same_site = select(vec![SameSite::Strict, SameSite::Lax, SameSite::None]);
    let priority = select(vec![Priority::Low, Priority::Medium, Priority::High]);
    let scheme = select(vec![SourceScheme::Unset, SourceScheme::NonSecure, SourceScheme::Secure]);
    let source = (scheme, option::of(any::<u16>()));
    let rest = (option::of(1..4_000_000_000_000_000i64), any::<bool>(), any::<bool>());
    (identity, "[ -:<-~é]{0,12}", option::of(same_site), priority, source, rest).prop_map(
        |((name, domain, path, partition_key), value, same_site, priority, source, rest)| {
            let is_partitioned = partition_key.is_some();
            Cookie {
                name,
                value,
                domain: domain.to_owned(),
                path: path.to_owned(),
                expires: rest.0.map(Expiry),
                http_only: rest.1,
                secure: rest.2 || partition_key.is_some(),
                // No server gets one with None that is not secure.
                same_site: same_site
                    .filter(|word| *word != SameSite::None || rest.2 || is_partitioned),
                priority,
                source_scheme: source.0,
                source_port: source.1,
                partition_key,
            }
        },
    )
}

fn partition_key() -> impl Strategy<Value = Option<PartitionKey>> {
    let site = select(vec!["https://app.test", "https://other.test"]);
    option::weighted(
        0.2,
        (site, any::<bool>()).prop_map(|(site, has_cross_site_ancestor)| PartitionKey {
            top_level_site: site.to_owned(),
            has_cross_site_ancestor,
        }),
    )
}

/// Cookies, no two of which are the same cookie.
pub(crate) fn cookies() -> impl Strategy<Value = Vec<Cookie>> {
    vec(cookie(), 0..12).prop_map(|cookies| {
        let identity = |cookie: &Cookie| {
            let (domain, path, name, partition, scheme, port) = cookie.key();
            let names = [domain, path, name].map(str::to_owned);
            (names, partition.cloned(), scheme, port)
        };
        let unique: BTreeMap<_, _> = cookies.into_iter().map(|c| (identity(&c), c)).collect();
        unique.into_values().collect()
    })
}

/// The entries of one storage area.
pub(crate) fn entries() -> impl Strategy<Value = Entries> {
    btree_map(text(), text(), 0..5).prop_map(Entries)
}

/// First parties, partitions and opaque keys.
pub(crate) fn storage_key() -> impl Strategy<Value = StorageKey> {
    select(vec![
        "https://app.test/",
        "http://localhost:8080/",
        "https://cdn.test/^0https://app.test",
        "https://cdn.test/^31",
        "https://app.test/^112345^267890",
    ])
    .prop_map(StorageKey::new)
}

/// A tab anywhere.
pub(crate) fn tab() -> impl Strategy<Value = Tab> {
    let url =
        "https://(ada:pw@)?app\\.test/[a-z]{0,4}(\\?[a-z]=[a-z0-9]{1,4}&[a-z]{1,3})?(#[a-z]{0,4})?";
    let storage = btree_map(storage_key(), entries(), 0..3);
    ("[0-9A-F]{0,8}", url, ".{0,8}", any::<bool>(), storage, history()).prop_map(
        |(id, url, title, active, session_storage, history)| Tab {
            id,
            url,
            title,
            active,
            session_storage,
            history,
        },
    )
}

/// A history, its count right or not.
pub(crate) fn history() -> impl Strategy<Value = History> {
    let url = "https://app\\.test/[a-z]{0,4}";
    let scroll = (any::<i32>(), any::<i32>()).prop_map(|(x, y)| Scroll { x, y });
    let entry = (0..9i64, url, ".{0,4}", any::<bool>(), option::of(value()), scroll).prop_map(
        |(id, url, title, same_document, state, scroll)| HistoryEntry {
            id,
            url,
            title,
            same_document,
            state,
            scroll,
        },
    );
    prop_oneof![
        Just(History::default()),
        (vec(entry, 1..4), 0..5usize).prop_map(|(entries, current)| History { entries, current }),
    ]
}

/// An environment with any settings.
pub(crate) fn environment() -> impl Strategy<Value = Environment> {
    let viewport =
        (any::<u32>(), any::<u32>()).prop_map(|(width, height)| Viewport { width, height });
    let geolocation = (-90.0..90.0, -180.0..180.0, 0.0..1e6).prop_map(|place| Geolocation {
        latitude: place.0,
        longitude: place.1,
        accuracy: place.2,
    });
    (
        option::of(viewport),
        (option::of(".{0,8}"), option::of(identity()), option::of(browser_name())),
        option::of("[A-Z][a-z]{2}/[A-Z][a-z]{2}"),
        option::of("[a-z]{2}-[A-Z]{2}"),
        option::of(geolocation),
        vec(permission(), 0..3),
        vec((0..CERTIFICATES.len()).prop_map(certificate), 0..3),
        option::of(egress()),
    )
        .prop_map(
            |(
                viewport,
                (user_agent, identity, browser),
                timezone,
                locale,
                geolocation,
                permissions,
                certificates,
                egress,
            )| {
                Environment {
                    viewport,
                    user_agent,
                    identity,
                    browser,
                    timezone,
                    locale,
                    geolocation,
                    permissions,
                    certificates,
                    egress,
                }
            },
        )
}

/// Any name of a browser, whether or not there is one.
fn browser_name() -> impl Strategy<Value = BrowserName> {
    (".{0,6}", any::<u32>(), select(vec!["Linux", "macOS", ""])).prop_map(
        |(product, version, platform)| BrowserName {
            product,
            version,
            platform: platform.to_owned(),
        },
    )
}

/// Any identity, whether or not it contradicts the rest.
fn identity() -> impl Strategy<Value = Identity> {
    let system = select(vec!["X11; Linux x86_64", "Macintosh; Intel Mac OS X 10_15_7"]);
    let derived = (system, 100..200_u32).prop_map(|(system, version)| {
        let agent = format!("Mozilla/5.0 ({system}) Chrome/{version}.0.0.0 Safari/537.36");
        Identity::of_user_agent(&agent).unwrap_or_default()
    });
    let scheme = select(vec![ColorScheme::Light, ColorScheme::Dark]);
    (
        option::of(derived),
        vec("[a-z]{2}(-[A-Z]{2})?", 0..3),
        option::of(0.5..5.0),
        option::of(0..17_u8),
        option::of(scheme),
        option::of(any::<bool>()),
        option::of(1..129_u16),
    )
        .prop_map(|(derived, languages, scale, touch, scheme, motion, processors)| Identity {
            languages,
            device_scale_factor: scale,
            max_touch_points: touch,
            color_scheme: scheme,
            reduced_motion: motion,
            hardware_concurrency: processors,
            ..derived.unwrap_or_default()
        })
}

fn egress() -> impl Strategy<Value = Egress> {
    let host = "(\\*\\.)?[a-z]{1,8}\\.example(:[0-9]{2,4})?";
    let credentials = ("[a-z]{1,8}", "[!-~]{1,8}")
        .prop_map(|(user, password)| ProxyCredentials { user, password });
    (vec(host, 0..3), option::of("socks5://[a-z]{1,8}:[0-9]{2,4}"), option::of(credentials))
        .prop_map(|(only, proxy, credentials)| Egress { only, proxy, credentials })
}

/// An authority, and a server that signed for itself.
const CERTIFICATES: [&str; 2] = [
    include_str!("../fixtures/certificates/authority.pem"),
    include_str!("../fixtures/certificates/server.pem"),
];

/// One of them.
pub(crate) fn certificate(at: usize) -> Certificate {
    CERTIFICATES[at].parse().unwrap()
}

/// A permission, known or not.
fn permission() -> impl Strategy<Value = Permission> {
    let known = (0..NAMES.len()).prop_map(|at| NAMES[at].0.to_owned());
    let setting = prop_oneof![Just(Setting::Allow), Just(Setting::Deny)];
    let origin = prop_oneof!["https?://[a-z]{1,3}\\.test", ".{0,6}"];
    (prop_oneof![known, ".{0,6}"], origin, setting, option::of(any::<i64>()))
        .prop_map(|(name, origin, setting, changed)| Permission { name, origin, setting, changed })
}

/// What one storage key holds.
pub(crate) fn origin_state() -> impl Strategy<Value = OriginState> {
    let databases = btree_map(text(), database(), 0..3).prop_map(|databases| {
        databases.into_iter().map(|(name, database)| named(name, database)).collect()
    });
    let stored = (stored::caches(), stored::files(), stored::registrations(), stored::files());
    (entries(), databases, stored).prop_map(
        |(local_storage, databases, (caches, files, service_workers, raw))| OriginState {
            local_storage,
            databases,
            caches,
            files,
            service_workers,
            raw,
        },
    )
}

fn named(name: Text, database: baton_session::Database) -> baton_session::Database {
    baton_session::Database { name, ..database }
}

/// Any state.
pub(crate) fn state() -> impl Strategy<Value = State> {
    let origins = btree_map(storage_key(), origin_state(), 0..4);
    (cookies(), origins, vec(tab(), 0..4), environment()).prop_map(
        |(cookies, origins, tabs, environment)| State { cookies, origins, tabs, environment },
    )
}
