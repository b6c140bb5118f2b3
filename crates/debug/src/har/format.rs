//! The objects of HAR 1.2, with what Chromium adds to them.

use serde::Serialize;

/// The archive.
#[derive(Debug, Serialize)]
pub struct Har {
    pub(super) log: Log,
}

#[derive(Debug, Serialize)]
pub(super) struct Log {
    pub(super) version: &'static str,
    pub(super) creator: Creator,
    pub(super) pages: Vec<Page>,
    pub(super) entries: Vec<Entry>,
}

#[derive(Debug, Serialize)]
pub(super) struct Creator {
    pub(super) name: &'static str,
    pub(super) version: &'static str,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Page {
    pub(super) started_date_time: String,
    pub(super) id: &'static str,
    pub(super) title: String,
    #[serde(rename = "pageTimings")]
    pub(super) timings: PageTimings,
}

#[derive(Debug, Serialize)]
pub(super) struct PageTimings {}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Entry {
    pub(super) pageref: &'static str,
    pub(super) started_date_time: String,
    pub(super) time: i64,
    pub(super) request: Request,
    pub(super) response: Response,
    pub(super) cache: Cache,
    pub(super) timings: Timings,
    #[serde(rename = "_resourceType", skip_serializing_if = "Option::is_none")]
    pub(super) resource_type: Option<&'static str>,
    #[serde(rename = "_webSocketMessages", skip_serializing_if = "Vec::is_empty")]
    pub(super) messages: Vec<Message>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Request {
    pub(super) method: String,
    pub(super) url: String,
    pub(super) http_version: String,
    pub(super) cookies: Vec<Pair>,
    pub(super) headers: Vec<Pair>,
    pub(super) query_string: Vec<Pair>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) post_data: Option<PostData>,
    pub(super) headers_size: i64,
    pub(super) body_size: i64,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PostData {
    pub(super) mime_type: String,
    pub(super) text: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Response {
    pub(super) status: u16,
    pub(super) status_text: String,
    pub(super) http_version: String,
    pub(super) cookies: Vec<Pair>,
    pub(super) headers: Vec<Pair>,
    pub(super) content: Content,
    #[serde(rename = "redirectURL")]
    pub(super) redirect_url: String,
    pub(super) headers_size: i64,
    pub(super) body_size: i64,
    #[serde(rename = "_error", skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Content {
    pub(super) size: i64,
    pub(super) mime_type: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) encoding: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) comment: Option<&'static str>,
}

#[derive(Debug, Serialize)]
pub(super) struct Cache {}

#[derive(Debug, Serialize)]
pub(super) struct Timings {
    pub(super) send: i64,
    pub(super) wait: i64,
    pub(super) receive: i64,
}

#[derive(Debug, Serialize)]
pub(super) struct Pair {
    pub(super) name: String,
    pub(super) value: String,
}

#[derive(Debug, Serialize)]
pub(super) struct Message {
    #[serde(rename = "type")]
    pub(super) way: &'static str,
    /// Seconds since 1970, as browsers write it.
    pub(super) time: f64,
    pub(super) opcode: u8,
    pub(super) data: String,
}
