//! A file that becomes a state, whoever wrote it.
//!
//! The one idea: what a file is shows itself, so nobody has to say it, and one place looks. Every door
//! through which a file comes in reads it here; what it is not is said by what it is. What may be
//! taken of the state [`admit`](crate::admit) says.

mod answer;
mod cookies_txt;
mod error;
mod form;
mod inner;
mod probe;
mod text;

pub use error::ImportError;
pub use form::Form;
pub use text::text;

use crate::json_tree::{Json, parse};
use crate::playwright::{self, Ignored};
use crate::receipt::Receipt;
use crate::state::State;
use crate::wire::{self, Head, SessionFile};
use inner::Inner;

/// How deep a file may be wrapped in others.
const MAX_WRAPPED: usize = 3;

/// What a file holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// What kind of file it is; that of the innermost, if others are around it.
    pub form: Form,
    /// What a session file says of its session; of any other file, nothing.
    pub head: Head,
    /// What its browser held.
    pub state: State,
    /// What in the file cannot be used, and why.
    pub left_out: Receipt,
}

impl Imported {
    fn of(form: Form, state: State, left_out: impl IntoIterator<Item = Ignored>) -> Self {
        let left_out = left_out.into_iter().map(Into::into).collect();
        Self { form, head: Head::default(), state, left_out }
    }
}

/// Reads a file of any kind that is known.
pub fn read(file: &[u8]) -> Result<Imported, ImportError> {
    read_text(&text(file)?, 0)
}

fn read_text(text: &str, depth: usize) -> Result<Imported, ImportError> {
    // A session file may be large, and its own reader wants the text.
    match probe::probe(text) {
        Some(Form::SessionFile) => return session_file(text),
        Some(Form::Answer) => return answer::read(text),
        _ => {}
    }
    match parse(text.as_bytes()) {
        Ok(json) => read_json(&json, depth),
        Err(_) if cookies_txt::is_cookies_txt(text) => {
            let (state, ignored) = cookies_txt::read(text);
            Ok(Imported::of(Form::CookiesTxt, state, ignored))
        }
        Err(source) => Err(ImportError::of_text(text, source)),
    }
}

fn read_json(json: &Json, depth: usize) -> Result<Imported, ImportError> {
    match Form::of(json) {
        Form::SessionFile => session_file(&written(json)),
        Form::Answer => answer::read(&written(json)),
        form @ Form::StorageState => {
            let (state, ignored) = playwright::read_document(json)?;
            Ok(Imported::of(form, state, ignored))
        }
        form @ Form::CookieList => {
            let mut ignored = Vec::new();
            let items = if let Json::Array(items) = json { items } else { &vec![json.clone()] };
            let cookies = playwright::read_cookies(items, "cookies", &mut ignored);
            let mut state = State { cookies, ..State::default() };
            state.normalize();
            Ok(Imported::of(form, state, ignored))
        }
        form if depth == MAX_WRAPPED => Err(ImportError::Other { form }),
        form => match Inner::of(json) {
            Inner::One { text, place, beside } => {
                let mut imported = read_text(&text, depth + 1)?;
                if let Some(line) = inner::left_beside(&place, &beside) {
                    imported.left_out.push(line);
                }
                Ok(imported)
            }
            Inner::Many(places) => Err(ImportError::Many { places }),
            Inner::None => Err(ImportError::Other { form }),
        },
    }
}

fn session_file(text: &str) -> Result<Imported, ImportError> {
    let (SessionFile { head, state }, left_out) = wire::read(text.as_bytes())?;
    Ok(Imported { form: Form::SessionFile, head, state, left_out })
}

/// The text of a document inside of another.
fn written(json: &Json) -> String {
    crate::json::text(json)
}
