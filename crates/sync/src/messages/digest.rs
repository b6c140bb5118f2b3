//! The digest of a body (RFC 9530), of an empty one too.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// What `Content-Digest` says of `body`.
pub(super) fn content_digest(body: &[u8]) -> String {
    format!("sha-256=:{}:", STANDARD.encode(Sha256::digest(body)))
}

#[cfg(test)]
mod tests {
    use super::content_digest;

    #[test]
    fn the_digest_is_that_of_the_standard() {
        // RFC 9530, appendix B.1.
        let digest = content_digest(b"{\"hello\": \"world\"}\n");
        assert_eq!(digest, "sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:");
        let empty = content_digest(b"");
        assert_eq!(empty, "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:");
    }
}
