//! The JSON body of an answer.
//!
//! The one idea: how much there is to say shows when it is written. What is short is written where its handler
//! runs; a state, an export or a recording may be megabytes, and is written off the async threads, by which all
//! other clients of the node wait.

use crate::error::NodeError;
use crate::ingress::Refusal;
use axum::body::Bytes;
use axum::http::header::{CONTENT_TYPE, HeaderValue};
use axum::response::{IntoResponse, Response};
use baton_session::json;
use baton_store::blocking::blocking;
use serde::Serialize;
use std::io;
use std::marker::PhantomData;

/// The most that is written, or read, where others wait.
pub(super) const SHORT: usize = 64 << 10;

/// What a handler answers with, or why it does not.
pub(super) type Answer<T> = Result<JsonBody<T>, Refusal>;

/// A value as the body of an answer.
pub(super) struct JsonBody<T> {
    bytes: Bytes,
    of: PhantomData<fn() -> T>,
}

/// Writes what a handler answers.
pub(super) async fn answer<T: Serialize + Send + 'static>(value: T) -> Answer<T> {
    let bytes = match short(&value) {
        Some(bytes) => bytes,
        None => blocking(move || json::bytes(&value)).await.map_err(NodeError::from)?,
    };
    Ok(JsonBody { bytes: bytes.into(), of: PhantomData })
}

/// A value that is short, as JSON.
fn short<T: Serialize>(value: &T) -> Option<Vec<u8>> {
    let mut beginning = Beginning(Vec::new());
    serde_json::to_writer(&mut beginning, value).ok().map(|()| beginning.0)
}

/// The beginning of a text, which refuses what would make it long.
struct Beginning(Vec<u8>);

impl io::Write for Beginning {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > SHORT {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<T> IntoResponse for JsonBody<T> {
    fn into_response(self) -> Response {
        ([(CONTENT_TYPE, HeaderValue::from_static("application/json"))], self.bytes).into_response()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Serializer;
    use std::sync::{Arc, Mutex};
    use std::thread::{ThreadId, current};

    /// A text that notes which thread wrote it to its end.
    struct Written {
        text: String,
        by: Arc<Mutex<Option<ThreadId>>>,
    }

    impl Serialize for Written {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let written = serializer.serialize_str(&self.text)?;
            *self.by.lock().unwrap() = Some(current().id());
            Ok(written)
        }
    }

    #[tokio::test]
    async fn what_is_long_is_written_where_nobody_waits() {
        // With its quotes, and one byte more.
        for (length, is_here) in [(SHORT - 2, true), (SHORT - 1, false), (8 << 20, false)] {
            let by = Arc::default();
            let written = Written { text: "x".repeat(length), by: Arc::clone(&by) };
            let Ok(body) = answer(written).await else { panic!("expected an answer") };
            assert_eq!(body.bytes.len(), length + 2);
            assert_eq!(by.lock().unwrap().unwrap() == current().id(), is_here, "{length} bytes");
        }
    }
}
