//! How a tab is followed: ask for what is behind the cursor, and wait at the node until there is something.

use super::super::Context;
use baton_api::debug::Wait;
use baton_api::{ClientError, ErrorCode};
use std::time::Duration;

/// How long the node waits for something new before it says that there is nothing.
const WAIT: Duration = Duration::from_secs(15);
/// How long until a browser that is not connected is asked for again.
const PAUSE: Duration = Duration::from_secs(1);

/// How one asks for what comes next.
pub(super) fn wait(reveal: bool) -> Wait {
    Wait { reveal, ..WAIT.into() }
}

/// What comes next; none when the tab is closed.
pub(super) async fn next<T, F: Future<Output = Result<T, ClientError>>>(
    context: &Context,
    ask: impl Fn() -> F,
) -> anyhow::Result<Option<T>> {
    let mut is_told = false;
    loop {
        let error = match ask().await {
            Ok(answer) => return Ok(Some(answer)),
            Err(error) => error,
        };
        match code(&error) {
            Some(ErrorCode::TabGone) => {
                context.output.note("the tab was closed");
                return Ok(None);
            }
            Some(ErrorCode::BrowserOffline) => {
                if !is_told {
                    context.output.note("the tab's browser is not connected; waiting");
                }
                is_told = true;
                tokio::time::sleep(PAUSE).await;
            }
            _ => return Err(error.into()),
        }
    }
}

fn code(error: &ClientError) -> Option<ErrorCode> {
    match error {
        ClientError::Problem(problem) => Some(problem.code),
        _ => None,
    }
}
