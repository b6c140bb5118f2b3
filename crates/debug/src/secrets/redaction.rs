//! Redaction: every text of an event is cut to a bound, and its secrets are hidden.
//!
//! What comes of it is [`Clean`], and nothing else is kept, unless somebody has asked to see the secrets of a tab.
//! Then it is kept a second time, as [`Revealed`].

use super::message::{redact_address, redact_base64, redact_body, redact_header};
use super::text::Kind;
use super::{HIDDEN, json, names, text};
use crate::limits::Limits;
use baton_api::debug::{
    Answered, ConsoleEntry, ConsoleEvent, Failed, Finished, Headers, NetworkChange, NetworkEvent,
    Redirected, Requested, SocketEvent,
};
use serde_json::Value;
use std::fmt;

/// Something without secrets, and not too long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clean<T>(T);

/// What a tab shows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    /// The address.
    pub url: String,
    /// The title; empty when there is none.
    pub title: String,
}

impl<T> Clean<T> {
    /// The thing.
    pub fn get(&self) -> &T {
        &self.0
    }

    pub(crate) fn into_inner(self) -> T {
        self.0
    }
}

/// Something as it came, and not too long: with its secrets, for those who may see them.
#[derive(Clone, PartialEq, Eq)]
pub struct Revealed<T>(T);

impl<T> Revealed<T> {
    pub(crate) fn into_inner(self) -> T {
        self.0
    }
}

/// What is in it goes to no log.
impl<T> fmt::Debug for Revealed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Revealed(_)")
    }
}

/// What came while its secrets were hidden stays as it is.
impl<T> From<Clean<T>> for Revealed<T> {
    fn from(Clean(thing): Clean<T>) -> Self {
        Self(thing)
    }
}

/// How things are redacted.
struct Redactor<'a> {
    limits: &'a Limits,
    /// Whether secrets are hidden; what is too long is cut either way.
    hides: bool,
}

impl Redactor<'_> {
    fn event(&self, event: &mut NetworkEvent) {
        match &mut event.change {
            NetworkChange::Request(sent) => self.sent(sent),
            NetworkChange::Response(answer) => self.answered(answer),
            NetworkChange::Finished(end) => self.finished(end),
            NetworkChange::Failed(end) => self.failed(end),
            NetworkChange::Message(event) => self.message(event),
        }
    }

    fn sent(&self, sent: &mut Requested) {
        let mime = content_type(sent.headers.as_ref());
        self.body(&mut sent.body, &mut sent.body_truncated, &mut false, mime.as_deref());
        sent.url = self.address(&sent.url);
        self.headers(&mut sent.headers);
        self.addresses([&mut sent.frame, &mut sent.worker]);
        if let Some(Redirected { status_text, headers, .. }) = &mut sent.redirect_response {
            self.lines([status_text]);
            self.headers(headers);
        }
    }

    fn answered(&self, answer: &mut Answered) {
        self.headers(&mut answer.headers);
        self.lines([&mut answer.status_text, &mut answer.mime_type]);
        self.addresses([&mut answer.url]);
    }

    fn finished(&self, end: &mut Finished) {
        self.lines([&mut end.mime_type]);
        let mime = end.mime_type.as_deref();
        self.body(&mut end.body, &mut end.body_truncated, &mut end.body_base64, mime);
    }

    fn failed(&self, end: &mut Failed) {
        end.error = self.line(&end.error);
    }

    fn message(&self, event: &mut SocketEvent) {
        let message = &mut event.message;
        let mut payload = Some(std::mem::take(&mut message.payload));
        self.body(&mut payload, &mut message.payload_truncated, &mut message.binary, None);
        message.payload = payload.unwrap_or_default();
    }

    fn entry(&self, entry: &mut ConsoleEntry) {
        let most = self.limits.text_bytes;
        self.addresses([&mut entry.source, &mut entry.frame, &mut entry.worker]);
        let beside = if self.hides { beside_a_name(&entry.args) } else { Vec::new() };
        self.args(entry);
        let message = cut(std::mem::take(&mut entry.message), most, &mut entry.truncated);
        let mut message = self.prose(message);
        for secret in beside {
            message = message.replace(&secret, HIDDEN);
        }
        entry.message = cut(message, most, &mut entry.truncated);
        self.lines([&mut entry.stack_trace]);
    }

    /// What was given to the console, if it is not too much.
    fn args(&self, entry: &mut ConsoleEntry) {
        if self.hides {
            hide_beside_a_name(&mut entry.args);
        }
        let text = baton_session::json::text(&entry.args);
        let fits = text.len() <= self.limits.text_bytes;
        if self.hides && fits {
            let hidden = serde_json::from_str(&json::redact(&text, Kind::Prose)).ok();
            entry.truncated |= hidden.is_none();
            entry.args = hidden.unwrap_or_default();
        } else if !fits {
            (entry.truncated, entry.args) = (true, Vec::new());
        }
    }

    fn body(
        &self,
        body: &mut Option<String>,
        truncated: &mut bool,
        base64: &mut bool,
        mime: Option<&str>,
    ) {
        let Some(whole) = body.take() else { return };
        let most = self.limits.body_bytes;
        let whole = cut(whole, most, truncated);
        let (redacted, is_base64) = match (self.hides, *base64) {
            (false, is_base64) => (whole, is_base64),
            (true, true) => redact_base64(&whole, mime),
            (true, false) => (redact_body(&whole, mime), false),
        };
        *base64 = is_base64;
        *body = Some(cut(redacted, most, truncated));
    }

    fn headers(&self, all: &mut Option<Headers>) {
        let Some(headers) = all.take() else { return };
        let most = self.limits.text_bytes;
        let clean = headers.into_iter().take(self.limits.headers).map(|(name, value)| {
            let value = cut(value, most, &mut false);
            let value = if self.hides { redact_header(&name, &value) } else { value };
            (cut(name, most, &mut false), cut(value, most, &mut false))
        });
        *all = Some(clean.collect());
    }

    fn address(&self, url: &str) -> String {
        let most = self.limits.text_bytes;
        let url = cut(url.to_owned(), most, &mut false);
        if self.hides { cut(redact_address(&url), most, &mut false) } else { url }
    }

    fn addresses<const N: usize>(&self, urls: [&mut Option<String>; N]) {
        for url in urls.into_iter().flatten() {
            *url = self.address(url);
        }
    }

    fn line(&self, text: &str) -> String {
        let most = self.limits.text_bytes;
        let text = cut(text.to_owned(), most, &mut false);
        cut(self.prose(text), most, &mut false)
    }

    fn prose(&self, text: String) -> String {
        if self.hides { text::redact(&text, Kind::Prose).into_owned() } else { text }
    }

    fn lines<const N: usize>(&self, texts: [&mut Option<String>; N]) {
        for text in texts.into_iter().flatten() {
            *text = self.line(text);
        }
    }
}

