//! How a message carries a signature: the components that it covers, who signed them and when, and the two
//! headers that say both.
//!
//! The one idea: no two texts mean the same signature. So the headers must be written as the standard
//! writes them (RFC 9651, section 4.1). Other labels may stand beside ours, for a proxy may sign too.

use super::{BadField, SIGNATURE, SIGNATURE_INPUT, Untrusted};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use baton_session::{NodeKey, NodeSecret, NodeSignature};
use http::header::HOST;
use http::uri::Authority;
use http::{HeaderMap, HeaderName, HeaderValue, Uri};
use jiff::Timestamp;
use sfv::{Dictionary, FieldType, Integer, ListEntry, Parameters as Fields, Parser};
use sha2::{Digest, Sha256};

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

/// Whom a request is for: what its `Host` says, else its address. In lower case, and without the port that
/// its scheme has anyway: behind a proxy the scheme is not known, so both are left out.
pub(super) fn authority(uri: &Uri, headers: &HeaderMap) -> Result<String, BadField> {
    let named = single(headers, &HOST)?.or_else(|| uri.authority().map(Authority::as_str));
    let named = named.filter(|host| !host.is_empty()).ok_or_else(|| BadField::missing(&HOST))?;
    let named = named.to_ascii_lowercase();
    let bare = named.strip_suffix(":443").or_else(|| named.strip_suffix(":80"));
    Ok(bare.unwrap_or(&named).to_owned())
}

/// The query with its question mark, which is alone when there is none.
pub(super) fn query(uri: &Uri) -> String {
    format!("?{}", uri.query().unwrap_or_default())
}

/// What `Content-Digest` says of `body`.
pub(super) fn content_digest(body: &[u8]) -> String {
    digest_text(Sha256::digest(body))
}

/// The same of a body of which this is the SHA-256.
pub(super) fn digest_text(hash: impl AsRef<[u8]>) -> String {
    format!("sha-256=:{}:", STANDARD.encode(hash))
}

/// What messages are signed for. A signature for the one is none for the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Purpose {
    /// Stands in the signature.
    pub(super) tag: &'static str,
    /// How long a signature is good, in seconds; and so how far two clocks may be apart.
    pub(super) lifetime: i64,
}

/// The label of a signature of ours.
pub(super) const LABEL: &str = "baton";
/// The longest header of a signature, in bytes.
const HEADER_MAX: usize = 4096;

/// A signature as it was received.
#[derive(Debug)]
pub(super) struct Envelope {
    /// The whole text of our label in `Signature-Input`.
    input: String,
    pub(super) parameters: Parameters,
    pub(super) signature: NodeSignature,
}

/// Signs `components`, and puts the signature into `headers` in the place of what was there.
pub(super) fn seal(
    secret: &NodeSecret,
    components: &Components,
    headers: &mut HeaderMap,
    purpose: Purpose,
    now: Timestamp,
) -> Result<NodeSignature, BadField> {
    let text = Parameters::new(secret.key(), purpose, now).text(&components.names());
    let signature = secret.sign(components.base(&text).as_bytes());
    insert(headers, SIGNATURE_INPUT, format!("{LABEL}={text}"))?;
    insert(headers, SIGNATURE, format!("{LABEL}={}", encoded(&signature)))?;
    Ok(signature)
}

/// A signature as a value of a structured field.
pub(super) fn encoded(signature: &NodeSignature) -> String {
    format!(":{}:", STANDARD.encode(signature.as_bytes()))
}

/// Puts a header in the place of what was there.
pub(super) fn insert(
    headers: &mut HeaderMap,
    name: HeaderName,
    text: String,
) -> Result<(), BadField> {
    let value = HeaderValue::try_from(text).map_err(|_| BadField::unreadable(&name))?;
    headers.insert(name, value);
    Ok(())
}

impl Envelope {
    /// Reads the signature of a message that is to be for this purpose.
    pub(super) fn open(headers: &HeaderMap, purpose: Purpose) -> Result<Self, Untrusted> {
        let inputs = dictionary(headers, &SIGNATURE_INPUT)?;
        let named = inputs.get_key_value(LABEL);
        let Some((label, entry @ ListEntry::InnerList(list))) = named else {
            return Err(Untrusted::Unsigned(SIGNATURE_INPUT.to_string()));
        };
        let parameters = Parameters::read(&list.params, purpose)?;
        let mut input = sfv::DictSerializer::new();
        input.members([(label, entry)]);
        let input = input.finish().unwrap_or_default();
        let signatures = dictionary(headers, &SIGNATURE)?;
        let Some(ListEntry::Item(item)) = signatures.get(LABEL) else {
            return Err(Untrusted::Unsigned(SIGNATURE.to_string()));
        };
        let bytes = item.bare_item.as_byte_sequence().and_then(|bytes| bytes.try_into().ok());
        let bytes = bytes.filter(|_| item.params.is_empty());
        let bytes = bytes.ok_or_else(|| BadField::unreadable(&SIGNATURE))?;
        Ok(Self { input, parameters, signature: NodeSignature::from_bytes(bytes) })
    }

