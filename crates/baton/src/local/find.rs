//! Finds the running node of a data folder.

use anyhow::Context as _;
use baton_api::{Client, ClientError};
use baton_server::inspect;
use baton_store::data::DataFolder;
use baton_store::data::{DataError, NodeFile};
use std::path::PathBuf;
use std::time::Duration;
use url::Url;

/// How long a node may take to say that it lives.
const HEALTH_LIMIT: Duration = Duration::from_secs(5);

/// A node that answers.
#[derive(Debug)]
pub(crate) struct Found {
    /// Asks it.
    pub(crate) client: Client,
}

/// A node answers under the id of this folder, and does not hold it.
#[derive(Debug, thiserror::Error)]
#[error(
    "expected the node at {url} to work on {}, found that it has the same id and works on another \
     folder: one of the two is a copy\nremove node.json and node.id from the copy; to copy a node, \
     use baton backup and baton restore", data.display()
)]
pub(crate) struct Elsewhere {
    url: Url,
    data: PathBuf,
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
    if !answers(&client, &file).await? {
        return Ok(None);
    }
    // A node that is ending gives up its folder, and then does not answer any more.
    if !inspect::is_held(data) && answers(&client, &file).await? {
        return Err(Elsewhere { url: file.url, data: data.path().to_owned() }.into());
    }
    Ok(Some(Found { client }))
}

/// Whether `client` asks the node that holds this folder now. The port of a node that has ended may be
/// anybody's, and must not hear the key.
pub(crate) fn is_current(data: &DataFolder, client: &Client) -> bool {
    let file = NodeFile::read(data).ok().flatten();
    file.is_some_and(|file| file.url == *client.base()) && inspect::is_held(data)
}

async fn answers(client: &Client, file: &NodeFile) -> anyhow::Result<bool> {
    match tokio::time::timeout(HEALTH_LIMIT, client.health()).await {
        Ok(Ok(health)) => Ok(health.node_id == file.node_id),
        Ok(Err(error @ ClientError::NotBuilt(_))) => Err(error.into()),
        _ => Ok(false),
    }
}
