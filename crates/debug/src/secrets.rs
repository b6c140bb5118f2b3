//! Secrets: hidden before anything is kept, and every text is cut to a bound.
//!
//! The one idea: what is not [`Clean`] cannot be kept, and only this file makes things clean, by the one
//! [`Redactor`] that the session of a tab has. What is [`Revealed`] is kept beside it, where no caller looks
//! who may not, and only of a tab of which a caller asked for it. Whatever is too long is cut first, so that
//! the work is bounded too.

use crate::limits::Limits;
use baton_api::debug::{
    Answered, ConsoleEntry, ConsoleEvent, Failed, Finished, Headers, NetworkChange, NetworkEvent,
    Redirected, Requested, SocketEvent,
};
use baton_redaction::{HIDDEN, Redactor};
use std::fmt;
use std::mem;

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

/// Cuts the texts of an event, and hides what is secret in them.
struct Cleaner<'a> {
    limits: &'a Limits,
    /// Hides secrets; none where they are kept.
    redactor: Option<&'a mut Redactor>,
}

// The headers of a message come first: what they show as a secret is one in its address and its body too.
impl Cleaner<'_> {
    fn event(&mut self, event: &mut NetworkEvent) {
        match &mut event.change {
            NetworkChange::Request(sent) => self.sent(sent),
            NetworkChange::Response(answer) => self.answered(answer),
            NetworkChange::Finished(end) => self.finished(end),
            NetworkChange::Failed(end) => self.failed(end),
            NetworkChange::Message(event) => self.message(event),
        }
    }

    fn sent(&mut self, sent: &mut Requested) {
        let mime = content_type(sent.headers.as_ref());
        if let Some(Redirected { status_text, headers, .. }) = &mut sent.redirect_response {
            self.headers(headers);
            self.lines([status_text]);
        }
        self.headers(&mut sent.headers);
        sent.url = self.address(&sent.url);
        self.body(&mut sent.body, &mut sent.body_truncated, &mut false, mime.as_deref());
        self.addresses([&mut sent.frame, &mut sent.worker]);
    }

    fn answered(&mut self, answer: &mut Answered) {
        self.headers(&mut answer.headers);
        self.lines([&mut answer.status_text, &mut answer.mime_type]);
        self.addresses([&mut answer.url]);
    }

    fn finished(&mut self, end: &mut Finished) {
        self.lines([&mut end.mime_type]);
        let mime = end.mime_type.as_deref();
        self.body(&mut end.body, &mut end.body_truncated, &mut end.body_base64, mime);
    }

    fn failed(&mut self, end: &mut Failed) {
        end.error = self.line(&end.error);
    }

    fn message(&mut self, event: &mut SocketEvent) {
        let message = &mut event.message;
        let payload = mem::take(&mut message.payload);
        if message.binary {
            let mut payload = Some(payload);
            self.body(&mut payload, &mut message.payload_truncated, &mut message.binary, None);
            message.payload = payload.unwrap_or_default();
            return;
        }
        let most = self.limits.body_bytes;
        let payload = cut(payload, most, &mut message.payload_truncated);
        message.payload = match &mut self.redactor {
            None => payload,
            Some(redactor) => {
                let connection = format!("{} {:?}", event.request_id, message.direction);
                let redacted = redactor.socket(&connection, &payload);
                cut(redacted, most, &mut message.payload_truncated)
            }
        };
    }

    /// What was given to the console, if it is not too much, and the line that it made.
    fn entry(&mut self, entry: &mut ConsoleEntry) {
        let most = self.limits.text_bytes;
        self.addresses([&mut entry.source, &mut entry.frame, &mut entry.worker]);
        let message = cut(mem::take(&mut entry.message), most, &mut entry.truncated);
        let args = baton_session::json::text(&entry.args);
        let fits = args.len() <= most;
        if !fits {
            (entry.truncated, entry.args) = (true, Vec::new());
        }
        entry.message = match &mut self.redactor {
            None => message,
            Some(redactor) => {
                let (args, message) = redactor.console(if fits { &args } else { "[]" }, &message);
                let hidden = serde_json::from_str(&args).ok();
                entry.truncated |= hidden.is_none();
                entry.args = hidden.unwrap_or_default();
                cut(message, most, &mut entry.truncated)
            }
        };
        self.lines([&mut entry.stack_trace]);
    }

    fn body(
        &mut self,
        body: &mut Option<String>,
        truncated: &mut bool,
        base64: &mut bool,
        mime: Option<&str>,
    ) {
        let Some(whole) = body.take() else { return };
        let most = self.limits.body_bytes;
        let whole = cut(whole, most, truncated);
        let (redacted, is_base64) = match (&mut self.redactor, *base64) {
            (None, is_base64) => (whole, is_base64),
            (Some(redactor), true) => redactor.base64(&whole, mime),
            (Some(redactor), false) => (redactor.body(&whole, mime), false),
        };
        *base64 = is_base64;
        *body = Some(cut(redacted, most, truncated));
    }

    fn headers(&mut self, all: &mut Option<Headers>) {
        let Some(headers) = all.take() else { return };
        let most = self.limits.text_bytes;
        let clean = headers.into_iter().take(self.limits.headers).map(|(name, value)| {
            let value = cut(value, most, &mut false);
            let value = match &mut self.redactor {
                Some(redactor) => redactor.header(&name, &value),
                None => value,
            };
            (cut(name, most, &mut false), cut(value, most, &mut false))
        });
        *all = Some(clean.collect());
    }

    fn address(&mut self, url: &str) -> String {
        let most = self.limits.text_bytes;
        let mut is_cut = false;
        let url = cut(url.to_owned(), most, &mut is_cut);
        match &mut self.redactor {
            // What is before its host, a password too, is known by what is behind that.
            Some(_) if is_cut && !has_whole_host(&url) => HIDDEN.to_owned(),
            Some(redactor) => cut(redactor.address(&url), most, &mut false),
            None => url,
        }
    }

    fn addresses<const N: usize>(&mut self, urls: [&mut Option<String>; N]) {
        for url in urls.into_iter().flatten() {
            *url = self.address(url);
        }
    }

    fn line(&mut self, text: &str) -> String {
        let most = self.limits.text_bytes;
        let text = cut(text.to_owned(), most, &mut false);
        match &mut self.redactor {
            Some(redactor) => cut(redactor.line(&text), most, &mut false),
            None => text,
        }
    }

    fn lines<const N: usize>(&mut self, texts: [&mut Option<String>; N]) {
        for text in texts.into_iter().flatten() {
            *text = self.line(text);
        }
    }
}

