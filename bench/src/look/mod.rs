//! What looking into tabs costs: the proxy that marks pages, and the relay that brings events.

mod browser;
mod proxy;
mod relay;

use crate::report::Section;
use anyhow::Result;
use std::path::Path;

/// Measures the proxy against nginx, and the relay from a browser to a follower.
pub async fn measure(baton: &Path) -> Result<Vec<Section>> {
    Ok(vec![proxy::measure(baton).await?, relay::measure(baton).await?])
}
