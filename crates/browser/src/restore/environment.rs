//! Compares the environment that a page sees with the one that the snapshot wants.
//!
//! Viewport, time zone, locale and user agent are given to the browser at its launch, geolocation
//! by its keeper, permissions by the settings of its profile; here they are only read back.

use super::PAGES_AT_ONCE;
use super::permissions::Seen as Told;
use super::tabs::OpenTab;
use crate::frames;
use crate::launch::expect_itself;
use crate::script::{self, Script};
use baton_session::environment::Viewport;
use baton_session::permission::origin_of;
use baton_session::receipt::{ItemKind, ReceiptItem, Verified};
use baton_session::{Environment, Receipt};
use futures_util::stream::{self, StreamExt};
use serde::Deserialize;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(5);
const USER_AGENT: &str = "user agent";

/// What `inspect.js` returns.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Seen {
    viewport: Viewport,
    timezone: String,
    locale: String,
    user_agent: String,
    url: String,
    permissions: BTreeMap<String, String>,
}

/// One line for each setting that the snapshot has, and what a tab of each site that it names sees of
/// its permissions. `version` is what the browser says of itself.
pub(super) async fn verify(
    tabs: &[OpenTab<'_>],
    wanted: &Environment,
    version: &str,
) -> (Receipt, Told) {
    let looks = witnesses(tabs, wanted).into_iter().map(|tab| look(tab, wanted));
    let looks: Vec<_> = looks.collect();
    let seen: Vec<_> = stream::iter(looks).buffered(PAGES_AT_ONCE).collect().await;
    let told = seen.iter().flatten();
    let told = told.filter_map(|seen| Some((origin_of(&seen.url)?, seen.permissions.clone())));
    let told = told.collect();
    (compare(seen.first().and_then(Option::as_ref), wanted, version), told)
}

/// The first tab, and of each site with permissions the first one that shows it.
fn witnesses<'a, 't>(tabs: &'a [OpenTab<'t>], wanted: &Environment) -> Vec<&'a OpenTab<'t>> {
    let mut origins: BTreeSet<&str> =
        wanted.permissions.iter().map(|permission| permission.origin.as_str()).collect();
    let mut is_witness = |at: usize, tab: &OpenTab<'_>| {
        let shows = origin_of(tab.url()).is_some_and(|origin| origins.remove(origin.as_str()));
        shows || at == 0
    };
    tabs.iter().enumerate().filter(|(at, tab)| is_witness(*at, tab)).map(|(_, tab)| tab).collect()
}

fn compare(seen: Option<&Seen>, wanted: &Environment, version: &str) -> Receipt {
    let mut receipt = Receipt::default();
    let mut compare = |place: &str, wanted: Option<String>, found: Option<String>| {
        if let Some(wanted) = wanted {
            let mut item = item(place, &wanted, found);
            if place == USER_AGENT && item.reason.is_none() {
                // It was taken along from another browser, or this one has become newer.
                let other = expect_itself(&wanted, version).err();
                item.reason = other.map(|other| other.to_string());
            }
            receipt.push(item);
        }
    };
    let size = |viewport: Viewport| format!("{}x{}", viewport.width, viewport.height);
    compare("viewport", wanted.viewport.map(size), seen.map(|seen| size(seen.viewport)));
    compare("timezone", wanted.timezone.clone(), seen.map(|seen| seen.timezone.clone()));
    compare("locale", wanted.locale.clone(), seen.map(|seen| seen.locale.clone()));
    compare(USER_AGENT, wanted.user_agent.clone(), seen.map(|seen| seen.user_agent.clone()));
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

async fn look(tab: &OpenTab<'_>, wanted: &Environment) -> Option<Seen> {
    let frame = frames::list(tab.session()).await.ok()?.into_iter().next()?;
    let world = script::world(tab.session(), &frame.id).await.ok()?;
    let by_name = json!({ "timezone": wanted.timezone });
    script::run(tab.session(), &world, Script::Inspect, &by_name, LIMIT).await.ok()
}
