//! Which grammar reads what stands within another text.

use crate::work::Grammars;
use crate::{body, text, value};

/// All of them.
pub(crate) static GRAMMARS: Grammars =
    Grammars { body: body::redact, value: value::redact, text: text::redact };
