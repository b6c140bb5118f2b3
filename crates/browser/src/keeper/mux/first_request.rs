//! The first request of a page, whose client hints are made right.
//!
//! The browser writes the client hints of a page's first request when it makes the page, before anybody can
//! say what they are to be: one that a link opens in a tab of its own, for example. The user agent it writes
//! later. So the keeper looks at that request, once, and at no other.

use super::Mux;
use crate::cdp::quoted;
use baton_session::identity::UserAgentMetadata;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What is read of `Fetch.requestPaused`.
#[derive(Deserialize)]
struct UnsentRequest<'a> {
    #[serde(rename = "requestId", borrow)]
    id: std::borrow::Cow<'a, str>,
    #[serde(default)]
    request: RequestHeaders,
}

#[derive(Default, Deserialize)]
struct RequestHeaders {
    #[serde(default)]
    headers: BTreeMap<String, String>,
}

impl Mux {
    /// The client hints of the prelude.
    pub(super) fn hints(&self) -> Option<UserAgentMetadata> {
        let hints =
            |params: &Value| UserAgentMetadata::deserialize(params.get("userAgentMetadata")?).ok();
        self.setup.prelude.iter().find_map(|call| hints(&call.params))
    }

    pub(super) fn first_request(&mut self, page: &str, params: Option<&RawValue>) {
        let paused =
            params.and_then(|raw| serde_json::from_str::<UnsentRequest<'_>>(raw.get()).ok());
        if let Some(UnsentRequest { id, request }) = paused {
            let headers = self.hints().and_then(|hints| corrected(&request.headers, &hints));
            let headers = headers.map(|headers| format!(",\"headers\":{headers}"));
            let call = format!("{{\"requestId\":{}{}}}", quoted(&id), headers.unwrap_or_default());
            self.send_own(Some(page), "Fetch.continueRequest", &call);
        }
        self.watch_no_first(page);
    }
}

/// The headers with the hints that they should have; none when they have them.
fn corrected(headers: &BTreeMap<String, String>, hints: &UserAgentMetadata) -> Option<Value> {
    let right = |name: &str| hints.header(&name.to_ascii_lowercase());
    let is_wrong =
        |(name, value): (&String, &String)| right(name).is_some_and(|right| right != *value);
    headers.iter().any(is_wrong).then(|| {
        let all = headers.iter().map(|(name, value)| {
            json!({ "name": name, "value": right(name).unwrap_or_else(|| value.clone()) })
        });
        all.collect()
    })
}
