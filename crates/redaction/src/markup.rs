//! Markup: HTML and XML, also cut, broken, and written as text within other markup or a program.
//!
//! The one idea: a value's name is the element's or the attribute's own, or the value of an attribute
//! beside it (`name="password" value="…"`), or the text of an element before it (`<key>password</key>`).
//! Pages say much to people about secrets, so what people read is only hidden where it looks like one.

use crate::elements::{
    HARMLESS, HEADINGS, INNER, NAMES, NAMING, READ, RSA, SHOWN, TRANSLATED, VALUES, VOID,
};
use crate::look::Look;
use crate::names::Weight;
use crate::ranges::Ranges;
use crate::tags::{Attribute, attributes, end_of_tag, is_one_of, local, next_open, plain, slash};
use crate::work::Work;
use std::ops::Range;

/// A longer text is no name, in bytes.
const MAX_NAME: usize = 48;
/// A name of what comes next has no more words.
const MAX_WORDS: usize = 4;
/// How many tags may stand between a name and its value.
const MAX_BETWEEN: u8 = 4;
/// How many columns of a table are looked at.
const MAX_COLUMNS: usize = 64;

/// Notes the secrets in markup.
pub(crate) fn find(work: &mut Work<'_>, text: &str, found: &mut Ranges) {
    let mut page = Page {
        work,
        text,
        found,
        element: String::new(),
        inside: Weight::Plain,
        around: (Weight::Plain, String::new()),
        next: None,
        heading: Weight::Plain,
        is_call: false,
        name_from: usize::MAX,
        last_text: 0..0,
        columns: Vec::new(),
        column: 0,
        is_rsa: false,
        is_login: false,
    };
    page.read();
}

struct Page<'p, 'w> {
    work: &'p mut Work<'w>,
    text: &'p str,
    found: &'p mut Ranges,
    /// The local name of the element that opened last.
    element: String,
    /// What the text here weighs.
    inside: Weight,
    /// What the element around the values here weighs, and its name.
    around: (Weight, String),
    /// What the next value weighs, and for how many tags.
    next: Option<(Weight, u8)>,
    /// What the same heading or label weighs where a value stands that people give or have.
    heading: Weight,
    /// Whether the page calls a procedure (XML-RPC).
    is_call: bool,
    /// Where the last element began that may hold a name.
    name_from: usize,
    last_text: Range<usize>,
    /// What the columns of a table weigh.
    columns: Vec<Weight>,
    column: usize,
    is_rsa: bool,
    /// Whether an element before calls somebody in.
    is_login: bool,
}

/// Elements that hold the arguments of a program.
const ARGUMENTS: [&str; 5] = ["string", "arg", "argument", "param", "value"];
/// Calls that let somebody in, and the names of a second argument.
const LOGINS: [&str; 5] = ["login", "logon", "signin", "authenticate", "opensession"];
const SECOND: [&str; 5] = ["arg1", "in1", "param1", "parameter1", "p1"];

impl Page<'_, '_> {
    fn read(&mut self) {
        // Sections within sections are none: only the first is looked at as a whole.
        let (mut at, mut from, mut section) = (0, 0, 0);
        while let Some(open) = next_open(self.text, at) {
            let behind = open.end;
            let rest = &self.text[behind..];
            at = behind;
            if let Some(rest) = rest.strip_prefix("![CDATA[").filter(|_| open.start >= section) {
                self.run(from..open.start);
                let start = self.text.len() - rest.len();
                let end = rest.find("]]>").map_or(self.text.len(), |end| start + end);
                self.run(start..end);
                // There may be markup in it; what ends it is no text.
                (at, from, section) = (start, self.text.len().min(end + 3), end);
            } else if let Some(comment) = rest.strip_prefix("!--") {
                self.run(from..open.start);
                at = comment.find("-->").map_or(self.text.len(), |end| behind + end + 6);
                from = at;
            } else if let Some(rest) = rest.strip_prefix("!ENTITY") {
                at = self.entity(self.text.len() - rest.len());
                from = at;
            } else if let Some(length) = slash(rest) {
                let Some(name) = self.tag_name(behind + length) else { continue };
                self.run(from..open.start);
                at = self.close(&name);
                from = at;
            } else {
                let mark = usize::from(rest.starts_with('?'));
                let Some(name) = self.tag_name(behind + mark) else { continue };
                self.run(from..open.start);
                at = self.open(&name, mark > 0);
                from = at;
            }
        }
        self.run(from..self.text.len());
    }

