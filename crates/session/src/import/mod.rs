//! A file that becomes a state, whichever program wrote it.
//!
//! The one idea: what a file is shows itself, so the caller need not say it, and one place looks. Every door
//! through which a file comes in reads it here; what it is not is said by what it is. What may be taken of
//! the state [`admit`](crate::admit) says.
//!
//! `cookies.txt` has no `SameSite`; that is unspecified then. A line that begins with `#` is a comment, but for
//! `#HttpOnly_`.

mod form;

pub use form::{FileForm, ImportError};

use crate::cookie::{Cookie, Expiry, Priority, SourceScheme};
use crate::identity::{BrowserName, Identity};
use crate::json_tree::{Json, parse};
use crate::playwright::{Ignored, LANGUAGES, USER_AGENT, keep_last};
use crate::receipt::{ItemKind, Receipt, ReceiptItem};
use crate::state::State;
use crate::wire::{Head, SessionFile};
use crate::{playwright, wire};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use std::borrow::Cow;

/// How deep a file may be wrapped in others.
const MAX_WRAPPED: usize = 3;

/// What a file holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// What kind of file it is; that of the innermost, if others are around it.
    pub form: FileForm,
    /// What a session file says of its session; of any other file, nothing.
    pub head: Head,
    /// What its browser held.
    pub state: State,
    /// What in the file cannot be used, and why.
    pub left_out: Receipt,
}