fn content_type(headers: Option<&Headers>) -> Option<String> {
    let (_, mime) = headers?.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-type"))?;
    Some(mime.clone())
}

/// Whether the beginning of an address goes on behind its host.
fn has_whole_host(url: &str) -> bool {
    let named = url.split_once("//").filter(|(scheme, _)| !scheme.contains('/'));
    named.is_none_or(|(_, behind)| behind.contains(['/', '\\', '?', '#']))
}

/// The beginning of a text, cut between two characters.
fn cut(mut text: String, most: usize, truncated: &mut bool) -> String {
    if text.len() > most {
        text.truncate(text.floor_char_boundary(most));
        *truncated = true;
    }
    text
}

impl Cleaner<'_> {
    fn page(&mut self, page: &Page) -> Page {
        Page { url: self.address(&page.url), title: self.line(&page.title) }
    }
}

impl Clean<Page> {
    /// What a tab shows.
    pub fn page(page: &Page, limits: &Limits, redactor: &mut Redactor) -> Self {
        Self(Cleaner { limits, redactor: Some(redactor) }.page(page))
    }
}

impl Clean<NetworkEvent> {
    /// An event of a request.
    pub fn network(mut event: NetworkEvent, limits: &Limits, redactor: &mut Redactor) -> Self {
        Cleaner { limits, redactor: Some(redactor) }.event(&mut event);
        Self(event)
    }
}

impl Clean<ConsoleEvent> {
    /// A line of the console.
    pub fn console(mut event: ConsoleEvent, limits: &Limits, redactor: &mut Redactor) -> Self {
        Cleaner { limits, redactor: Some(redactor) }.entry(&mut event.entry);
        Self(event)
    }
}

impl Revealed<Page> {
    /// What a tab shows.
    pub fn page(page: &Page, limits: &Limits) -> Self {
        Self(Cleaner { limits, redactor: None }.page(page))
    }
}

impl Revealed<NetworkEvent> {
    /// An event of a request.
    pub fn network(mut event: NetworkEvent, limits: &Limits) -> Self {
        Cleaner { limits, redactor: None }.event(&mut event);
        Self(event)
    }
}

impl Revealed<ConsoleEvent> {
    /// A line of the console.
    pub fn console(mut event: ConsoleEvent, limits: &Limits) -> Self {
        Cleaner { limits, redactor: None }.entry(&mut event.entry);
        Self(event)
    }
}