    /// Checks that exactly `components` are covered, and that the signature is good.
    pub(super) fn verify(&self, components: &Components) -> Result<(), Untrusted> {
        let text = self.parameters.text(&components.names());
        let expected = format!("{LABEL}={text}");
        if self.input != expected {
            return Err(Untrusted::OtherForm { expected, found: self.input.clone() });
        }
        let key = self.parameters.key;
        Ok(key.verify(components.base(&text).as_bytes(), &self.signature)?)
    }
}

/// A header that is a dictionary, which may come in several lines.
fn dictionary(headers: &HeaderMap, name: &HeaderName) -> Result<Dictionary, Untrusted> {
    let lines = headers.get_all(name).iter().map(|line| line.to_str().map(str::trim));
    let lines: Result<Vec<&str>, _> = lines.collect();
    let text = lines.map_err(|_| BadField::unreadable(name))?.join(", ");
    if text.is_empty() {
        return Err(Untrusted::Unsigned(name.to_string()));
    }
    if text.len() > HEADER_MAX {
        return Err(BadField::unreadable(name).into());
    }
    let read = Parser::new(&text).parse::<Dictionary>().ok();
    let read = read.filter(|read| read.serialize().as_deref() == Some(text.as_str()));
    Ok(read.ok_or_else(|| BadField::unreadable(name))?)
}

/// 16 random bytes that a sender uses once.
pub(super) type Nonce = [u8; 16];

/// The parameters of a signature. What all of them have alike is not kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Parameters {
    /// What for.
    purpose: Purpose,
    /// When it was made, in seconds.
    created: i64,
    /// 16 bytes that no other signature has.
    pub(super) nonce: Nonce,
    /// Who made it.
    pub(super) key: NodeKey,
}

impl Parameters {
    /// Those of a signature that is made now.
    pub(super) fn new(key: NodeKey, purpose: Purpose, now: Timestamp) -> Self {
        Self { purpose, created: now.as_second(), nonce: rand::random(), key }
    }

    /// What a header says, as far as it can be read. Whether it says nothing else is seen when it is
    /// compared with [`text`](Self::text).
    pub(super) fn read(fields: &Fields, purpose: Purpose) -> Result<Self, BadField> {
        let read = || {
            let created = fields.get("created")?.as_integer().map(i64::from)?;
            let nonce = URL_SAFE_NO_PAD.decode(fields.get("nonce")?.as_string()?.as_str()).ok()?;
            let key = fields.get("keyid")?.as_string()?.as_str().parse().ok()?;
            let fits = (0..=i64::from(Integer::MAX) - purpose.lifetime).contains(&created);
            fits.then_some(Self { purpose, created, nonce: nonce.try_into().ok()?, key })
        };
        read().ok_or_else(|| BadField::unreadable(&SIGNATURE_INPUT))
    }

    /// The parameters in text, behind the names of what is covered.
    pub(super) fn text(&self, names: &str) -> String {
        format!(
            "{names};created={};expires={};nonce=\"{}\";keyid=\"{}\";alg=\"ed25519\";tag=\"{}\"",
            self.created,
            self.expires(),
            URL_SAFE_NO_PAD.encode(self.nonce),
            self.key,
            self.purpose.tag,
        )
    }

    /// The last second in which it is good.
    pub(super) fn expires(&self) -> i64 {
        self.created + self.purpose.lifetime
    }

    /// Refuses what is older than its life, or comes from a future as far away.
    pub(super) fn check_time(&self, now: Timestamp) -> Result<(), Untrusted> {
        let created = Timestamp::from_second(self.created).unwrap_or(Timestamp::MAX);
        let (second, limit) = (now.as_second(), self.purpose.lifetime);
        if second > self.expires() {
            Err(Untrusted::Expired { limit, created, now })
        } else if self.created > second.saturating_add(limit) {
            Err(Untrusted::FromTheFuture { limit, created, now })
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Components, authority, content_digest};
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

    #[test]
    fn the_digest_is_that_of_the_standard() {
        // RFC 9530, appendix B.1.
        let digest = content_digest(b"{\"hello\": \"world\"}\n");
        assert_eq!(digest, "sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:");
        let empty = content_digest(b"");
        assert_eq!(empty, "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:");
    }
}
