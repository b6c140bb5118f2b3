//! Compares the environment that a page sees with the one that the snapshot wants.
//!
//! Viewport, time zone, locale and user agent are given to the browser at its launch, geolocation
//! by its keeper; here they are only read back.

use super::tabs::OpenTab;
use crate::frames;
use crate::script::{self, Script};
use baton_session::environment::Viewport;
use baton_session::receipt::{ItemKind, ReceiptItem, Verified};
use baton_session::{Environment, Receipt};
use serde::Deserialize;
use serde_json::json;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(5);

/// What `inspect.js` returns.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Seen {
    viewport: Viewport,
    timezone: String,
    locale: String,
    user_agent: String,
}

/// One line for each setting that the snapshot has.
pub(super) async fn verify(tabs: &[OpenTab<'_>], wanted: &Environment) -> Receipt {
    let seen = match tabs.first() {
        Some(tab) => look(tab).await,
        None => None,
    };
    let mut receipt = Receipt::default();
    let seen = seen.as_ref();
    let mut compare = |place: &str, wanted: Option<String>, found: Option<String>| {
        if let Some(wanted) = wanted {
            receipt.push(item(place, &wanted, found));
        }
    };
    let size = |viewport: Viewport| format!("{}x{}", viewport.width, viewport.height);
    compare("viewport", wanted.viewport.map(size), seen.map(|seen| size(seen.viewport)));
    compare("timezone", wanted.timezone.clone(), seen.map(|seen| seen.timezone.clone()));
    compare("locale", wanted.locale.clone(), seen.map(|seen| seen.locale.clone()));
    compare("user agent", wanted.user_agent.clone(), seen.map(|seen| seen.user_agent.clone()));
    compare("geolocation", wanted.geolocation.map(|_| String::new()), None);
    receipt
}

fn item(place: &str, wanted: &str, found: Option<String>) -> ReceiptItem {
    match found {
        Some(found) if found == wanted => ReceiptItem::restored(ItemKind::Environment, place),
        Some(found) => {
            let reason = format!("expected {wanted}, found {found}");
            ReceiptItem::rejected(ItemKind::Environment, place, reason)
        }
        None => ReceiptItem {
            verified: Verified::None,
            ..ReceiptItem::restored(ItemKind::Environment, place)
        },
    }
}

async fn look(tab: &OpenTab<'_>) -> Option<Seen> {
    let frame = frames::list(tab.session()).await.ok()?.into_iter().next()?;
    let world = script::world(tab.session(), &frame.id).await.ok()?;
    script::run(tab.session(), &world, Script::Inspect, &json!({}), LIMIT).await.ok()
}
