//! Where a tab is, by an address that the browser says.
//!
//! The one idea: whose page it is, is read from the whole address, once, when it is heard. What people are shown of it
//! is cut, and nothing is judged by that: what a part of an address leads to is another place.

use super::texts::tidy;
use url::Url;

/// How long the address is that people are shown, in characters.
const SHOWN: usize = 2000;

/// An address of a tab.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TabAddress {
    shown: String,
    host: Option<String>,
}

impl TabAddress {
    /// Reads an address, all of which is given.
    pub fn of(whole: &str) -> Self {
        // An address of another scheme can be a whole document, which need not be looked through.
        let is_web = whole.get(..4).is_some_and(|scheme| scheme.eq_ignore_ascii_case("http"));
        let url = if is_web { Url::parse(whole).ok() } else { None };
        let url = url.filter(|url| matches!(url.scheme(), "http" | "https"));
        let host = url.as_ref().and_then(Url::host_str).map(str::to_owned);
        let plain = url.filter(names_a_user).and_then(without_user);
        let shown = tidy(plain.as_ref().map_or(whole, Url::as_str), SHOWN);
        Self { shown, host }
    }

    /// The address for people: without control characters, without a name and a password before its host, and cut to
    /// a length.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// The host of a page of the web; none of anything else, and of what cannot be read.
    pub fn host(&self) -> Option<&str> {
        self.host.as_deref()
    }

    /// Whether a title is nothing but an address there, with or without its scheme. So a browser calls a page without
    /// a title, as people read it: a title that has it otherwise than the address, or not to its end, is one, too.
    pub fn is_title(&self, title: &str) -> bool {
        let plain =
            ["https://", "http://"].into_iter().find_map(|scheme| title.strip_prefix(scheme));
        let named = Url::parse(&format!("http://{}", plain.unwrap_or(title))).ok();
        self.host.is_some() && named.as_ref().and_then(Url::host_str) == self.host()
    }
}

fn names_a_user(url: &Url) -> bool {
    !url.username().is_empty() || url.password().is_some()
}

/// The address without what is before its host, which looks as if it led there.
fn without_user(mut url: Url) -> Option<Url> {
    url.set_username("").ok()?;
    url.set_password(None).ok()?;
    Some(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whose_an_address_is_the_whole_of_it_says() {
        for (address, host) in [
            ("https://bank.test/in?a=b#c", Some("bank.test")),
            ("HTTP://Bank.test:8080/", Some("bank.test")),
            ("https://bank.test@evil.test/", Some("evil.test")),
            ("https://bank.test:0000@evil.test/", Some("evil.test")),
            ("https://bank.test:99999/", None),
            ("httpx://bank.test/", None),
            ("about:blank", None),
            ("data:text/html,https://bank.test/", None),
            ("blob:https://bank.test/1", None),
            ("", None),
        ] {
            assert_eq!(TabAddress::of(address).host(), host, "{address}");
        }
        let long = format!("https://bank.test:{}@evil.test/in", "0".repeat(2100));
        let address = TabAddress::of(&long);
        assert_eq!((address.host(), address.shown()), (Some("evil.test"), "https://evil.test/in"));
        // A part of it would have been of the bank.
        assert_eq!(TabAddress::of(&long[..2000]).host(), Some("bank.test"));
    }

    #[test]
    fn a_title_that_is_the_address_is_known() {
        let address = TabAddress::of("https://bank.test:8443/in/%C3%A4 b?token=secret#c");
        for title in [
            "https://bank.test:8443/in/ä b?token=secret#c",
            "bank.test:8443/in/ä b?token=secret",
            "bank.test/in",
            "bank.test:8443",
            "bank.test",
            "Bank.test?token",
        ] {
            assert!(address.is_title(title), "{title}");
        }
        for title in [
            "The bank",
            "bank.test - sign in",
            "bank.test: sign in",
            "evil.test/bank.test",
            "in",
            "",
        ] {
            assert!(!address.is_title(title), "{title}");
        }
        // As people read a name that is written in other letters.
        assert!(TabAddress::of("https://xn--bcher-kva.test/x").is_title("https://bücher.test/x"));
        assert!(!TabAddress::of("about:blank").is_title("about:blank"));
    }

    #[test]
    fn an_address_is_shown_as_it_is_as_far_as_people_read() {
        let long = format!("https://bank.test/{}", "x".repeat(3000));
        assert_eq!(TabAddress::of(&long).shown(), &long[..SHOWN]);
        assert_eq!(TabAddress::of("about:blank").shown(), "about:blank");
        assert_eq!(TabAddress::of("data:,a\u{202e}b\n").shown(), "data:,ab");
    }
}
