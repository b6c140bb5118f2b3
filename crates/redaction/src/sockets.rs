//! Messages of sockets whose places say what is a secret: WAMP's answer to a challenge, Guacamole's
//! instructions.

use crate::HIDDEN;
use crate::names::Weight;
use crate::work::Work;
use std::fmt::Write;

/// The message without its secrets; `None` when it is of no such protocol.
pub(crate) fn redact(work: &mut Work<'_>, message: &str) -> Option<String> {
    match message.as_bytes().first()? {
        b'[' => answer(work, message),
        b'0'..=b'9' => instructions(work, message),
        _ => None,
    }
}

/// `[5, "signature", {}]`: AUTHENTICATE, number 5 of WAMP's messages.
fn answer(work: &mut Work<'_>, message: &str) -> Option<String> {
    let rest = message.strip_prefix("[5,")?.trim_start().strip_prefix('"')?;
    let (signature, behind) = rest.split_once('"')?;
    let start = message.len() - rest.len();
    let is_last = behind.trim_start().strip_prefix(',')?.trim_start().starts_with('{')
        && behind.trim_end().ends_with("}]");
    let hides = is_last && work.hides(Weight::Telling, signature);
    hides.then(|| format!("{}{HIDDEN}\"{behind}", &message[..start]))
}

/// `4.args,8.password;7.connect,1.x;`: each element behind its length; the arguments of `connect` are those
/// that `args` names.
fn instructions(work: &mut Work<'_>, message: &str) -> Option<String> {
    let mut out = String::with_capacity(message.len());
    let (mut rest, mut verb, mut names) = (message.trim_end(), "", Vec::new());
    // The number of the argument that comes; none before a verb.
    let mut argument: Option<usize> = None;
    while !rest.is_empty() {
        let (element, end, behind) = element(rest)?;
        rest = behind;
        let mut weight = Weight::Plain;
        match (argument, verb) {
            (None, _) => verb = element,
            (Some(0), "args") => names = vec![work.weigh(element)],
            (Some(_), "args") => names.push(work.weigh(element)),
            (Some(at), "connect") => weight = names.get(at).copied().unwrap_or(Weight::Telling),
            _ => {}
        }
        let hides = weight > Weight::Plain && work.hides(weight, element);
        let shown = if hides { HIDDEN.into() } else { work.value(element) };
        let _ = write!(out, "{}.{shown}{end}", shown.chars().count());
        argument = (end == ',').then(|| argument.map_or(0, |at| at + 1));
    }
    Some(out)
}

/// The next element, what ends it, and what stands behind.
fn element(text: &str) -> Option<(&str, char, &str)> {
    let (length, rest) = text.split_at_checked(text.find('.')?)?;
    let length: usize = length.parse().ok()?;
    let rest = &rest[1..];
    let end = rest.char_indices().nth(length)?.0;
    let mark = rest[end..].chars().next().filter(|c| matches!(c, ',' | ';'))?;
    Some((&rest[..end], mark, &rest[end + 1..]))
}
