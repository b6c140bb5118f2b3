//! Baton and its peers side by side: which kinds of state come back, and how long a restore takes.
//!
//! The one idea: everybody is measured in the same run, on the same machine, with the same browser and
//! the same site, and the site judges. The peers come from their registry, in versions that stand here.

mod driver;
mod kinds;
mod times;

use crate::report::{Section, Table};
use anyhow::Result;
use driver::Peers;
use std::path::Path;

/// Measures Baton, Playwright and agent-browser; what cannot be installed is left out, and it is said.
pub async fn measure(baton: &Path) -> Result<Vec<Section>> {
    let peers = Peers::install().await;
    if let Err(reason) = &peers {
        println!("the peers are left out: {reason:#}");
    }
    let left_out =
        peers.as_ref().err().map(|reason| format!(" The peers are left out: {reason:#}."));
    let peers = peers.ok();
    let mut sections = [
        kinds::measure(baton, peers.as_ref()).await?,
        times::measure(baton, peers.as_ref()).await?,
    ];
    for section in &mut sections {
        section.method.push_str(left_out.as_deref().unwrap_or_default());
    }
    Ok(sections.into())
}

/// Where a session is resumed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Disk {
    /// With the profile that the killed browser left behind.
    Same,
    /// Without any profile, as on another machine.
    Fresh,
}

/// A section that holds a table alone.
fn section(title: &'static str, method: String, table: Table) -> Section {
    Section {
        title,
        method,
        comparisons: Vec::new(),
        figures: Vec::new(),
        medians: Vec::new(),
        tables: vec![table],
    }
}
