//! Covered components: the parts of a message that its signature covers, each with its value, in the
//! order in which they are signed.

use super::untrusted::BadField;
use http::header::HOST;
use http::uri::Authority;
use http::{HeaderMap, HeaderName, Uri};

/// A list of components with their values.
#[derive(Debug, Default)]
pub(super) struct Components(Vec<(String, String)>);

impl Components {
    /// One that is not a header, such as `@method`.
    pub(super) fn derived(mut self, name: &str, value: impl Into<String>) -> Self {
        self.0.push((format!("\"{name}\""), value.into()));
        self
    }

    /// The signature of the request that an answer belongs to, as the label names it there.
    pub(super) fn signature_of_request(mut self, label: &str, value: String) -> Self {
        self.0.push((format!("\"signature\";req;key=\"{label}\""), value));
        self
    }

    /// A header that must be there.
    pub(super) fn header(
        mut self,
        headers: &HeaderMap,
        name: &HeaderName,
    ) -> Result<Self, BadField> {
        let value = single(headers, name)?.ok_or_else(|| BadField::missing(name))?;
        self.0.push((format!("\"{name}\""), value.to_owned()));
        Ok(self)
    }

    /// Those of these headers that are there.
    pub(super) fn headers_if_present(
        mut self,
        headers: &HeaderMap,
        names: &[HeaderName],
    ) -> Result<Self, BadField> {
        for name in names {
            if let Some(value) = single(headers, name)? {
                self.0.push((format!("\"{name}\""), value.to_owned()));
            }
        }
        Ok(self)
    }

    /// The names, as they stand in `Signature-Input`.
    pub(super) fn names(&self) -> String {
        let names: Vec<&str> = self.0.iter().map(|(name, _)| name.as_str()).collect();
        format!("({})", names.join(" "))
    }

    /// The signature base (RFC 9421, section 2.5): the text that is signed. `parameters` begin with
    /// the names.
    pub(super) fn base(&self, parameters: &str) -> String {
        let lines = self.0.iter().map(|(name, value)| format!("{name}: {value}\n"));
        lines.chain([format!("\"@signature-params\": {parameters}")]).collect()
    }
}

/// The value of a header that may stand in a message once.
pub(super) fn single<'a>(
    headers: &'a HeaderMap,
    name: &HeaderName,
) -> Result<Option<&'a str>, BadField> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(BadField::repeated(name));
    }
    value.to_str().map(|value| Some(value.trim())).map_err(|_| BadField::unreadable(name))
}

/// Whom a request is for: what its `Host` says, else its address. In lower case, and without the
/// port that its scheme has anyway: behind a proxy nobody knows the scheme, so both are left out.
pub(super) fn authority(uri: &Uri, headers: &HeaderMap) -> Result<String, BadField> {
    let named = single(headers, &HOST)?.or_else(|| uri.authority().map(Authority::as_str));
    let named = named.filter(|host| !host.is_empty()).ok_or_else(|| BadField::missing(&HOST))?;
    let named = named.to_ascii_lowercase();
    let bare = named.strip_suffix(":443").or_else(|| named.strip_suffix(":80"));
    Ok(bare.unwrap_or(&named).to_owned())
}

/// The query with its question mark, which stands alone when there is none.
pub(super) fn query(uri: &Uri) -> String {
    format!("?{}", uri.query().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::{Components, authority};
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use baton_session::NodeSecret;
    use http::HeaderMap;

    /// RFC 9421, appendix B.2.6: what others sign with Ed25519, we sign alike.
    #[test]
    fn the_base_is_that_of_the_standard() {
        let headers = [
            ("date", "Tue, 20 Apr 2021 02:07:55 GMT"),
            ("content-type", "application/json"),
            ("content-length", "18"),
        ];
        let headers: HeaderMap =
            headers.iter().map(|(n, v)| (n.parse().unwrap(), v.parse().unwrap())).collect();
        let name = |name: &str| name.parse().unwrap();
        let components = Components::default().header(&headers, &name("date")).unwrap();
        let components = components
            .derived("@method", "POST")
            .derived("@path", "/foo")
            .derived("@authority", "example.com")
            .headers_if_present(&headers, &["content-type", "etag", "content-length"].map(name))
            .unwrap();
        let parameters =
            format!("{};created=1618884473;keyid=\"test-key-ed25519\"", components.names());
        let base = components.base(&parameters);
        insta::assert_snapshot!(base, @r#"
        "date": Tue, 20 Apr 2021 02:07:55 GMT
        "@method": POST
        "@path": /foo
        "@authority": example.com
        "content-type": application/json
        "content-length": 18
        "@signature-params": ("date" "@method" "@path" "@authority" "content-type" "content-length");created=1618884473;keyid="test-key-ed25519"
        "#);
        let seed = STANDARD.decode("n4Ni+HpISpVObnQMW0wOhCKROaIKqKtW/2ZYb2p9KcU=").unwrap();
        let secret = NodeSecret::from_seed(&seed.try_into().unwrap());
        let signature = STANDARD.encode(secret.sign(base.as_bytes()).as_bytes());
        let expected = "wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQ\
                        v5lIp5WPpBKRCw==";
        assert_eq!(signature, expected);
    }

    #[test]
    fn the_host_counts_before_the_address_and_without_the_port_of_its_scheme() {
        let of = |uri: &str, host: Option<&str>| {
            let mut headers = HeaderMap::new();
            headers.extend(host.map(|host| (http::header::HOST, host.parse().unwrap())));
            authority(&uri.parse().unwrap(), &headers).map_err(|error| error.to_string())
        };
        assert_eq!(of("/sync", Some("Baton.Example.org")).unwrap(), "baton.example.org");
        assert_eq!(of("https://a.test:443/", None).unwrap(), "a.test");
        assert_eq!(of("https://a.test/", Some("b.test:7420")).unwrap(), "b.test:7420");
        assert_eq!(of("http://[::1]:80/", None).unwrap(), "[::1]");
        assert!(of("/sync", None).unwrap_err().contains("host"));
        assert!(of("/sync", Some("")).unwrap_err().contains("host"));
    }
}
