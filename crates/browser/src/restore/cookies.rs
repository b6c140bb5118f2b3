//! Restores cookies: all at once, and read back one by one.

use super::ground::identity;
use super::stage::Stage;
use crate::cdp::CdpError;
use crate::cookies;
use baton_session::cookie::{Expiry, SourceScheme};
use baton_session::receipt::{ItemKind, ReceiptItem, Source};
use baton_session::{Cookie, Receipt, Site};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

/// Replaces the browser's cookies by those of the snapshot. They are cleared first: else a cookie
/// that was deleted since the profile's last write to disk would rise again. Those of the sites in
/// `of_disk` were read from the profile. In a profile that was compiled of the snapshot nothing can
/// rise again, and only what the browser did not take over is set.
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
    let mut found = Vec::new();
    let missing = if is_compiled {
        found = cookies::fetch(&browser).await?;
        missing(&valid, &found)
    } else {
        browser.call("Storage.clearCookies", json!({})).await?;
        valid.clone()
    };
    let refused = cookies::set(&browser, &missing).await?;
    let refused: BTreeMap<_, _> =
        refused.iter().map(|(cookie, reason)| (cookie.key(), reason.as_str())).collect();
    if !missing.is_empty() {
        found = cookies::fetch(&browser).await?;
    }
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

/// The cookies that the browser does not have as they are wanted.
fn missing(wanted: &[Cookie], found: &[Cookie]) -> Vec<Cookie> {
    let found: BTreeMap<_, _> = found.iter().map(|cookie| (identity(cookie), cookie)).collect();
    let has = |wanted: &&Cookie| {
        found.get(&identity(wanted)).is_some_and(|found| is_as_wanted(wanted, found))
    };
    wanted.iter().filter(|cookie| !has(cookie)).cloned().collect()
}

/// Whether a cookie is the one that is wanted, but for a scheme and a port that nobody knows.
fn is_as_wanted(wanted: &Cookie, found: &Cookie) -> bool {
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
