//! Compression: of answers, for clients that say that they take it, and of bodies that may be long. The page
//! of routes says where.
//!
//! What was considered is that the length of a compressed answer tells how much of it is there twice. Who
//! reads along and may also write into it, guess by guess, learns a secret that is in it
//! ([BREACH](https://www.breachattack.com)). In a session they are side by side: a page that a person visits
//! chooses its title and writes into its storage whatever it likes, and next to it lie the logins of all
//! others, and addresses with tokens in them. So nothing that shows what a session holds is compressed, nor
//! what gives out keys and tickets: only lists, which hold names, times, sizes and hashes, and the document
//! of the API.
//!
//! Answers between nodes are sealed and signed as they are; what is in them was compressed before.

use axum::body::{Body, HttpBody};
use axum::http::header::CONTENT_TYPE;
use axum::http::{Request, Response};
use tower::util::MapRequestLayer;
use tower_http::compression::{CompressionLayer, Predicate};
use tower_http::decompression::{DecompressionBody, RequestDecompressionLayer};

/// An answer shorter than this is sent in one packet anyway.
const LEAST: u64 = 1024;

/// The layer for routes whose answers are lists that show no secret.
pub(super) fn answers() -> CompressionLayer<Plain> {
    CompressionLayer::new().compress_when(Plain)
}

/// The layer for routes that take long bodies: those may come as gzip or zstd. The bound of the route is
/// that of the body as it was before.
pub(super) fn bodies() -> (RequestDecompressionLayer, MapRequestLayer<AsBody>) {
    (RequestDecompressionLayer::new(), MapRequestLayer::new(as_body))
}

/// Makes a body that was unpacked one like all others.
type AsBody = fn(Request<DecompressionBody<Body>>) -> Request<Body>;

fn as_body(request: Request<DecompressionBody<Body>>) -> Request<Body> {
    request.map(Body::new)
}

/// Answers in JSON; what is sealed is none.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plain;

impl Predicate for Plain {
    fn should_compress<B: HttpBody>(&self, response: &Response<B>) -> bool {
        let is_json =
            response.headers().get(CONTENT_TYPE).is_some_and(|it| it == "application/json");
        is_json && response.body().size_hint().lower() >= LEAST
    }
}
