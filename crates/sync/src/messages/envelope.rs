//! The envelope: the two headers in which a signature stands.
//!
//! Other labels may stand beside ours, for a proxy may sign too. The headers must be written as the
//! standard writes them (RFC 9651, section 4.1): then no two texts mean the same signature.

use super::components::Components;
use super::parameters::Parameters;
use super::untrusted::{BadField, Untrusted};
use super::{SIGNATURE, SIGNATURE_INPUT};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use baton_session::{NodeSecret, NodeSignature};
use http::{HeaderMap, HeaderName, HeaderValue};
use jiff::Timestamp;
use sfv::{Dictionary, FieldType, ListEntry, Parser};

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
    now: Timestamp,
) -> Result<NodeSignature, BadField> {
    let text = Parameters::new(secret.key(), now).text(&components.names());
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
    /// Reads the signature of a message.
    pub(super) fn open(headers: &HeaderMap) -> Result<Self, Untrusted> {
        let inputs = dictionary(headers, &SIGNATURE_INPUT)?;
        let named = inputs.get_key_value(LABEL);
        let Some((label, entry @ ListEntry::InnerList(list))) = named else {
            return Err(Untrusted::Unsigned(SIGNATURE_INPUT.to_string()));
        };
        let parameters = Parameters::read(&list.params)?;
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
