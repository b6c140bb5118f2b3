//! A tab as an HTTP Archive, version 1.2, as browsers and proxies read it.
//!
//! Types of our own: the format is small, and what Chromium adds to it (`_resourceType`,
//! `_webSocketMessages`, `_error`) has a place in them. Fields that we cannot know are there, with the
//! values that the format has for them: -1, an empty text or an empty list.

use super::tab::TabBuffer;
use baton_api::debug::{Direction, Headers, NetworkRequest, SocketMessage};
use serde::Serialize;
use url::Url;

/// The one page of an archive.
const PAGE: &str = "page_1";

/// The archive.
#[derive(Debug, Serialize)]
pub struct Har {
    log: Log,
}

#[derive(Debug, Serialize)]
struct Log {
    version: &'static str,
    creator: Creator,
    pages: Vec<HarPage>,
    entries: Vec<HarEntry>,
}

#[derive(Debug, Serialize)]
struct Creator {
    name: &'static str,
    version: &'static str,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct HarPage {
    started_date_time: String,
    id: &'static str,
    title: String,
    #[serde(rename = "pageTimings")]
    timings: PageTimings,
}

#[derive(Debug, Serialize)]
struct PageTimings {}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct HarEntry {
    pageref: &'static str,
    started_date_time: String,
    time: i64,
    request: Request,
    response: Response,
    cache: Cache,
    timings: Timings,
    #[serde(rename = "_resourceType", skip_serializing_if = "Option::is_none")]
    resource_type: Option<&'static str>,
    #[serde(rename = "_webSocketMessages", skip_serializing_if = "Vec::is_empty")]
    messages: Vec<Message>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Request {
    method: String,
    url: String,
    http_version: String,
    cookies: Vec<Pair>,
    headers: Vec<Pair>,
    query_string: Vec<Pair>,
    #[serde(skip_serializing_if = "Option::is_none")]
    post_data: Option<PostData>,
    headers_size: i64,
    body_size: i64,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct PostData {
    mime_type: String,
    text: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Response {
    status: u16,
    status_text: String,
    http_version: String,
    cookies: Vec<Pair>,
    headers: Vec<Pair>,
    content: Content,
    #[serde(rename = "redirectURL")]
    redirect_url: String,
    headers_size: i64,
    body_size: i64,
    #[serde(rename = "_error", skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Content {
    size: i64,
    mime_type: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    encoding: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    comment: Option<&'static str>,
}

#[derive(Debug, Serialize)]
struct Cache {}

#[derive(Debug, Serialize)]
struct Timings {
    send: i64,
    wait: i64,
    receive: i64,
}

#[derive(Debug, Serialize)]
struct Pair {
    name: String,
    value: String,
}

#[derive(Debug, Serialize)]
struct Message {
    #[serde(rename = "type")]
    way: &'static str,
    /// Seconds since 1970, as browsers write it.
    time: f64,
    opcode: u8,
    data: String,
}

/// What is kept of a tab as an archive.
pub fn har(tab: &TabBuffer) -> Har {
    let requests = tab.requests();
    let started = requests.iter().map(|request| request.timestamp).min().unwrap_or_default();
    let page = HarPage {
        started_date_time: started.to_string(),
        id: PAGE,
        title: if tab.page().title.is_empty() {
            tab.page().url.clone()
        } else {
            tab.page().title.clone()
        },
        timings: PageTimings {},
    };
    let creator = Creator { name: "Baton", version: env!("CARGO_PKG_VERSION") };
    let entries = requests.iter().map(|request| entry(request)).collect();
    Har { log: Log { version: "1.2", creator, pages: vec![page], entries } }
}

fn entry(request: &NetworkRequest) -> HarEntry {
    let time = request.duration_ms.map_or(0, signed);
    HarEntry {
        pageref: PAGE,
        started_date_time: request.timestamp.to_string(),
        time,
        request: sent(request),
        response: answer(request),
        cache: Cache {},
        // Only the whole is known.
        timings: Timings { send: 0, wait: time, receive: 0 },
        resource_type: request.resource_type.map(baton_api::debug::ResourceType::as_str),
        messages: request.messages.iter().map(message).collect(),
    }
}

fn sent(request: &NetworkRequest) -> Request {
    let post_data = request.request_body.as_ref().map(|body| PostData {
        mime_type: header(request.request_headers.as_ref(), "content-type"),
        text: body.clone(),
    });
    Request {
        method: request.method.clone(),
        url: request.url.clone(),
        http_version: String::new(),
        cookies: Vec::new(),
        headers: pairs(request.request_headers.as_ref()),
        query_string: query(&request.url),
        body_size: post_data.as_ref().map_or(0, |body| length(&body.text)),
        post_data,
        headers_size: -1,
    }
}

fn answer(request: &NetworkRequest) -> Response {
    let body = request.response_body.clone();
    let size = request.response_body_size.map(signed).or_else(|| body.as_deref().map(length));
    let content = Content {
        size: size.unwrap_or(0),
        mime_type: request.mime_type.clone().unwrap_or_default(),
        encoding: (body.is_some() && request.response_body_base64).then_some("base64"),
        text: body,
        comment: request.response_body_truncated.then_some("cut"),
    };
    Response {
        status: request.status.unwrap_or(0),
        status_text: request.status_text.clone().unwrap_or_default(),
        http_version: String::new(),
        cookies: Vec::new(),
        headers: pairs(request.response_headers.as_ref()),
        redirect_url: header(request.response_headers.as_ref(), "location"),
        content,
        headers_size: -1,
        body_size: request.transfer_size.map_or(-1, signed),
        error: request.error.clone(),
    }
}

fn message(message: &SocketMessage) -> Message {
    #[expect(clippy::cast_precision_loss, reason = "milliseconds until the year 9999 fit in f64")]
    let time = message.timestamp.get() as f64 / 1e3;
    Message {
        way: if message.direction == Direction::Sent { "send" } else { "receive" },
        time,
        opcode: if message.binary { 2 } else { 1 },
        data: message.payload.clone(),
    }
}

fn pairs(headers: Option<&Headers>) -> Vec<Pair> {
    let each = headers.into_iter().flatten();
    each.flat_map(|(name, value)| value.split('\n').map(move |value| (name, value)))
        .map(|(name, value)| Pair { name: name.clone(), value: value.to_owned() })
        .collect()
}

fn header(headers: Option<&Headers>, name: &str) -> String {
    let found = headers.into_iter().flatten().find(|(key, _)| key.eq_ignore_ascii_case(name));
    found.map(|(_, value)| value.clone()).unwrap_or_default()
}

fn query(url: &str) -> Vec<Pair> {
    let Ok(url) = Url::parse(url) else { return Vec::new() };
    let pair = |(name, value): (std::borrow::Cow<str>, std::borrow::Cow<str>)| Pair {
        name: name.into_owned(),
        value: value.into_owned(),
    };
    url.query_pairs().map(pair).collect()
}

fn length(text: &str) -> i64 {
    signed(text.len() as u64)
}

fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
