//! Checks of what callers ask for, before anything is begun.

use crate::error::RuntimeError;
use crate::live::LiveError;
use baton_api::{Invalid, OpenSession, SharedFolder};
use baton_browser::keeper::{BadEgress, EgressSpec, KnownProxies, NotProxyUrl};
use baton_session::certificate::MAX_CERTIFICATES;
use baton_session::egress::{Egress, ProxyCredentials};
use baton_session::identity::{BrowserName, Contradiction};
use baton_session::permission::MAX_PERMISSIONS;
use baton_session::receipt::{ItemKind, ReceiptItem};
use baton_session::state::{Geolocation, Viewport};
use baton_session::{Certificate, Environment, Permission, Receipt, SessionName};
use baton_store::data::DataFolder;
use std::fmt::Display;
use std::path::Path;
use url::{Host, Url};

/// The most tabs that a session may be opened with.
const MAX_URLS: usize = 50;
/// The most folders of the machine that a browser may see beside its own.
const MAX_FOLDERS: usize = 20;
/// The longest description, in characters.
const MAX_DESCRIPTION: usize = 1000;
/// The longest text of the environment, in characters.
const MAX_TEXT: usize = 500;
/// Who comes to a proxy.
const CREDENTIALS: &str = "environment.egress.credentials";
const WHO_COMES: &str =
    "a user without a colon and a password, each 1 to 255 bytes without control characters";

/// Whether a session can be opened like this.
pub(super) fn open(request: &OpenSession) -> Result<(), RuntimeError> {
    name(&request.name)?;
    debug(request.debug, request.reveal)?;
    description(request.description.as_deref())?;
    if request.urls.len() > MAX_URLS {
        return invalid("urls", "at most 50 addresses", request.urls.len());
    }
    request.urls.iter().try_for_each(address)?;
    environment(&request.environment)
}

/// Whether the browser of a session may see these folders. Who may ask for that has been looked at.
pub(super) fn folders(data: &DataFolder, folders: &[SharedFolder]) -> Result<(), RuntimeError> {
    const FIELD: &str = "files";
    if folders.len() > MAX_FOLDERS {
        return invalid(FIELD, "at most 20 folders", folders.len());
    }
    for SharedFolder { path, .. } in folders {
        let path = Path::new(path);
        if !path.is_absolute() || !path.is_dir() {
            let found = format!("{:?}", path.display().to_string());
            return invalid(FIELD, "folders that are there, by their whole paths", found);
        }
        data.expect_apart(path).map_err(LiveError::from)?;
    }
    Ok(())
}

/// Whether tabs can be recorded like this.
pub(super) fn debug(on: bool, reveal: bool) -> Result<(), RuntimeError> {
    if reveal && !on {
        return invalid("reveal", "tabs that are recorded", "that they are not");
    }
    Ok(())
}

/// Whether a session can bear this name.
pub fn name(name: &SessionName) -> Result<(), RuntimeError> {
    // `/sessions/attach` and `/sessions/import` are addresses of their own.
    if matches!(name.as_str(), "attach" | "import") {
        let expected = "another word than attach and import, which the API uses itself";
        return invalid("name", expected, name);
    }
    Ok(())
}

/// Whether a session can be described like this.
pub fn description(text: Option<&str>) -> Result<(), RuntimeError> {
    let text = text.unwrap_or_default();
    if text.chars().count() > MAX_DESCRIPTION || text.contains('\0') {
        return invalid("description", "at most 1000 characters, none of them NUL", text.len());
    }
    Ok(())
}

/// A tab may show the web. Files and the browser's own pages belong to the machine, and a key that
/// drives sessions shall not read those.
fn address(url: &Url) -> Result<(), RuntimeError> {
    match url.scheme() {
        "http" | "https" | "about" => Ok(()),
        scheme => invalid("urls", "http, https or about addresses", format!("{scheme}:")),
    }
}

/// A browser's DevTools address: it is not encrypted and gives away everything, so it must not
/// leave this machine.
pub(super) fn cdp_address(url: &Url) -> Result<(), RuntimeError> {
    if !matches!(url.scheme(), "http" | "ws") {
        return invalid("cdp_url", "an http or ws address", format!("{}:", url.scheme()));
    }
    let local = match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    };
    if local {
        return Ok(());
    }
    let found = url.host_str().unwrap_or("no host").to_owned();
    invalid("cdp_url", "an address of this machine such as http://127.0.0.1:9222", found)
}

