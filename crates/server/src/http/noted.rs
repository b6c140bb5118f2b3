//! Notes what was refused of the exchange with other nodes, when no operation has noted it.
//!
//! An id that is none, parts that are not what they are said to be, a body that is too large: whoever
//! sends such a thing to a node that others trust is to be found in its audit log.

use crate::context::Context;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use baton_api::{ErrorCode, Problem};
use baton_runtime::audit::{Action, Note, watch};

/// The layer: what a known key was refused below `/sync/` is noted.
pub(super) async fn note_refusals(
    State(context): State<Context>,
    request: Request,
    next: Next,
) -> Response {
    if !request.uri().path().starts_with("/sync/") {
        return next.run(request).await;
    }
    let subject = format!("{} {}", request.method(), request.uri().path());
    let (response, unnoted) = watch(next.run(request)).await;
    if let Some((actor, owner)) = unnoted
        && let Some(Problem { code, .. }) = response.extensions().get()
        && is_noted(*code)
    {
        let note = Note::new(&actor, &owner, Action::Request, subject);
        note.refused(&context.store, *code).await;
    }
    response
}

/// Whether something is wrong with what was sent. That something is not there, is not so any more or is
/// asked too often says nothing of whoever asks, and would only fill the log.
fn is_noted(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::Forbidden
            | ErrorCode::Untrusted
            | ErrorCode::RevisionRefused
            | ErrorCode::InvalidJson
            | ErrorCode::InvalidRequest
            | ErrorCode::UnsupportedMediaType
            | ErrorCode::BodyTooLarge
            | ErrorCode::StorageFull
            | ErrorCode::AddressNotAllowed
    )
}