fn content_type(headers: Option<&Headers>) -> Option<String> {
    let (_, mime) = headers?.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-type"))?;
    Some(mime.clone())
}

/// The beginning of a text, cut between two characters.
fn cut(mut text: String, most: usize, truncated: &mut bool) -> String {
    if text.len() > most {
        text.truncate(text.floor_char_boundary(most));
        *truncated = true;
    }
    text
}

/// What was written as `console.log("token", token)`.
fn beside_a_name(args: &[Value]) -> Vec<String> {
    let beside =
        args.windows(2).filter(|pair| is_name(&pair[0])).filter_map(|pair| pair[1].as_str());
    beside.filter(|text| !text.is_empty()).map(ToOwned::to_owned).collect()
}

fn hide_beside_a_name(args: &mut [Value]) {
    // Looked at before any is hidden: what is hidden itself may be the name of the next one.
    let names: Vec<bool> = args.iter().map(is_name).collect();
    for (arg, after_a_name) in args.iter_mut().skip(1).zip(names) {
        if after_a_name && arg.as_str().is_some_and(|text| !text.is_empty()) {
            *arg = HIDDEN.into();
        }
    }
}

fn is_name(arg: &Value) -> bool {
    let text = arg.as_str().unwrap_or_default().trim_end_matches([' ', ':', '=']);
    let fits = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ' ');
    (1..=40).contains(&text.len()) && text.chars().all(fits) && names::is_secret(text)
}

/// Makes both: `Clean` hides secrets, `Revealed` only cuts.
macro_rules! redacted {
    ($($kind:ident hides $hides:literal;)*) => {$(
        impl $kind<Page> {
            /// What a tab shows.
            pub fn page(page: &Page, limits: &Limits) -> Self {
                let redactor = Redactor { limits, hides: $hides };
                Self(Page { url: redactor.address(&page.url), title: redactor.line(&page.title) })
            }
        }

        impl $kind<NetworkEvent> {
            /// An event of a request.
            pub fn network(mut event: NetworkEvent, limits: &Limits) -> Self {
                Redactor { limits, hides: $hides }.event(&mut event);
                Self(event)
            }
        }

        impl $kind<ConsoleEvent> {
            /// A line of the console.
            pub fn console(mut event: ConsoleEvent, limits: &Limits) -> Self {
                Redactor { limits, hides: $hides }.entry(&mut event.entry);
                Self(event)
            }
        }
    )*};
}

redacted! {
    Clean hides true;
    Revealed hides false;
}
