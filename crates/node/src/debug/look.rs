//! The operations of those who look into tabs. A caller sees the tabs of its owner only.

use super::ask::Found;
use super::har::Har;
use crate::auth::Caller;
use crate::{Context, NodeError};
use baton_api::debug::{
    ConsoleEntry, ConsoleFilters, NetworkFilters, NetworkRequest, TabList, TabToken,
};
use std::time::Duration;

/// The tabs that can be looked into, in the order in which they came.
pub async fn list_tabs(context: &Context, caller: &Caller) -> Result<TabList, NodeError> {
    Ok(TabList { tabs: context.bus.tabs(&caller.owner).await? })
}

/// The requests of a tab; when nothing fits, those that come within `wait`.
pub async fn network(
    context: &Context,
    caller: &Caller,
    token: &TabToken,
    filters: &NetworkFilters,
    wait: Duration,
) -> Result<Found<NetworkRequest>, NodeError> {
    Ok(context.bus.network(&caller.owner, token, filters, wait).await?)
}

/// The console of a tab; when nothing fits, the lines that come within `wait`.
pub async fn console(
    context: &Context,
    caller: &Caller,
    token: &TabToken,
    filters: &ConsoleFilters,
    wait: Duration,
) -> Result<Found<ConsoleEntry>, NodeError> {
    Ok(context.bus.console(&caller.owner, token, filters, wait).await?)
}

/// What is kept of a tab, as an archive.
pub async fn har(context: &Context, caller: &Caller, token: &TabToken) -> Result<Har, NodeError> {
    Ok(context.bus.har(&caller.owner, token).await?)
}
