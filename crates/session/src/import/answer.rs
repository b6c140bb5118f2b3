//! What a node answers when it is asked for the state of a session: the state as it is, by its own names.

use super::Imported;
use super::error::ImportError;
use super::form::Form;
use crate::receipt::Receipt;
use crate::state::State;
use crate::wire::{self, Head};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct Answer {
    redacted: bool,
    state: Value,
}

/// Reads such an answer. One whose secrets are hidden holds nothing that could be used.
pub(super) fn read(text: &str) -> Result<Imported, ImportError> {
    let other = |error| ImportError::Answer(wire::ReadError::from(error));
    let Answer { redacted, state } = serde_json::from_str(text).map_err(other)?;
    if redacted {
        return Err(ImportError::Redacted);
    }
    let mut state: State = wire::field(&state, "state").map_err(ImportError::Answer)?;
    state.normalize();
    Ok(Imported { form: Form::Answer, head: Head::default(), state, left_out: Receipt::default() })
}
