//! A look at a document from outside: whether it is one of Baton's own, without reading what is in it.

use super::form::Form;
use crate::wire;
use serde::Deserialize;
use serde::de::IgnoredAny;

/// As much of a document as tells.
#[derive(Deserialize)]
struct Document {
    redacted: Option<bool>,
    state: Option<Inside>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Inside {
    cookies: Option<IgnoredAny>,
    environment: Option<IgnoredAny>,
    origins: Option<Vec<Origin>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Origin {
    storage_key: Option<IgnoredAny>,
}

/// What a text surely is; nothing when that takes a closer look.
pub(super) fn probe(text: &str) -> Option<Form> {
    if !wire::is_session_file(text.as_bytes()) {
        return None;
    }
    if is_answer(text) {
        return Some(Form::Answer);
    }
    // One of many members that stand twice, or one of another kind: the closer look.
    let Document { redacted, state } = serde_json::from_str(text).ok()?;
    let state = state.filter(|_| redacted.is_none())?;
    let is_own = |origin: &Origin| origin.storage_key.is_some();
    let is_whole = state.environment.is_some() && state.cookies.is_some();
    let has_own = state.origins.is_some_and(|origins| origins.iter().any(is_own));
    (is_whole || has_own).then_some(Form::SessionFile)
}

fn is_answer(text: &str) -> bool {
    #[derive(Deserialize)]
    struct Answer {
        #[serde(rename = "redacted")]
        _redacted: bool,
        #[serde(rename = "state")]
        _state: IgnoredAny,
    }
    serde_json::from_str::<Answer>(text).is_ok()
}
