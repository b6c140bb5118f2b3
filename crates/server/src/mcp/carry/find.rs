//! Finds a session at peers by what a model says: an id, a name, or the beginning of an id.

use crate::mcp::answer::Failure;
use baton_session::{SessionId, SessionName};
use std::collections::BTreeMap;

/// The shortest beginning of an id that finds a session.
const SHORTEST: usize = 4;

/// The one session among these that `reference` names. An id goes before a name, and a name before the
/// beginning of an id.
pub(super) fn session(
    known: impl Iterator<Item = (SessionId, SessionName)>,
    reference: &str,
) -> Result<(SessionId, SessionName), Failure> {
    let known: BTreeMap<SessionId, SessionName> = known.collect();
    let whole = reference.parse().ok().filter(|id| known.contains_key(id));
    let mut found: Vec<SessionId> = match whole {
        Some(id) => vec![id],
        None => fitting(&known, |_, name| name == reference),
    };
    if found.is_empty() && reference.len() >= SHORTEST {
        found = fitting(&known, |id, _| id.starts_with(reference));
    }
    match found.as_slice() {
        [only] => known.get_key_value(only).map(|(id, name)| (*id, name.clone())),
        _ => None,
    }
    .ok_or_else(|| Failure::AtPeers { found: told(&found) })
}

fn fitting(
    known: &BTreeMap<SessionId, SessionName>,
    fits: impl Fn(&str, &str) -> bool,
) -> Vec<SessionId> {
    let fits = |(id, name): &(&SessionId, &SessionName)| fits(&id.to_string(), name.as_str());
    known.iter().filter(fits).map(|(id, _)| *id).collect()
}

fn told(found: &[SessionId]) -> String {
    match found {
        [] => "none".to_owned(),
        several => several.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::session;
    use crate::mcp::answer::Failure;
    use baton_session::{SessionId, SessionName};

    const A: &str = "0197c0de-0000-7000-8000-00000000000a";
    const B: &str = "0197c0de-0000-7000-8000-00000000000b";
    const C: &str = "0198aaaa-0000-7000-8000-00000000000c";

    fn find(reference: &str) -> String {
        let known = [(A, "shop"), (B, "shop"), (C, "mail"), (C, "mail")];
        let known = known.map(|(id, name)| {
            (id.parse::<SessionId>().unwrap(), name.parse::<SessionName>().unwrap())
        });
        match session(known.into_iter(), reference) {
            Ok((id, _)) => id.to_string(),
            Err(Failure::AtPeers { found }) => format!("found {found}"),
            Err(_) => "another failure".to_owned(),
        }
    }

    #[test]
    fn a_session_is_found_by_id_name_or_beginning() {
        assert_eq!(find("mail"), C);
        assert_eq!(find("0198"), C);
        assert_eq!(find(B), B);
    }

    #[test]
    fn what_names_none_or_several_says_which() {
        assert_eq!(find("nope"), "found none");
        assert_eq!(find("019"), "found none");
        assert_eq!(find("shop"), format!("found {A}, {B}"));
        assert_eq!(find("0197c0de"), format!("found {A}, {B}"));
    }
}
