//! Redaction: what a tab does, without its secrets, for the node and, as WebAssembly, for the extension.
//!
//! The one idea: each form in which a secret comes has a grammar, and the grammar says what is a name and
//! what is its value. A name weighs ([`Weight`]), a value has a look ([`Look`]), and both together decide;
//! what was hidden once is hidden wherever it comes again, by a keyed hash. It reads no clock and no file,
//! and takes time in proportion to the text.
//!
//! Rooms: [`names`] weighs names; [`look`] and `shapes` judge values; one file a grammar (`json`, `form`,
//! `multipart`, `markup`, `table`, `stream`, `sockets`, `commands`, `text`, and those that `seldom` asks);
//! `address`, `header` and `console` for what is made of several; `seen` remembers.

mod address;
mod body;
mod calls;
mod characters;
mod classes;
mod codes;
mod columns;
mod commands;
mod comments;
mod console;
mod controls;
mod document;
mod elements;
mod escapes;
mod form;
mod further;
mod grammars;
mod harmless;
mod header;
mod json;
mod keys;
mod kind;
mod letters;
mod lines;
pub mod look;
mod markup;
mod multipart;
pub mod names;
mod phrases;
mod pieces;
mod prefixes;
mod prints;
mod programs;
mod protocols;
mod purposes;
mod quotations;
mod ranges;
mod records;
mod rows;
mod search;
mod seen;
mod seldom;
mod sentences;
mod settings;
mod shapes;
mod shown;
mod signs;
mod sockets;
mod sql;
mod stream;
mod table;
mod tags;
mod text;
mod users;
mod value;
mod valued;
mod wide;
mod work;

pub use look::Look;
pub use names::{Names, Weight};
pub use shown::{ShownAddress, shown_title};

use grammars::GRAMMARS;
use harmless::Harmless;
use kind::Kind;
use pieces::Pieces;
use seen::KnownSecrets;
use work::Work;

/// What stands in the place of a secret.
pub const HIDDEN: &str = "[redacted]";

/// Hides the secrets of one tab or session, and remembers them.
#[derive(Debug)]
pub struct Redactor {
    names: Names,
    seen: KnownSecrets,
    harmless: Harmless,
    pieces: Pieces,
}

impl Redactor {
    /// One that has seen nothing. The key makes what it remembers useless to others: 16 random bytes.
    pub fn new(names: Names, key: [u8; 16]) -> Self {
        Self {
            names,
            seen: KnownSecrets::new(key),
            harmless: Harmless::new(key),
            pieces: Pieces::new(key),
        }
    }

    pub(crate) fn work(&mut self) -> Work<'_> {
        Work::new(&mut self.names, &mut self.seen, &mut self.harmless, &GRAMMARS)
    }

    /// The URL without its userinfo, and without what is secret in its path, query and fragment. Of a URL
    /// that is all content, such as `data:`, the scheme stays.
    pub fn address(&mut self, url: &str) -> String {
        address::redact(&mut self.work(), url)
    }

    /// The value of a header; of one that came several times its values, one a line.
    pub fn header(&mut self, name: &str, value: &str) -> String {
        header::redact(&mut self.work(), name, value)
    }

    /// A body. `mime` is what it says to be; where that is missing or wrong, the body's own look decides.
    pub fn body(&mut self, body: &str, mime: Option<&str>) -> String {
        self.work().body(body, mime)
    }

    /// A body that came as base64, which may be cut: text as text, pictures and the like as base64. Nobody
    /// can say what is in any other, so it is hidden. True when it is still base64.
    pub fn base64(&mut self, body: &str, mime: Option<&str>) -> (String, bool) {
        body::redact_base64(&mut self.work(), body, mime)
    }

    /// A line for people: a title, an error, a stack.
    pub fn line(&mut self, text: &str) -> String {
        self.work().text(text, Kind::Prose).into_owned()
    }

    /// What goes over a WebSocket. `connection` is one direction of one of them: a secret may go on from one
    /// message to the next.
    pub fn socket(&mut self, connection: &str, payload: &str) -> String {
        let Self { names, seen, harmless, pieces } = self;
        let mut work = Work::new(names, seen, harmless, &GRAMMARS);
        pieces.redact(&mut work, connection, payload)
    }

    /// What was given to the console, a JSON array, and the message that the browser made of it.
    pub fn console(&mut self, args: &str, message: &str) -> (String, String) {
        console::redact(&mut self.work(), args, message)
    }
}
