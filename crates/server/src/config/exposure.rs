//! The two files that TLS takes, as settings name them.

use super::error::ConfigError;
use baton_net::tls::TlsFiles;
use std::path::PathBuf;

/// Both files, or none.
pub(super) fn both_files(
    certificate: Option<PathBuf>,
    key: Option<PathBuf>,
) -> Result<Option<TlsFiles>, ConfigError> {
    match (certificate, key) {
        (Some(certificate), Some(key)) => Ok(Some(TlsFiles { certificate, key })),
        (None, None) => Ok(None),
        (Some(_), None) => Err(ConfigError::HalfTls { found: "server.tls.certificate" }),
        (None, Some(_)) => Err(ConfigError::HalfTls { found: "server.tls.key" }),
    }
}
