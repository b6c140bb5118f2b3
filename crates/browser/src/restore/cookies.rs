//! Restores cookies: all at once in the order in which they are sent, and read back one by one.

use super::ground::identity;
use super::stage::Stage;
use crate::cdp::CdpError;
use crate::cookies;
use baton_session::cookie::{Expiry, SourceScheme, order};
use baton_session::receipt::{ItemKind, ReceiptItem, Source};
use baton_session::{Cookie, Receipt, Site};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

/// Replaces the browser's cookies by those of the snapshot. They are cleared first: else a cookie
/// that was deleted since the profile's last write to disk would rise again. Those of the sites in
/// `of_disk` were read from the profile. In a profile that was compiled of the snapshot nothing can
/// rise again, and nothing is set where the browser took everything over.
pub(super) async fn restore(
    stage: &Stage,
    wanted: &[Cookie],
    now: Expiry,
    of_disk: &BTreeSet<Site>,
    is_compiled: bool,
) -> Result<Receipt, CdpError> {
    let browser = stage.browser();
    let mut receipt = Receipt::default();
    let mut valid = Vec::with_capacity(wanted.len());
    for cookie in wanted {
        match cookie.validate(now) {
            Ok(()) => valid.push(cookie.clone()),
            Err(reason) => receipt.push(rejected(cookie, reason)),
        }
    }
    order(&mut valid);
    let mut found = Vec::new();
    if is_compiled {
        found = cookies::fetch(&browser, None).await?.cookies;
    }
    // One that is set later is sent later, so where one is missing all are set again.
    let is_there = is_compiled && is_as_wanted(&valid, &mut found);
    let mut refused = Vec::new();
    if !is_there {
        browser.call("Storage.clearCookies", json!({})).await?;
        refused = cookies::set(&browser, &valid).await?;
        found = cookies::fetch(&browser, None).await?.cookies;
    }
    let refused: BTreeMap<_, _> =
        refused.iter().map(|(cookie, reason)| (cookie.key(), reason.as_str())).collect();
    let found: BTreeMap<_, _> = found.iter().map(|cookie| (identity(cookie), cookie)).collect();
    for cookie in &valid {
        let kept = found.get(&identity(cookie)).is_some_and(|found| found.value == cookie.value);
        receipt.push(match refused.get(&cookie.key()) {
            Some(reason) => rejected(cookie, reason),
            None if kept && of_disk.contains(&cookie.site()) => ReceiptItem {
                source: Source::Disk,
                ..ReceiptItem::restored(ItemKind::Cookie, place(cookie))
            },
            None if kept => ReceiptItem::restored(ItemKind::Cookie, place(cookie)),
            None => rejected(cookie, "expected the browser to keep it, found it gone"),
        });
    }
    Ok(receipt)
}

/// Whether the browser has those cookies, and would send them in their order.
fn is_as_wanted(wanted: &[Cookie], found: &mut [Cookie]) -> bool {
    order(found);
    let mut rest = found.iter();
    wanted.iter().all(|wanted| rest.any(|found| is_one(wanted, found)))
}

/// Whether a cookie is the one that is wanted, but for a scheme and a port that nobody knows.
fn is_one(wanted: &Cookie, found: &Cookie) -> bool {
    let mut found = found.clone();
    if wanted.source_scheme == SourceScheme::Unset {
        found.source_scheme = SourceScheme::Unset;
    }
    if wanted.source_port.is_none() {
        found.source_port = None;
    }
    found == *wanted
}

fn rejected(cookie: &Cookie, reason: impl std::fmt::Display) -> ReceiptItem {
    ReceiptItem::rejected(ItemKind::Cookie, place(cookie), reason)
}

fn place(cookie: &Cookie) -> String {
    let Cookie { name, domain, path, .. } = cookie;
    match &cookie.partition_key {
        Some(partition) => format!("{domain}{path} {name} (in {})", partition.top_level_site),
        None => format!("{domain}{path} {name}"),
    }
}
