//! Finds the running node of a data folder.

use anyhow::Context as _;
use baton_api::{Client, ClientError};
use baton_node::DataFolder;
use baton_node::data::{DataError, NodeFile};
use std::time::Duration;

/// How long a node may take to say that it lives.
const HEALTH_LIMIT: Duration = Duration::from_secs(5);

/// A node that answers.
#[derive(Debug)]
pub(crate) struct Found {
    /// Asks it.
    pub(crate) client: Client,
}

/// The node of this data folder; `None` when none runs. A file left behind by a dead node, or a
/// port that another program took over, is no node.
pub(crate) async fn find(data: &DataFolder) -> anyhow::Result<Option<Found>> {
    let file = match NodeFile::read(data) {
        Ok(Some(file)) => file,
        Ok(None) | Err(DataError::NotANodeFile { .. }) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let path = data.admin_key();
    let key = match std::fs::read_to_string(&path) {
        Ok(key) => key,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => {
            return Err(error).with_context(|| format!("could not read {}", path.display()));
        }
    };
    let client = Client::new(file.url.clone(), key.trim().into())?;
    match tokio::time::timeout(HEALTH_LIMIT, client.health()).await {
        Ok(Ok(health)) if health.node_id == file.node_id => Ok(Some(Found { client })),
        Ok(Err(error @ ClientError::NotBuilt(_))) => Err(error.into()),
        _ => Ok(None),
    }
}