    /// The name of a tag, if it is one: `a<b` is none.
    fn tag_name(&self, start: usize) -> Option<Range<usize>> {
        let bytes = self.text.as_bytes();
        let first = *bytes.get(start)?;
        let fits = |c: &u8| c.is_ascii_alphanumeric() || b"-_:.".contains(c) || *c >= 0x80;
        let length = bytes[start..].iter().take_while(|c| fits(c)).count();
        let end = self.text.ceil_char_boundary(start + length);
        let is_end = match bytes.get(end) {
            None => true,
            Some(c) => c.is_ascii_whitespace() || matches!(c, b'/' | b'>' | b'?' | b'\\' | b'&'),
        };
        let begins = first.is_ascii_alphabetic() || first == b'_' || first >= 0x80;
        (begins && is_end).then_some(start..end)
    }

    /// `<!ENTITY name "value">`.
    fn entity(&mut self, start: usize) -> usize {
        let (text, end) =
            (self.text, self.text[start..].find('>').map_or(self.text.len(), |end| start + end));
        let inner = &text[start..end];
        let Some(open) = inner.find(['"', '\'']) else { return end };
        let quote = inner.as_bytes()[open] as char;
        let value = start + open + 1;
        let close = text[value..].find(quote).map_or(text.len(), |at| value + at);
        let weight = self.work.weigh(inner[..open].trim());
        self.judge(weight, value..close);
        close.max(end)
    }

    /// An element begins; answers where its tag ends.
    fn open(&mut self, name: &Range<usize>, is_instruction: bool) -> usize {
        let (attributes, end) = attributes(self.text, name.end);
        let written = &self.text[name.clone()];
        let element = local(written);
        let beside = self.beside(&element, &attributes);
        self.tick();
        self.is_call |= element == "methodcall";
        self.is_login |= LOGINS.contains(&element.as_str());
        if self.is_call && element == "param" {
            (self.next, self.heading) = (Some((Weight::Telling, MAX_BETWEEN)), Weight::Telling);
        }
        self.judge_attributes(&element, beside, &attributes);
        self.note_table(&element);
        let is_void = is_instruction
            || self.text[..end].ends_with("/>")
            || matches!(element.as_str(), "br" | "hr" | "wbr")
            || (is_one_of(&element, &VOID) && !attributes.is_empty());
        // Behind one that holds no text goes on the text of the one around it.
        if is_void {
            return end;
        }
        let is_read = is_one_of(&element, &READ);
        let own = match element.as_str() {
            "rsakeyvalue" => {
                self.is_rsa = true;
                Weight::Plain
            }
            short if self.is_rsa && RSA.contains(&short) => Weight::Secret,
            // What stands for an assertion (SAML, section 3.6 of its bindings).
            "artifact" if written.starts_with("saml") => Weight::Secret,
            // `<logIn><arg0>al</arg0><arg1>…</arg1></logIn>`.
            place if self.is_login && SECOND.contains(&place) => Weight::Secret,
            page if is_read || SHOWN.contains(&page) || NAMES.contains(&page) => Weight::Plain,
            _ => self.work.weigh(written.rsplit(':').next().unwrap_or_default()),
        };
        let own = own.max(if is_read { beside.min(Weight::Telling) } else { beside });
        let is_inner = is_one_of(&element, &INNER);
        let is_named =
            attributes.iter().any(|attribute| is_one_of(&attribute.name(self.text), &NAMING));
        // What is the value of another one says no more than that.
        if !is_inner || is_named || own > Weight::Plain {
            self.around = (own, element.clone());
        }
        self.inside = own.max(self.around.0);
        if is_naming(&element) {
            self.name_from = end;
        }
        let is_raw =
            matches!(element.as_str(), "script" | "style") && self.text[..end].ends_with('>');
        self.element = element;
        if is_raw { self.end_of_raw(end) } else { end }
    }

    /// Programs are not read as markup.
    fn end_of_raw(&mut self, start: usize) -> usize {
        let end: &[u8] = if self.element == "script" { b"/script" } else { b"/style" };
        self.inside = Weight::Plain;
        let bytes = self.text.as_bytes();
        let is_end = |at: &usize| bytes[*at..*at + end.len()].eq_ignore_ascii_case(end);
        let mut starts = start + 1..(bytes.len() + 1).saturating_sub(end.len());
        // Before the slash stands what opens the tag, which programs escape.
        let opens = |at: &usize| bytes[..*at].ends_with(b"<") || bytes[..*at].ends_with(b"<\\");
        let at = starts.find(|at| bytes[*at] == b'/' && opens(at) && is_end(at));
        at.map_or(bytes.len(), |at| at - if bytes[at - 1] == b'<' { 1 } else { 2 })
    }

