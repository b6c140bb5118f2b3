//! Shows the icon of the site that a session shows.

use crate::error::RuntimeError;
use crate::here::Runtime;
use crate::latest::latest;
use baton_browser::icon::redraw;
use baton_session::{Owner, PartKind, Site};
use baton_store::Snapshot;

/// The icon of the latest snapshot, a PNG.
pub async fn icon(
    context: &Runtime,
    owner: &Owner,
    reference: &str,
) -> Result<Vec<u8>, RuntimeError> {
    let session = context.find(owner, reference).await?;
    let icon = match latest(&context.store, session.id).await? {
        Some(found) => icon_of(context, owner, &found.snapshot).await?,
        None => None,
    };
    let (_, png) =
        icon.ok_or(RuntimeError::NoSnapshot { name: session.name, expected: "an icon" })?;
    Ok(png)
}

/// The icon in a snapshot, and whose it is. What lies there may have come from elsewhere, so it is drawn
/// anew, and what is no icon is none.
pub async fn icon_of(
    context: &Runtime,
    owner: &Owner,
    snapshot: &Snapshot,
) -> Result<Option<(Site, Vec<u8>)>, RuntimeError> {
    let Some(part) = snapshot.parts.iter().find(|part| part.kind == PartKind::Icon) else {
        return Ok(None);
    };
    let bytes = context.store.fetch_part(owner, part).await?.bytes;
    Ok(redraw(&bytes).map(|png| (Site::of_host(&part.name), png)))
}
