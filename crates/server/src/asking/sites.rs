//! The sites that a guest sees: domains with all that is below them, and what is at one of them.

use baton_api::Invalid;
use baton_browser::screen::TabAddress;
use baton_session::storage::Site;
use baton_session::view::Domain;

/// How many may be named.
const MOST: usize = 10;

/// Some sites, at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sites(Vec<Domain>);

impl Sites {
    /// Those that were named; none where none was.
    pub(crate) fn named(names: &[String]) -> Result<Option<Self>, Invalid> {
        let field = "sites";
        if names.len() > MOST {
            let found = format!("{} of them", names.len());
            return Err(Invalid { field, expected: "at most 10 sites", found });
        }
        let domain = |name: &String| {
            name.parse().map_err(|_| {
                let expected = "domains such as bank.example, without a scheme, port or path";
                let found = format!("{:?}", name.chars().take(100).collect::<String>());
                Invalid { field, expected, found }
            })
        };
        let domains = names.iter().map(domain).collect::<Result<Vec<_>, _>>()?;
        Ok((!domains.is_empty()).then_some(Self(domains)))
    }

    /// The site of what is at this address; none where it belongs to no site.
    pub(crate) fn at(address: &TabAddress) -> Option<Self> {
        let domain = Site::of_host(address.host()?).as_str().parse().ok()?;
        Some(Self(vec![domain]))
    }

    /// Whether all of these addresses are at one of them.
    pub(crate) fn have<'a>(&self, addresses: impl IntoIterator<Item = &'a TabAddress>) -> bool {
        let has = |host: &str| self.0.iter().any(|domain| domain.has(host));
        addresses.into_iter().all(|address| address.host().is_some_and(has))
    }

    /// Their names.
    pub(crate) fn names(&self) -> Vec<String> {
        self.0.iter().map(Domain::to_string).collect()
    }
}

/// What people call the place of an address: its host, or else that it is no site.
fn place_of(address: &TabAddress) -> String {
    let nameless = if address.shown().is_empty() {
        "a page whose address is not known yet"
    } else {
        "a page that belongs to no site"
    };
    address.host().unwrap_or(nameless).to_owned()
}

impl Sites {
    /// Where a tab is that is elsewhere, for people; none while it is at one of them.
    ///
    /// While a page moves to another process, the browser says an empty address for a moment: that counts as
    /// elsewhere, and is named only where nothing else is known.
    pub(crate) fn away(&self, addresses: [&TabAddress; 2]) -> Option<String> {
        let elsewhere = || addresses.into_iter().filter(|address| !self.have([*address]));
        let named = elsewhere().find(|address| address.host().is_some());
        named.or_else(|| elsewhere().next()).map(place_of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_has_what_is_below_it_and_nothing_beside_it() {
        let named = |names: &[&str]| {
            Sites::named(&names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>())
        };
        let bank = named(&["bank.example"]).unwrap().unwrap();
        let has = |address: &str| bank.have([&TabAddress::of(address)]);
        let away = |both: [&str; 2]| {
            let [one, other] = both.map(TabAddress::of);
            bank.away([&one, &other])
        };
        assert!(has("https://bank.example/") && has("http://login.bank.example:8443/x"));
        // What was cut of it would be at the bank.
        let long = format!("https://bank.example:{}@mail.example/", "0".repeat(2100));
        for other in [
            "https://notbank.example/",
            "https://bank.example.evil.test/",
            "https://evil.test/?bank.example",
            "https://bank.example@evil.test/",
            "about:blank",
            "data:text/html,bank.example",
            "file://bank.example/etc/passwd",
            "chrome-error://bank.example/",
            &long,
            "",
        ] {
            assert!(!has(other), "{other}");
        }
        assert_eq!(away([long.as_str(), &long]).as_deref(), Some("mail.example"));
        // What only one of both says does not count.
        assert_eq!(
            away(["https://bank.example/", "https://evil.test/"]).as_deref(),
            Some("evil.test")
        );
        assert_eq!(away(["https://bank.example/", "https://bank.example/2"]), None);
        // What is known is named, and what is not yet known is not where they may be.
        for (addresses, place) in [
            (["", "https://evil.test/"], "evil.test"),
            (["about:blank", "https://evil.test/"], "evil.test"),
            (["", "https://bank.example/"], "a page whose address is not known yet"),
            (["about:blank", "about:blank"], "a page that belongs to no site"),
        ] {
            assert_eq!(away(addresses).as_deref(), Some(place), "{addresses:?}");
        }
        let at = |address| Sites::at(&TabAddress::of(address));
        assert_eq!(at("https://login.bank.example/in").unwrap().names(), ["bank.example"]);
        assert_eq!(at("about:blank"), None);
        assert!(named(&[]).unwrap().is_none());
        for bad in ["https://bank.example", "bank.example/x", "", "*", "a b"] {
            assert!(named(&[bad]).is_err(), "{bad}");
        }
    }
}
