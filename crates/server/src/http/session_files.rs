//! The files of a session over HTTP.

use super::answer::{Answer, answer};
use super::request::Path;
use crate::auth::Drive;
use crate::context::Context;
use crate::ingress::Refusal;
use axum::body::Body;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE};
use axum::response::IntoResponse;
use baton_api::{Problem, SessionFile, SessionFiles};
use baton_runtime::sessions;
use tokio::io::AsyncReadExt;
use tokio_util::io::ReaderStream;

/// The files of a session: what its browser uploads from, and downloads to.
#[utoipa::path(
    get, path = "/sessions/{id}/files", tag = "sessions", security(("api_key" = [])),
    params(("id" = String, Path)),
    responses((status = 200, body = SessionFiles), (status = "4XX", body = Problem))
)]
pub(super) async fn list(
    State(context): State<Context>,
    Drive(caller): Drive,
    Path(id): Path<String>,
) -> Answer<SessionFiles> {
    answer(sessions::files(&context, &caller, &id).await?).await
}

/// A file of a session.
#[utoipa::path(
    get, path = "/sessions/{id}/files/{name}", tag = "sessions", security(("api_key" = [])),
    params(("id" = String, Path), ("name" = String, Path)),
    responses(
        (status = 200, description = "The file", content_type = "application/octet-stream", body = Vec<u8>),
        (status = "4XX", body = Problem)
    )
)]
pub(super) async fn get(
    State(context): State<Context>,
    Drive(caller): Drive,
    Path((id, name)): Path<(String, String)>,
) -> Result<impl IntoResponse, Refusal> {
    let opened = sessions::get_file(&context, &caller, &id, &name).await?;
    // The browser may write to it meanwhile: as many bytes are sent as were announced.
    let file = tokio::fs::File::from_std(opened.file).take(opened.bytes);
    let headers = [
        (CONTENT_TYPE, "application/octet-stream".to_owned()),
        (CONTENT_LENGTH, opened.bytes.to_string()),
        (CACHE_CONTROL, "no-store".to_owned()),
    ];
    Ok((headers, Body::from_stream(ReaderStream::new(file))))
}

/// Puts a file among those of a session, whole or not at all, in the place of one of that name. Its
/// path is what a tool names to have the browser upload it.
#[utoipa::path(
    put, path = "/sessions/{id}/files/{name}", tag = "sessions", security(("api_key" = [])),
    params(("id" = String, Path), ("name" = String, Path)),
    request_body(content = Vec<u8>, content_type = "application/octet-stream"),
    responses((status = 200, body = SessionFile), (status = "4XX", body = Problem))
)]
pub(super) async fn put(
    State(context): State<Context>,
    Drive(caller): Drive,
    Path((id, name)): Path<(String, String)>,
    body: Body,
) -> Answer<SessionFile> {
    let bytes = body.into_data_stream();
    answer(sessions::put_file(&context, &caller, &id, &name, bytes).await?).await
}

/// Removes a file of a session.
#[utoipa::path(
    delete, path = "/sessions/{id}/files/{name}", tag = "sessions", security(("api_key" = [])),
    params(("id" = String, Path), ("name" = String, Path)),
    responses((status = 204), (status = "4XX", body = Problem))
)]
pub(super) async fn remove(
    State(context): State<Context>,
    Drive(caller): Drive,
    Path((id, name)): Path<(String, String)>,
) -> Result<StatusCode, Refusal> {
    sessions::remove_file(&context, &caller, &id, &name).await?;
    Ok(StatusCode::NO_CONTENT)
}
