//! Why a node did not start, or ended early.

use crate::auth::LocalKeyError;
use crate::cluster::ClusterError;
use crate::config::ConfigError;
use crate::http::DoorError;
use crate::page::PageError;
use baton_debug::token::SecretError;
use baton_net::tls::TlsError;
use baton_proxy::OutsideError;
use baton_runtime::live::LiveError;
use baton_store::StoreError;
use baton_store::data::DataError;
use baton_sync::identity::IdentityError;
use std::net::SocketAddr;

/// Why a node did not start, or ended early.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Its data folder cannot be used.
    #[error(transparent)]
    Data(#[from] DataError),
    /// Its database cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The secret of debug tabs cannot be used.
    #[error(transparent)]
    DebugSecret(#[from] SecretError),
    /// It cannot say who it is.
    #[error(transparent)]
    Identity(IdentityError),
    /// It cannot be one of its cluster.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    /// What was running could not be looked at.
    #[error("the sessions of the last run could not be looked at: {0}")]
    Recover(#[from] LiveError),
    /// Other machines could read along.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// TLS cannot be spoken as the settings say.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// Metrics cannot be served where the settings say.
    #[error("expected to serve metrics at {address}, found: {source}")]
    Metrics {
        /// Where.
        address: SocketAddr,
        /// Why not.
        source: std::io::Error,
    },
    /// The proxy cannot listen where the settings say.
    #[error("expected the proxy to listen at {address}, found: {source}")]
    Proxy {
        /// Where.
        address: SocketAddr,
        /// Why not.
        source: std::io::Error,
    },
    /// The listener failed.
    #[error("the listener failed: {0}")]
    Listener(#[from] std::io::Error),
}

impl From<DoorError> for ServeError {
    fn from(error: DoorError) -> Self {
        match error {
            DoorError::Tls(error) => error.into(),
            DoorError::Io(error) => error.into(),
        }
    }
}

impl From<PageError> for ServeError {
    fn from(error: PageError) -> Self {
        match error {
            PageError::Data(error) => error.into(),
            PageError::Store(error) => error.into(),
        }
    }
}

impl From<OutsideError> for ServeError {
    fn from(error: OutsideError) -> Self {
        match error {
            OutsideError::Tls(error) => error.into(),
            OutsideError::NotLoopback(error) => ConfigError::from(error).into(),
            OutsideError::Open(error) => ConfigError::from(error).into(),
        }
    }
}

impl From<IdentityError> for ServeError {
    fn from(error: IdentityError) -> Self {
        match error {
            IdentityError::Data(error) => error.into(),
            IdentityError::Store(error) => error.into(),
            damaged @ IdentityError::Damaged(_) => Self::Identity(damaged),
        }
    }
}

impl From<LocalKeyError> for ServeError {
    fn from(error: LocalKeyError) -> Self {
        match error {
            LocalKeyError::Data(error) => error.into(),
            LocalKeyError::Store(error) => error.into(),
        }
    }
}
