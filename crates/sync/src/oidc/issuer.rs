//! An issuer: the name of a provider, which is also the address where it says who it is.
//!
//! The one idea: the name counts letter by letter. What stands in a token, in the settings and in what
//! the provider says of itself must be the same text, so it is kept as it was written.

use baton_net::client::is_loopback;
use baton_net::outbound::Reach;
use std::fmt;
use std::str::FromStr;
use url::Url;

/// The longest name, in bytes.
const LONGEST: usize = 1024;

/// The name of a provider.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Issuer {
    text: String,
    url: Url,
}

/// A text that names no provider. What was found may hold a password, and is not repeated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected the address of a provider such as https://login.microsoftonline.com/TENANT/v2.0")]
pub struct InvalidIssuer;

impl Issuer {
    /// Entra ID, as it names itself in the tokens of a tenant.
    pub fn entra(tenant: &str) -> Result<Self, InvalidIssuer> {
        let is_tenant = |c: char| c.is_ascii_alphanumeric() || "-.".contains(c);
        if tenant.is_empty() || !tenant.chars().all(is_tenant) {
            return Err(InvalidIssuer);
        }
        format!("https://login.microsoftonline.com/{tenant}/v2.0").parse()
    }

    /// As it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// What may be asked on its behalf: a provider on this machine may name what else is there.
    pub(super) fn reach(&self) -> Reach {
        Reach { loopback: is_loopback(&self.url) }
    }

    /// Where it says who it is.
    pub(super) fn document(&self) -> Url {
        let mut url = self.url.clone();
        // What may be no base was refused when it was read.
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend([".well-known", "openid-configuration"]);
        }
        url
    }
}

impl FromStr for Issuer {
    type Err = InvalidIssuer;

    fn from_str(text: &str) -> Result<Self, InvalidIssuer> {
        let url = Url::parse(text).map_err(|_| InvalidIssuer)?;
        let is_plain = matches!(url.scheme(), "http" | "https")
            && url.username().is_empty()
            && url.password().is_none()
            && url.query().is_none()
            && url.fragment().is_none();
        if is_plain && text.len() <= LONGEST && !text.contains(char::is_whitespace) {
            Ok(Self { text: text.to_owned(), url })
        } else {
            Err(InvalidIssuer)
        }
    }
}

impl fmt::Display for Issuer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::Issuer;

    #[test]
    fn a_name_is_kept_as_it_is_and_leads_to_the_document() {
        for (name, document) in [
            ("https://id.test", "https://id.test/.well-known/openid-configuration"),
            ("https://id.test/", "https://id.test/.well-known/openid-configuration"),
            ("https://id.test/a/v2.0", "https://id.test/a/v2.0/.well-known/openid-configuration"),
            ("https://id.test/a/", "https://id.test/a/.well-known/openid-configuration"),
        ] {
            let issuer: Issuer = name.parse().unwrap();
            assert_eq!((issuer.as_str(), issuer.document().as_str()), (name, document));
        }
    }

    #[test]
    fn what_is_no_address_of_a_provider_is_refused() {
        for text in ["", "id.test", "ftp://id.test", "https://a:b@id.test", "https://id.test?a=b"] {
            assert!(text.parse::<Issuer>().is_err(), "{text}");
        }
        for tenant in ["", "a/b", "a?b", "../x", "common x"] {
            assert!(Issuer::entra(tenant).is_err(), "{tenant}");
        }
        let tenant = "11111111-2222-3333-4444-555555555555";
        assert!(Issuer::entra(tenant).unwrap().as_str().ends_with(&format!("/{tenant}/v2.0")));
    }
}
