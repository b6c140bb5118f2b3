//! What the browser tells of documents: that one was answered, and that a page or a frame shows it.

use serde::Deserialize;
use serde_json::value::RawValue;

/// Answers that a page does not show: it stays, or goes elsewhere (RFC 9110, 15).
const SHOWN_BY_NO_PAGE: [u16; 7] = [204, 205, 301, 302, 303, 307, 308];

/// What is read of `Fetch.requestPaused`, of a document that was answered.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PausedDocument {
    #[serde(rename = "requestId")]
    pub(super) id: String,
    pub(super) request: DocumentRequest,
    #[serde(default)]
    pub(super) frame_id: String,
    response_status_code: Option<u16>,
    response_error_reason: Option<String>,
    #[serde(default)]
    response_headers: Vec<Header>,
}

#[derive(Debug, Deserialize)]
pub(super) struct DocumentRequest {
    pub(super) url: String,
}

#[derive(Debug, Deserialize)]
struct Header {
    name: String,
    value: String,
}

impl PausedDocument {
    /// None of what was only asked for.
    pub(super) fn read(params: Option<&RawValue>) -> Option<Self> {
        let read: Self = serde_json::from_str(params?.get()).ok()?;
        let is_answered =
            read.response_status_code.is_some() || read.response_error_reason.is_some();
        is_answered.then_some(read)
    }

    pub(super) fn is_shown(&self) -> bool {
        let is_download = |header: &Header| {
            header.name.eq_ignore_ascii_case("content-disposition")
                && header.value.trim_start().to_ascii_lowercase().starts_with("attachment")
        };
        self.response_status_code.is_some_and(|status| !SHOWN_BY_NO_PAGE.contains(&status))
            && !self.response_headers.iter().any(is_download)
    }
}

/// What is read of `Page.frameNavigated`.
#[derive(Deserialize)]
pub(super) struct PageNavigation {
    pub(super) frame: PageFrame,
}

#[derive(Deserialize)]
pub(super) struct PageFrame {
    pub(super) id: String,
    pub(super) url: String,
}

/// The identifier of a script that the browser has added; none where it has not.
pub(super) fn added_script(result: Option<&RawValue>) -> Option<String> {
    #[derive(Deserialize)]
    struct AddedScript {
        identifier: String,
    }
    let added: AddedScript = serde_json::from_str(result?.get()).ok()?;
    Some(added.identifier)
}

/// What is read of `Debugger.paused`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StoppedPage {
    #[serde(default)]
    call_frames: Vec<StoppedCall>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StoppedCall {
    call_frame_id: String,
    function_name: String,
}

impl StoppedPage {
    /// Where it stands, if that is in a function of this name.
    pub(super) fn at(self, name: &str) -> Option<String> {
        let innermost = self.call_frames.into_iter().next()?;
        (innermost.function_name == name).then_some(innermost.call_frame_id)
    }
}

/// What is read of `Page.frameDetached`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DetachedFrame {
    pub(super) frame_id: String,
    /// `swap` where it goes on in another process.
    #[serde(default)]
    pub(super) reason: String,
}