    fn tick(&mut self) {
        self.next = self.next.and_then(|(weight, left)| Some((weight, left.checked_sub(1)?)));
    }

    /// What the columns above a cell say, and which column it is.
    fn note_table(&mut self, element: &str) {
        match element {
            "table" => self.columns.clear(),
            "tr" | "row" => self.column = 0,
            "td" => {
                let above = self.columns.get(self.column).copied().unwrap_or(Weight::Plain);
                if above > self.next.map_or(Weight::Plain, |(weight, _)| weight) {
                    (self.next, self.heading) = (Some((above, MAX_BETWEEN)), above);
                }
                self.column += 1;
            }
            _ => {}
        }
    }

    /// An element ends; answers where its tag does.
    fn close(&mut self, name: &Range<usize>) -> usize {
        let end = end_of_tag(self.text, name.end);
        let element = local(&self.text[name.clone()]);
        let is_named = self.last_text.start >= self.name_from && !self.last_text.is_empty();
        let is_heading = is_one_of(&element, &HEADINGS);
        let is_name = is_one_of(&element, &NAMES);
        if is_named && (is_heading || is_name) {
            self.name_from = usize::MAX;
            let weight = self.name_weight(is_name);
            if element == "th" {
                self.note_column(weight);
            }
            self.next = (weight > Weight::Plain).then_some((weight, MAX_BETWEEN));
        } else {
            if element == "th" {
                self.note_column(Weight::Plain);
            }
            // The parent of a name ends, and with it what the name says.
            let is_row = matches!(element.as_str(), "cell" | "td" | "th" | "pre" | "code" | "li");
            if is_row || element == "p" || is_one_of(&element, &INNER) || is_heading {
                self.tick();
            } else {
                self.next = None;
            }
        }
        if element == "rsakeyvalue" {
            self.is_rsa = false;
        }
        self.inside = Weight::Plain;
        if element == self.around.1 || !is_one_of(&element, &INNER) {
            self.around.0 = Weight::Plain;
        }
        end
    }

    fn note_column(&mut self, weight: Weight) {
        if self.column < MAX_COLUMNS {
            if self.columns.len() <= self.column {
                self.columns.resize(self.column + 1, Weight::Plain);
            }
            self.columns[self.column] = weight.min(Weight::Telling);
        }
        self.column += 1;
    }

    /// What the last text says of what comes next, if it is a name.
    fn name_weight(&mut self, is_data: bool) -> Weight {
        let text = &self.text[self.last_text.clone()];
        // A colon says that the value comes, whatever else is said.
        let is_label = self.element == "label";
        let more = if text.ends_with(':') || is_label { 3 } else { 1 };
        let is_short =
            text.len() <= more * MAX_NAME && text.split_whitespace().count() <= more * MAX_WORDS;
        if !is_short || text.ends_with(['?', '!', '.', ',']) {
            return Weight::Plain;
        }
        // Letters that are not seen part no words.
        let name = plain(text).replace(['\u{ad}', '\u{200b}'], "");
        let weight = self.work.weigh(name.trim_end_matches([':', '*', ' ']));
        self.heading = weight;
        if is_data { weight } else { weight.min(Weight::Telling) }
    }

    /// A piece of text between tags.
    fn run(&mut self, range: Range<usize>) {
        let Some(piece) = self.text.get(range.clone()) else { return };
        let inner = piece.trim();
        if inner.is_empty() {
            return;
        }
        let start = range.start + piece.len() - piece.trim_start().len();
        let range = start..start + inner.len();
        self.last_text = range.clone();
        // `<string>--password</string><string>x</string>`: the arguments of a program.
        let is_flag = is_one_of(&self.element, &ARGUMENTS)
            && inner.len() <= MAX_NAME
            && inner.starts_with("--")
            && !inner.contains(['=', ' ']);
        if is_flag && self.work.weigh(inner) == Weight::Secret {
            self.next = Some((Weight::Secret, MAX_BETWEEN));
            return;
        }
        let mut weight = self.inside;
        let is_name = is_one_of(&self.element, &NAMES);
        if let Some((next, _)) = self.next.filter(|_| !is_name) {
            weight = weight.max(next);
            if is_number_of_person(inner) {
                weight = weight.max(self.heading);
            }
            // In a list each is one.
            self.next = (self.element == "li").then_some((next, MAX_BETWEEN));
        }
        if weight == Weight::Plain || self.is_words(inner, weight) {
            return;
        }
        self.judge(weight, range);
    }