impl Imported {
    fn of(form: FileForm, state: State, left_out: impl IntoIterator<Item = Ignored>) -> Self {
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
    match form::probe(text) {
        Some(FileForm::SessionFile) => return session_file(text),
        Some(FileForm::Answer) => return read_answer(text),
        _ => {}
    }
    match parse(text.as_bytes()) {
        Ok(json) => read_json(&json, depth),
        Err(_) if is_cookies_txt(text) => {
            let (state, ignored) = read_cookies_txt(text);
            Ok(Imported::of(FileForm::CookiesTxt, state, ignored))
        }
        Err(source) => Err(ImportError::of_text(text, source)),
    }
}

fn read_json(json: &Json, depth: usize) -> Result<Imported, ImportError> {
    match FileForm::of(json) {
        FileForm::SessionFile => session_file(&written(json)),
        FileForm::Answer => read_answer(&written(json)),
        form @ FileForm::StorageState => {
            let (state, ignored) = playwright::read_document(json)?;
            Ok(Imported::of(form, state, ignored))
        }
        form @ FileForm::CookieList => {
            let mut ignored = Vec::new();
            let items = if let Json::Array(items) = json { items } else { &vec![json.clone()] };
            let cookies = playwright::read_cookies(items, "cookies", &mut ignored);
            let mut state = State { cookies, ..State::default() };
            state.normalize();
            Ok(Imported::of(form, state, ignored))
        }
        form if depth == MAX_WRAPPED => Err(ImportError::Other { form }),
        form => match Inner::of(json) {
            Inner::One { text, place, mut beside } => {
                let mut imported = read_text(&text, depth + 1)?;
                let user_agent = json.get_str(USER_AGENT);
                if let Some(browser) = user_agent.and_then(BrowserName::of_user_agent) {
                    imported.state.environment.browser.get_or_insert(browser);
                    beside.retain(|member| member != USER_AGENT);
                }
                let environment = &mut imported.state.environment;
                // A document inside that names a locale says more.
                if environment.locale.is_none()
                    && let Some(Identity { languages, .. }) = playwright::languages(json)
                    && environment.identity.as_ref().is_none_or(|one| one.languages.is_empty())
                {
                    environment.identity.get_or_insert_default().languages = languages;
                    beside.retain(|member| member != LANGUAGES);
                }
                if let Some(line) = left_beside(&place, &beside) {
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
    Ok(Imported { form: FileForm::SessionFile, head, state, left_out })
}

/// The text of a document inside of another.
fn written(json: &Json) -> String {
    crate::json::text(json)
}

#[derive(Deserialize)]
struct StateAnswer {
    redacted: bool,
    state: Value,
}

/// Reads such an answer. One whose secrets are hidden holds nothing that could be used.
fn read_answer(text: &str) -> Result<Imported, ImportError> {
    let other = |error| ImportError::Answer(wire::SessionFileError::from(error));
    let StateAnswer { redacted, state } = serde_json::from_str(text).map_err(other)?;
    if redacted {
        return Err(ImportError::Redacted);
    }
    let mut state: State = wire::field(&state, "state").map_err(ImportError::Answer)?;
    state.normalize();
    Ok(Imported {
        form: FileForm::Answer,
        head: Head::default(),
        state,
        left_out: Receipt::default(),
    })
}

/// The most members that are named, and the most characters of a name.
const MOST: usize = 20;
const LONGEST: usize = 60;

/// What is found inside.
///
/// A state may stand in a member of another document, in a list of one, or as text in a string.
enum Inner {
    /// One that may be read.
    One {
        /// It.
        text: String,
        /// Where.
        place: String,
        /// What is beside it, and says something.
        beside: Vec<String>,
    },
    /// More than one.
    Many(Vec<String>),
    /// None.
    None,
}

impl Inner {
    /// Looks one step into a document.
    fn of(json: &Json) -> Self {
        let members: Vec<(String, &Json)> = match json {
            Json::Object(members) => {
                members.iter().map(|(name, value)| (shown(&name.to_lossy()), value)).collect()
            }
            Json::Array(items) => {
                items.iter().enumerate().map(|(at, item)| (format!("[{at}]"), item)).collect()
            }
            text @ Json::Text(_) => vec![("the text".to_owned(), text)],
            _ => Vec::new(),
        };
        let (mut found, mut beside) = (Vec::new(), Vec::new());
        for (place, value) in members {
            match candidate(value) {
                Some(text) => found.push((text, place)),
                None if !value.is_empty() => beside.push(place),
                None => {}
            }
        }
        if found.len() > 1 {
            return Self::Many(found.into_iter().map(|(_, place)| place).take(MOST).collect());
        }
        match found.pop() {
            Some((text, place)) => Self::One { text, place, beside },
            None => Self::None,
        }
    }
}

/// The text of what may be read; a document around it counts as well.
fn candidate(json: &Json) -> Option<String> {
    if let Json::Text(text) = json {
        let text = text.as_str()?.trim_start_matches('\u{feff}');
        let is_document = text.trim_start().starts_with(['{', '[']);
        return (is_document || is_cookies_txt(text)).then(|| text.to_owned());
    }
    let is_taken = |json: &Json| {
        matches!(
            FileForm::of(json),
            FileForm::SessionFile
                | FileForm::Answer
                | FileForm::StorageState
                | FileForm::CookieList
        )
    };
    let is_around = |json: &Json| json.members().iter().any(|(_, inner)| is_taken(inner));
    (is_taken(json) || is_around(json)).then(|| written(json))
}

/// The line about what is beside a state.
fn left_beside(place: &str, beside: &[String]) -> Option<ReceiptItem> {
    let named: Vec<&str> = beside.iter().map(String::as_str).take(MOST).collect();
    let more = beside.len().saturating_sub(MOST);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let reason = format!("what stands beside it is left out: {}{more}", named.join(", "));
    (!beside.is_empty()).then(|| ReceiptItem::not_portable(ItemKind::Part, place, reason))
}

fn shown(name: &str) -> String {
    name.chars().filter(|c| !c.is_control()).take(LONGEST).collect()
}

/// How some files begin that are no text.
const MAGIC: [(&[u8], FileForm); 8] = [
    (b"SQLite format 3\0", FileForm::Sqlite),
    (b"age-encryption.org/", FileForm::Age),
    (b"PK\x03\x04", FileForm::Archive),
    (b"\x1f\x8b", FileForm::Archive),
    (b"\x28\xb5\x2f\xfd", FileForm::Archive),
    (b"BZh", FileForm::Archive),
    (b"\xfd7zXZ\0", FileForm::Archive),
    (b"7z\xbc\xaf", FileForm::Archive),
];

/// The text of a file that may be [read]. What it is otherwise is the error.
pub fn text(file: &[u8]) -> Result<Cow<'_, str>, ImportError> {
    let text = decode(file)?;
    match serde_json::from_str::<IgnoredAny>(&text) {
        Err(source) if !is_cookies_txt(&text) => Err(ImportError::of_text(&text, source)),
        _ => Ok(text),
    }
}

fn decode(file: &[u8]) -> Result<Cow<'_, str>, ImportError> {
    if let Some((_, form)) = MAGIC.iter().find(|(start, _)| file.starts_with(start)) {
        return Err(ImportError::Other { form: *form });
    }
    // PowerShell writes UTF-16, with a mark or without one.
    match file {
        [0xff, 0xfe, rest @ ..] => return utf16(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => return utf16(rest, u16::from_be_bytes),
        [first, 0, ..] if first.is_ascii_graphic() => return utf16(file, u16::from_le_bytes),
        [0, second, ..] if second.is_ascii_graphic() => return utf16(file, u16::from_be_bytes),
        _ => {}
    }
    let file = file.strip_prefix(b"\xef\xbb\xbf").unwrap_or(file);
    let error = match std::str::from_utf8(file) {
        Ok(text) => return Ok(Cow::Borrowed(text)),
        Err(error) => error,
    };
    if file.contains(&0) {
        return Err(ImportError::Other { form: FileForm::Bytes });
    }
    let lossy = String::from_utf8_lossy(file);
    if is_cookies_txt(&lossy) {
        // A line of it costs itself only.
        return Ok(Cow::Owned(lossy.into_owned()));
    }
    Err(ImportError::Encoding { at: error.valid_up_to() })
}

fn utf16(bytes: &[u8], unit: impl Fn([u8; 2]) -> u16) -> Result<Cow<'static, str>, ImportError> {
    let pairs = bytes.chunks(2).map(|pair| match pair {
        [one, other] => unit([*one, *other]),
        // Half of a code unit: what was cut off there is no text.
        _ => 0xd800,
    });
    let mut at = 0;
    let text: Result<String, _> = char::decode_utf16(pairs)
        .inspect(|found| at += found.as_ref().map_or(0, |found| 2 * found.len_utf16()))
        .collect();
    text.map(Cow::Owned).map_err(|_| ImportError::Encoding { at })
}

const HTTP_ONLY: &str = "#HttpOnly_";
/// Before every instant: whether a cookie is over is not looked at here.
const ANY_AGE: Expiry = Expiry(i64::MIN);
/// The most lines that are named which are none.
const MOST_NAMED: usize = 200;

/// Whether a text is such a file: by its first line, or by its first cookie.
fn is_cookies_txt(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    let titled = first.starts_with('#') && first.to_ascii_lowercase().contains("cookie file");
    titled
        || cookies(text).next().is_some_and(|(_, _, line)| {
            let fields: Vec<&str> = line.splitn(7, '\t').collect();
            fields.len() >= 6 && flag(fields[1]).is_some() && flag(fields[3]).is_some()
        })
}

/// Its cookies, and the lines that are none.
fn read_cookies_txt(text: &str) -> (State, Vec<Ignored>) {
    let (mut read, mut ignored, mut unnamed) = (Vec::new(), Vec::new(), 0_usize);
    for (number, http_only, line) in cookies(text) {
        match cookie(line, http_only) {
            Ok(cookie) => read.push(cookie),
            Err(_) if ignored.len() >= MOST_NAMED => unnamed += 1,
            Err((name, why)) => {
                let place = format!("line {number} {}", name.unwrap_or("?"));
                ignored.push(Ignored::new(ItemKind::Cookie, place, why));
            }
        }
    }
    if unnamed > 0 {
        let reason = format!("{unnamed} other lines are no cookies");
        ignored.push(Ignored::new(ItemKind::Cookie, "cookies.txt", reason));
    }
    let mut state = State { cookies: keep_last(read, &mut ignored), ..State::default() };
    state.normalize();
    (state, ignored)
}

/// The lines that should be cookies, with their numbers, and whether pages may see them.
fn cookies(text: &str) -> impl Iterator<Item = (usize, bool, &str)> {
    (1..).zip(text.lines()).filter_map(|(number, line)| match line.strip_prefix(HTTP_ONLY) {
        Some(line) => Some((number, true, line)),
        None if line.starts_with('#') || line.trim().is_empty() => None,
        None => Some((number, false, line)),
    })
}

/// The cookie of a line, or its name and what was expected.
fn cookie(line: &str, http_only: bool) -> Result<Cookie, (Option<&str>, String)> {
    let fields: Vec<&str> = line.splitn(7, '\t').collect();
    // Some editors take away the tab before an empty value.
    let [domain, below, path, secure, end, name, value] = match fields[..] {
        [domain, below, path, secure, end, name] => [domain, below, path, secure, end, name, ""],
        [domain, below, path, secure, end, name, value] => {
            [domain, below, path, secure, end, name, value]
        }
        _ => return Err((None, "expected seven fields with tabs between them".to_owned())),
    };
    let wrong = |expected: &str| (Some(name), format!("expected {expected}"));
    if line.contains('\u{fffd}') {
        return Err(wrong("text in UTF-8"));
    }
    let below = flag(below).ok_or_else(|| wrong("TRUE or FALSE in the second field"))?;
    let secure = flag(secure).ok_or_else(|| wrong("TRUE or FALSE in the fourth field"))?;
    let expires = match end.trim() {
        "" | "-1" => None,
        end => {
            let seconds = end.parse::<f64>().ok().filter(|end| end.is_finite() && *end >= 0.0);
            Expiry::from_seconds(seconds.ok_or_else(|| wrong("seconds since 1970, or 0"))?)
        }
    };
    let host = domain.strip_prefix('.').unwrap_or(domain);
    let cookie = Cookie {
        name: name.to_owned(),
        value: value.to_owned(),
        domain: if below { format!(".{host}") } else { host.to_owned() },
        path: if path.is_empty() { "/".to_owned() } else { path.to_owned() },
        expires,
        http_only,
        secure,
        same_site: None,
        priority: Priority::default(),
        source_scheme: SourceScheme::default(),
        source_port: None,
        partition_key: None,
    };
    match cookie.validate(ANY_AGE) {
        Ok(()) => Ok(cookie),
        Err(reason) => Err((Some(name), reason.to_string())),
    }
}

fn flag(text: &str) -> Option<bool> {
    match text {
        "TRUE" | "true" => Some(true),
        "FALSE" | "false" => Some(false),
        _ => None,
    }
}
