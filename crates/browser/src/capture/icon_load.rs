//! Fetches an icon as the browser does for itself.
//!
//! The one idea: the browser collects all of what it fetches before it answers, and a call that nobody
//! waits for does not end that; the end of the session does in which it was asked. So each fetch has a
//! session of its own, which ends with the wait for it.

use crate::cdp::CdpSession;
use crate::targets::{self, TargetId};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use std::pin::pin;
use std::time::Duration;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use url::Url;

/// The largest icon that is looked at, in bytes.
pub(super) const BYTES_MAX: usize = 64 << 10;
/// How long the browser may fetch. It keeps all that comes in this time, and ends when that is more than
/// about 1 GiB; only a site nearby can send so much.
const FETCH_LIMIT: Duration = Duration::from_secs(1);

/// What the browser gets at an address, for the page of a tab; none when that is no answer or too much.
/// The browser fetches no more of it once this is dropped.
pub(super) async fn load(page: &CdpSession, tab: &str, address: &Url) -> Option<Vec<u8>> {
    let end = CancellationToken::new();
    let _ends_the_fetch = end.clone().drop_guard();
    // In a task of its own, which puts all in order also when nobody waits for it any more.
    let fetching = fetch(page.clone(), TargetId::new(tab), address.clone(), end);
    tokio::spawn(fetching).await.ok()??.read().await
}

/// Asks for what is at an address, until `end`.
async fn fetch(
    page: CdpSession,
    tab: TargetId,
    address: Url,
    end: CancellationToken,
) -> Option<Stream> {
    let aside = targets::attach(&page, &tab).await;
    let aside = aside.inspect_err(|error| tracing::debug!(%error, "no icon")).ok()?;
    let options = json!({ "disableCache": false, "includeCredentials": false });
    let params = json!({ "frameId": tab, "url": address, "options": options });
    let mut loading = pin!(aside.call("Network.loadNetworkResource", params));
    let answer = end.run_until_cancelled(timeout(FETCH_LIMIT, &mut loading)).await;
    page.post("Target.detachFromTarget", json!({ "sessionId": aside.id() }));
    let answer = match answer {
        Some(Ok(answer)) => answer,
        // The call ends with its session. What was answered just before that is to be closed.
        Some(Err(_)) | None => loading.await,
    };
    let answer = answer.inspect_err(|error| tracing::debug!(%error, "no icon")).ok()?;
    let resource = &answer["resource"];
    let handle = resource["stream"].as_str()?.to_owned();
    let stream = Stream { page, handle };
    (resource["httpStatusCode"] == 200).then_some(stream)
}

/// Bytes that the browser holds for the page until this is dropped.
struct Stream {
    page: CdpSession,
    handle: String,
}

impl Stream {
    /// All of it; none when it is too much.
    async fn read(&self) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        let params = json!({ "handle": self.handle, "size": BYTES_MAX });
        while bytes.len() <= BYTES_MAX {
            let answer = self.page.call("IO.read", &params).await.ok()?;
            let data = answer["data"].as_str().unwrap_or_default();
            if answer["base64Encoded"] == true {
                bytes.extend(STANDARD.decode(data).ok()?);
            } else {
                bytes.extend_from_slice(data.as_bytes());
            }
            if answer["eof"] == true {
                return Some(bytes);
            }
        }
        None
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.page.post("IO.close", json!({ "handle": self.handle }));
    }
}