    /// Translations of what people read: the name of a secret, or a sentence about one.
    fn is_words(&mut self, value: &str, weight: Weight) -> bool {
        let is_text = weight == Weight::Secret
            && is_one_of(&self.element, &TRANSLATED)
            && !value.contains(|c: char| c.is_ascii_digit())
            && Look::of(value) == Look::Plain;
        is_text && (value.contains(' ') || self.work.weigh(value) == Weight::Secret)
    }

    fn judge(&mut self, weight: Weight, range: Range<usize>) {
        if weight == Weight::Plain {
            return;
        }
        let value = plain(&self.text[range.clone()]);
        // Some pages show the quotes too.
        if self.work.hides(weight, value.trim().trim_matches(['"', '\''])) {
            self.found.add(range);
        }
    }

    /// What the attributes that name say of those with values.
    fn beside(&mut self, element: &str, attributes: &[Attribute]) -> Weight {
        let mut weight = Weight::Plain;
        for attribute in attributes {
            let name = attribute.name(self.text);
            let value = plain(&self.text[attribute.value.clone()]);
            let value = value.trim();
            let is_password =
                name == "type" && element == "input" && value.eq_ignore_ascii_case("password");
            if is_password || (name == "autocomplete" && is_completed_secret(value)) {
                return Weight::Secret;
            }
            if is_one_of(&name, &NAMING) && value.len() <= 2 * MAX_NAME {
                weight = weight.max(self.work.weigh(value));
            }
        }
        weight
    }

    fn judge_attributes(&mut self, element: &str, beside: Weight, attributes: &[Attribute]) {
        let is_pressed = |value: &str| {
            ["submit", "button", "reset", "checkbox", "radio", "image", "hidden"]
                .iter()
                .any(|one| value.eq_ignore_ascii_case(one))
        };
        let is_button = attributes.iter().any(|attribute| {
            attribute.name(self.text) == "type" && is_pressed(&self.text[attribute.value.clone()])
        });
        let inherited = if element == "option" { self.around.0 } else { Weight::Plain };
        let beside = if is_button || READ.contains(&element) {
            beside.max(inherited).min(Weight::Telling)
        } else {
            beside
        };
        for attribute in attributes {
            let name = attribute.name(self.text);
            let weight = if is_one_of(&name, &VALUES) {
                let next = self.next.map_or(Weight::Plain, |(weight, _)| weight);
                let is_field = element == "input" && !is_button && next > Weight::Plain;
                // It is the value of one field only.
                let own = if is_field { std::mem::replace(&mut self.heading, next) } else { next };
                beside.max(own)
            } else if is_harmless(&name) {
                continue;
            } else {
                self.work.weigh(&self.text[attribute.name.clone()])
            };
            self.judge(weight, attribute.value.clone());
        }
    }
}

/// Numbers of people and cards: at least twelve digits, and what parts them.
fn is_number_of_person(value: &str) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    (12..=19).contains(&digits)
        && value.bytes().all(|c| c.is_ascii_digit() || matches!(c, b' ' | b'-'))
}

/// What browsers fill in for people, and nobody else may see (HTML, section 4.10.18.7).
fn is_completed_secret(value: &str) -> bool {
    let is_secret = |word: &str| {
        matches!(word, "one-time-code" | "cc-number" | "cc-csc" | "cc-exp")
            || word.ends_with("-password")
    };
    value.split_ascii_whitespace().any(|word| is_secret(&word.to_ascii_lowercase()))
}

fn is_harmless(name: &str) -> bool {
    // The pairs of a connection string are found as text.
    name == "connectionstring"
        || is_one_of(name, &HARMLESS)
        || is_one_of(name, &NAMING)
        || name.starts_with("xmlns")
        || name.starts_with("aria-")
        || name.starts_with("on")
}

fn is_naming(element: &str) -> bool {
    NAMES.contains(&element) || HEADINGS.contains(&element)
}
