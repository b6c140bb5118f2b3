//! What a browser would refuse is named before it costs the others.

use baton_session::Cookie;
use baton_session::cookie::{
    Expiry, InvalidCookie, PartitionKey, Priority, SameSite, SourceScheme,
};

const NOW: Expiry = Expiry(1_000_000);

fn good() -> Cookie {
    Cookie {
        name: "sid".to_owned(),
        value: "1".to_owned(),
        domain: "app.test".to_owned(),
        path: "/".to_owned(),
        expires: Some(Expiry(1_000_001)),
        http_only: true,
        secure: true,
        same_site: Some(SameSite::None),
        priority: Priority::Medium,
        source_scheme: SourceScheme::Secure,
        source_port: Some(443),
        partition_key: Some(PartitionKey {
            top_level_site: "https://app.test".to_owned(),
            has_cross_site_ancestor: false,
        }),
    }
}

/// What `change` makes of a good cookie.
fn check(change: impl Fn(&mut Cookie)) -> Result<(), InvalidCookie> {
    let mut cookie = good();
    change(&mut cookie);
    cookie.validate(NOW)
}

#[test]
fn good_cookies_pass() {
    assert_eq!(good().validate(NOW), Ok(()));
    assert_eq!(check(|cookie| cookie.name.clear()), Ok(()), "a value is enough");
    assert_eq!(check(|cookie| cookie.value.clear()), Ok(()), "a name is enough");
    assert_eq!(check(|cookie| cookie.value = "a=b\tc".into()), Ok(()));
    assert_eq!(check(|cookie| cookie.domain = ".app.test".into()), Ok(()));
    assert_eq!(check(|cookie| cookie.domain = "[::1]".into()), Ok(()));
    assert_eq!(check(|cookie| cookie.expires = None), Ok(()));
    assert_eq!(check(|cookie| cookie.name = "__Host-sid".into()), Ok(()));
}

#[test]
fn each_rule_names_what_it_refuses() {
    let refused = |change: fn(&mut Cookie)| check(change).unwrap_err();
    let both = |cookie: &mut Cookie| {
        cookie.name.clear();
        cookie.value.clear();
    };
    assert_eq!(refused(both), InvalidCookie::Empty);
    let ambiguous = |cookie: &mut Cookie| {
        cookie.name.clear();
        cookie.value = "a=b".into();
    };
    assert_eq!(refused(ambiguous), InvalidCookie::Ambiguous);
    for (change, field) in [
        ((|c| c.name = "a\0".into()) as fn(&mut Cookie), "name"),
        (|c| c.name = "a=b".into(), "name"),
        (|c| c.value = "a;b".into(), "value"),
        (|c| c.value = "a\nb".into(), "value"),
        (|c| c.path = "/;".into(), "path"),
    ] {
        assert_eq!(refused(change), InvalidCookie::Character { field });
    }
    let domains = ["", ".", "..app.test", "App.test", "app.test/", "bücher.test", "a b"];
    for domain in domains.into_iter().chain(["app.test:8080", "127.0.0.1:80", "::1", "[::1]:80"]) {
        let found = check(|cookie| cookie.domain = domain.to_owned());
        assert_eq!(found, Err(InvalidCookie::Domain(domain.to_owned())));
    }
    assert_eq!(refused(|c| c.path = "app".into()), InvalidCookie::Path("app".to_owned()));
    let insecure = |cookie: &mut Cookie| cookie.secure = false;
    assert_eq!(refused(insecure), InvalidCookie::NeedsSecure("Partitioned"));
    assert_eq!(refused(|c| c.expires = Some(NOW)), InvalidCookie::Expired);
}

#[test]
fn a_domain_cookie_needs_hosts_that_belong_together() {
    let of = |domain: &str| check(|cookie| cookie.domain = domain.to_owned());
    for domain in [".com", ".co.uk", ".localhost", ".intranet", ".127.0.0.1", ".[::1]"] {
        assert_eq!(of(domain), Err(InvalidCookie::Shared(domain.to_owned())));
        assert_eq!(of(&domain[1..]), Ok(()), "{domain}: the host's own");
    }
    // Which hosts share a private suffix is the browser's to say.
    for domain in [".app.co.uk", ".a.localhost", ".www.city.kawasaki.jp", ".github.io"] {
        assert_eq!(of(domain), Ok(()));
    }
}

#[test]
fn the_prefixes_of_names_are_promises() {
    let broken = |name: &str, change: fn(&mut Cookie)| {
        check(|cookie| {
            cookie.name = name.to_owned();
            cookie.partition_key = None;
            change(cookie);
        })
    };
    for (name, change) in [
        ("__Secure-sid", (|c| c.secure = false) as fn(&mut Cookie)),
        ("__host-sid", |c| c.secure = false),
        ("__Host-sid", |c| c.path = "/app".into()),
        ("__Host-sid", |c| c.domain = ".app.test".into()),
        ("__Http-sid", |c| c.http_only = false),
        ("__host-http-sid", |c| c.http_only = false),
    ] {
        let found = broken(name, change).unwrap_err();
        assert!(matches!(found, InvalidCookie::Prefix { .. }), "{name}: {found}");
    }
}

#[test]
fn an_instant_survives_the_protocols_seconds() {
    let instant = Expiry(1_795_316_360_463_133);
    assert_eq!(Expiry::from_seconds(instant.as_seconds()), Some(instant));
    for never in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(Expiry::from_seconds(never), None);
    }
}
