//! A look at what a node works with, from outside, for a doctor.

use crate::Config;
use crate::config::TlsFiles;
use crate::http::tls::{self, TlsError};
use crate::serve::open_store;
use baton_store::StoreError;

/// Opens the database as the node would, asks it a question and closes it again.
pub async fn database(config: &Config) -> Result<(), StoreError> {
    let store = open_store(config).await?;
    let answer = store.check().await;
    store.close().await;
    answer
}

/// Reads certificate and key as the node would.
pub fn certificate(files: &TlsFiles) -> Result<(), TlsError> {
    tls::load(files).map(drop)
}
