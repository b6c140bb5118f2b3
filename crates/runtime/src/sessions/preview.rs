//! Shows the preview of the latest snapshot of a session.

use crate::error::RuntimeError;
use crate::here::Runtime;
use crate::latest::latest;
use baton_session::{Owner, PartKind};

/// The preview of the latest snapshot, a PNG.
pub async fn preview(
    context: &Runtime,
    owner: &Owner,
    reference: &str,
) -> Result<Vec<u8>, RuntimeError> {
    let session = context.find(owner, reference).await?;
    let found = latest(&context.store, session.id).await?;
    let part = found
        .iter()
        .flat_map(|found| &found.snapshot.parts)
        .find(|part| part.kind == PartKind::Preview);
    match part {
        Some(part) => Ok(context.store.fetch_part(owner, part).await?.bytes),
        None => Err(RuntimeError::NoSnapshot { name: session.name, expected: "a preview" }),
    }
}
