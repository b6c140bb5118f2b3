//! Why nobody elsewhere was asked, as an error of what moves.

use super::error::SyncError;
use baton_net::WayError;

impl From<WayError> for SyncError {
    fn from(error: WayError) -> Self {
        match error {
            WayError::AddressNotAllowed { found } => Self::AddressNotAllowed { found },
            WayError::NoClient { url, why } => Self::NotANode { url, why },
            WayError::NotAKey => Self::NotAKey,
        }
    }
}