/// Whether a session can be asked for with this environment.
fn environment(environment: &Environment) -> Result<(), RuntimeError> {
    FIELDS.iter().try_for_each(|field| (field.check)(environment))?;
    // Only a node that gives a part of a session leaves out who comes to its proxy.
    let credentials = environment.egress.as_ref().and_then(|egress| egress.credentials.as_ref());
    if credentials.is_some_and(ProxyCredentials::are_left_out) {
        return invalid(CREDENTIALS, WHO_COMES, "neither");
    }
    Ok(())
}

/// Takes out of the environment in a file what no session can have, each field with a line in `left_out`.
///
/// A file whose session has a way out is refused as a whole instead, with what is wrong with it: its writer wants
/// its browser to reach some hosts alone, or to go by some proxy, and whatever else of it is misspelled, it is not
/// for this node to guess how much of that counts. So a way out is never what is taken out.
pub fn environment_of_file(
    environment: &mut Environment,
    left_out: &mut Receipt,
) -> Result<(), RuntimeError> {
    for Field { name, check, reset } in &FIELDS {
        let Err(wrong) = check(environment) else { continue };
        match reset {
            Some(reset) if environment.egress.is_none() => reset(environment),
            Some(_) | None => return Err(RuntimeError::BadEnvironment(wrong)),
        }
        left_out.push(ReceiptItem::rejected(ItemKind::Environment, *name, wrong));
    }
    Ok(())
}

/// One field of an environment.
struct Field {
    /// What the API calls it.
    name: &'static str,
    /// Whether a session can have it.
    check: fn(&Environment) -> Result<(), Invalid>,
    /// Leaves it to the browser; the way out never is.
    reset: Option<fn(&mut Environment)>,
}

/// Each field, in the order in which a caller hears of it. The identity comes last: it is compared with others.
const FIELDS: [Field; 10] = [
    Field {
        name: "environment.viewport",
        check: |one| one.viewport.map_or(Ok(()), viewport),
        reset: Some(|one| one.viewport = None),
    },
    Field {
        name: "environment.geolocation",
        check: |one| one.geolocation.map_or(Ok(()), geolocation),
        reset: Some(|one| one.geolocation = None),
    },
    Field {
        name: "environment.permissions",
        check: |one| permissions(&one.permissions),
        reset: Some(|one| one.permissions.clear()),
    },
    Field {
        name: "environment.certificates",
        check: |one| certificates(&one.certificates),
        reset: Some(|one| one.certificates.clear()),
    },
    Field {
        name: "environment.egress",
        check: |one| one.egress.as_ref().map_or(Ok(()), egress),
        reset: None,
    },
    Field {
        name: "environment.userAgent",
        check: |one| user_agent(one.user_agent.as_deref()),
        reset: Some(|one| one.user_agent = None),
    },
    Field {
        name: "environment.timezone",
        check: |one| timezone(one.timezone.as_deref()),
        reset: Some(|one| one.timezone = None),
    },
    Field {
        name: "environment.locale",
        check: |one| locale(one.locale.as_deref()),
        reset: Some(|one| one.locale = None),
    },
    Field {
        name: "environment.browser",
        check: |one| one.browser.as_ref().map_or(Ok(()), browser),
        reset: Some(|one| one.browser = None),
    },
    Field { name: "environment.identity", check: identity, reset: Some(|one| one.identity = None) },
];

fn user_agent(agent: Option<&str>) -> Result<(), Invalid> {
    let allowed = |c: char| matches!(c, ' '..='~');
    text("environment.userAgent", "visible ASCII characters", agent, allowed)
}

fn timezone(zone: Option<&str>) -> Result<(), Invalid> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '_' | '-' | '+');
    text("environment.timezone", "a time zone such as Asia/Tokyo", zone, allowed)
}

fn locale(tag: Option<&str>) -> Result<(), Invalid> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '-';
    text("environment.locale", "a tag such as ja-JP", tag, allowed)
}

fn browser(name: &BrowserName) -> Result<(), Invalid> {
    if name.is_plain() {
        return Ok(());
    }
    let expected = "a product and a platform, in visible ASCII characters, 100 a text at most";
    invalid("environment.browser", expected, "others")
}

/// Whether its identity is that of one browser.
fn identity(environment: &Environment) -> Result<(), Invalid> {
    let Some(identity) = &environment.identity else { return Ok(()) };
    let (user_agent, locale) = (environment.user_agent.as_deref(), environment.locale.as_deref());
    let checked = identity.check(user_agent, locale);
    checked.or_else(|Contradiction { field, expected, found }| invalid(field, expected, found))
}

