//! The way out of a session's browser to the network: which hosts it reaches, and by which proxy.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The most hosts that a session lists.
pub const MAX_HOSTS: usize = 200;

/// What names the proxies of the machine, in the place of the address of one.
pub const SYSTEM: &str = "system";

/// A way out to the network: everything that a browser asks for goes through a proxy of its session, which
/// reaches what it may and nothing else. HTTP/3, WebTransport and WebRTC over UDP do not exist behind it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Egress {
    /// The hosts that it reaches, and no others: `example.org`, `*.example.org` (all below it), `10.0.0.0/8`,
    /// `localhost`, each perhaps with a port, `example.org:8443`. A private address is reached where it is
    /// listed itself, whatever name leads there. Empty: all hosts. At most 200.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<String>,
    /// The proxy through which it reaches them, without credentials: `http://proxy.example:3128`,
    /// `https://…` or `socks5://…`; `system` for what the machine of each node says, in `HTTP_PROXY`,
    /// `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxy: Option<String>,
    /// Who comes, if that proxy wants to know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credentials: Option<ProxyCredentials>,
}

impl Egress {
    /// The one that a client asks for by a list of hosts and a proxy; none when it names neither.
    pub fn asked(only: Vec<String>, proxy: Option<String>) -> Option<Self> {
        let is_asked = !only.is_empty() || proxy.is_some();
        is_asked.then_some(Self { only, proxy, ..Self::default() })
    }

    /// The same for a node that is given a part of a session: of the credentials it learns only that there are
    /// some, so that it does not go out as if the proxy wanted none.
    #[must_use]
    pub fn without_credentials(&self) -> Self {
        let credentials = self.credentials.as_ref().map(|_| ProxyCredentials::left_out());
        Self { only: self.only.clone(), proxy: self.proxy.clone(), credentials }
    }

    /// The same with the credentials that are known of its proxy, where they were left out of it.
    #[must_use]
    pub fn completed_by(self, known: Option<&Self>) -> Self {
        let were_left_out = self.credentials.as_ref().is_some_and(ProxyCredentials::are_left_out);
        let known = known.filter(|known| were_left_out && known.proxy == self.proxy);
        let credentials = known.and_then(|known| known.credentials.clone()).or(self.credentials);
        Self { only: self.only, proxy: self.proxy, credentials }
    }
}

/// What a proxy wants to know of who comes. It is a secret, as the value of a cookie is, and no output of the
/// type shows the password.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ProxyCredentials {
    /// The user: 1 to 255 bytes without a colon.
    pub user: String,
    /// The password: 1 to 255 bytes.
    pub password: String,
}

/// Why a text is no user with a password. What it says has nothing of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected USER:PASSWORD, each 1 to 255 bytes without control characters, found another text"
)]
pub struct NotCredentials;

impl ProxyCredentials {
    /// What stands for those that a node has not given: neither a user nor a password. An older node, too,
    /// starts no browser with them.
    fn left_out() -> Self {
        Self { user: String::new(), password: String::new() }
    }

    /// Whether it was not given any, and only that there are some.
    pub fn are_left_out(&self) -> bool {
        *self == Self::left_out()
    }

    /// Whether a proxy can be told them (RFC 7617, section 2; RFC 1929, section 2).
    pub fn validate(&self) -> Result<(), NotCredentials> {
        let fits =
            |text: &str| (1..=255).contains(&text.len()) && !text.chars().any(char::is_control);
        let is_one = fits(&self.user) && fits(&self.password) && !self.user.contains(':');
        is_one.then_some(()).ok_or(NotCredentials)
    }
}

impl FromStr for ProxyCredentials {
    type Err = NotCredentials;

    fn from_str(text: &str) -> Result<Self, NotCredentials> {
        let (user, password) = text.split_once(':').ok_or(NotCredentials)?;
        let credentials = Self { user: user.to_owned(), password: password.to_owned() };
        credentials.validate().map(|()| credentials)
    }
}

impl fmt::Debug for ProxyCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProxyCredentials").field("user", &self.user).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::{Egress, ProxyCredentials};

    fn through(proxy: &str, credentials: Option<&str>) -> Egress {
        let credentials = credentials.map(|text| text.parse().unwrap());
        Egress { proxy: Some(proxy.to_owned()), credentials, ..Egress::default() }
    }

    #[test]
    fn what_is_left_out_is_no_login_and_is_put_back_by_who_has_it() {
        let (one, other) = ("http://one.example", "http://other.example");
        let whole = through(one, Some("al:s3cret"));
        let given = whole.without_credentials();
        assert_eq!((&given.only, &given.proxy), (&whole.only, &whole.proxy));
        let left = given.credentials.clone().unwrap();
        assert!(left.are_left_out() && left.validate().is_err());
        assert_eq!(given.without_credentials(), given);
        let open = through(one, None);
        assert_eq!(open.without_credentials(), open, "nothing stands for nothing");

        assert_eq!(given.clone().completed_by(Some(&whole)), whole);
        for known in [None, Some(&given), Some(&open), Some(&through(other, Some("bo:another")))] {
            assert_eq!(given.clone().completed_by(known), given, "{known:?}");
        }
        let own = through(one, Some("al:new"));
        assert_eq!(own.clone().completed_by(Some(&whole)), own);
        assert_eq!(open.clone().completed_by(Some(&whole)), open);
        assert!(!ProxyCredentials { user: "al".into(), password: String::new() }.are_left_out());
    }
}