fn viewport(Viewport { width, height }: Viewport) -> Result<(), Invalid> {
    let sizes = 1..=16_384;
    if sizes.contains(&width) && sizes.contains(&height) {
        return Ok(());
    }
    let found = format!("{width}x{height}");
    invalid("environment.viewport", "1 to 16384 pixels wide and high", found)
}

fn geolocation(place: Geolocation) -> Result<(), Invalid> {
    let Geolocation { latitude, longitude, accuracy } = place;
    let on_earth = (-90.0..=90.0).contains(&latitude) && (-180.0..=180.0).contains(&longitude);
    if on_earth && accuracy.is_finite() && accuracy >= 0.0 {
        return Ok(());
    }
    let found = format!("{latitude},{longitude} within {accuracy} m");
    invalid("environment.geolocation", "a place on Earth and a radius", found)
}

fn egress(egress: &Egress) -> Result<(), Invalid> {
    const FIELD: &str = "environment.egress";
    // What the node knows of proxies is looked at when the browser starts.
    match EgressSpec::of(egress, &KnownProxies::default()) {
        Ok(_) | Err(BadEgress::LeftOut { .. }) => Ok(()),
        Err(BadEgress::Host(rule)) => invalid(
            FIELD,
            "hosts such as example.org, *.example.org, 10.0.0.0/8 or localhost, perhaps with a port",
            format!("{:?}", rule.found()),
        ),
        Err(BadEgress::TooMany(found)) => invalid(FIELD, "at most 200 hosts", found),
        Err(BadEgress::Proxy(NotProxyUrl::Credentials)) => invalid(
            FIELD,
            "a proxy without a user and a password, which other processes would see",
            "some in it",
        ),
        Err(BadEgress::Credentials(_)) => invalid(CREDENTIALS, WHO_COMES, "others"),
        Err(BadEgress::NoProxy) => {
            let expected = "credentials beside the address of a proxy";
            invalid(CREDENTIALS, expected, "no such address")
        }
        Err(BadEgress::Proxy(_) | BadEgress::Machine(_) | BadEgress::Login { .. }) => {
            let found = format!("{:?}", egress.proxy.as_deref().unwrap_or_default());
            invalid(
                FIELD,
                "a proxy such as http://HOST:PORT, https:// or socks5://, or system",
                found,
            )
        }
    }
}

fn permissions(permissions: &[Permission]) -> Result<(), Invalid> {
    let field = "environment.permissions";
    if permissions.len() > MAX_PERMISSIONS {
        return invalid(field, "at most 1000 permissions", permissions.len());
    }
    let expected = "known permissions of http or https origins";
    let wrong = permissions.iter().find_map(|one| Some((one, one.validate().err()?)));
    wrong.map_or(Ok(()), |(one, why)| {
        let name: String = one.place().chars().take(MAX_TEXT).collect();
        invalid(field, expected, format!("{name:?}: {why}"))
    })
}

/// What each of them is, was looked at when it was read.
fn certificates(certificates: &[Certificate]) -> Result<(), Invalid> {
    if certificates.len() > MAX_CERTIFICATES {
        let field = "environment.certificates";
        return invalid(field, "at most 20 certificates", certificates.len());
    }
    Ok(())
}

fn text(
    field: &'static str,
    expected: &'static str,
    value: Option<&str>,
    allowed: impl Fn(char) -> bool,
) -> Result<(), Invalid> {
    match value {
        Some(text)
            if text.is_empty() || text.chars().count() > MAX_TEXT || !text.chars().all(allowed) =>
        {
            invalid(field, expected, format!("{text:?}"))
        }
        _ => Ok(()),
    }
}

fn invalid<T, E: From<Invalid>>(
    field: &'static str,
    expected: &'static str,
    found: impl Display,
) -> Result<T, E> {
    Err(Invalid { field, expected, found: found.to_string() }.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_comes_to_a_proxy_is_left_out_by_nodes_and_by_nobody_who_asks() {
        let egress = |user: &str, password: &str| Environment {
            egress: Some(Egress {
                proxy: Some("http://proxy.example.org:3128".to_owned()),
                credentials: Some(ProxyCredentials {
                    user: user.to_owned(),
                    password: password.to_owned(),
                }),
                ..Egress::default()
            }),
            ..Environment::default()
        };
        environment(&egress("ada", "secret")).unwrap();
        for (user, password) in [("", ""), ("ada", ""), ("", "secret")] {
            let refused = environment(&egress(user, password)).unwrap_err().to_string();
            assert!(refused.contains(CREDENTIALS), "{refused}");
        }
        let mut given = egress("", "");
        environment_of_file(&mut given, &mut Receipt::default()).unwrap();
        assert_eq!(given, egress("", ""), "it waits for the settings of this node");
    }
}
