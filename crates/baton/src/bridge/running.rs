//! What is under way: requests that are answered side by side, and can be cancelled.

use serde_json::Value;
use std::collections::HashMap;
use std::time::Duration;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::timeout;

/// How many requests are answered at once.
const AT_ONCE: usize = 64;
/// How long requests may take when the client has left.
const FINISH_LIMIT: Duration = Duration::from_mins(2);

/// Why a request is not answered now.
#[derive(Debug, thiserror::Error)]
#[error(
    "expected at most {AT_ONCE} requests at once, found one more; wait for the answers of the others"
)]
pub(super) struct TooMany;

/// The requests under way.
#[derive(Default)]
pub(super) struct Running {
    tasks: JoinSet<()>,
    by_id: HashMap<String, AbortHandle>,
}

impl Running {
    /// Begins to answer a request, unless too many are under way: whoever waited here would read
    /// nothing any more, and so never hear that one was cancelled, or the answer to a question.
    pub(super) fn begin(
        &mut self,
        id: &Value,
        answer: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), TooMany> {
        while self.tasks.try_join_next().is_some() {}
        if self.tasks.len() >= AT_ONCE {
            return Err(TooMany);
        }
        let handle = self.tasks.spawn(answer);
        self.by_id.retain(|_, handle| !handle.is_finished());
        self.by_id.insert(id.to_string(), handle);
        Ok(())
    }

    /// The client wants no answer any more to the request that these parameters name. What the node
    /// has begun it finishes.
    pub(super) fn cancel(&mut self, params: &Value) {
        let id = params.get("requestId").map(Value::to_string);
        if let Some(handle) = id.and_then(|id| self.by_id.remove(&id)) {
            handle.abort();
        }
    }

    /// Waits until everything is answered.
    pub(super) async fn finish(mut self) {
        let done = async { while self.tasks.join_next().await.is_some() {} };
        // Whoever takes longer is cut off.
        let _ = timeout(FINISH_LIMIT, done).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::future::pending;

    #[tokio::test]
    async fn one_too_many_is_refused_and_a_cancelled_one_leaves_its_place() {
        let mut running = Running::default();
        for id in 0..AT_ONCE {
            running.begin(&json!(id), pending()).unwrap();
        }
        let refused = running.begin(&json!("one"), pending()).unwrap_err();
        insta::assert_snapshot!(refused, @"expected at most 64 requests at once, found one more; wait for the answers of the others");
        running.cancel(&json!({"requestId": 0}));
        let found = async {
            while running.begin(&json!("one"), pending()).is_err() {
                tokio::task::yield_now().await;
            }
        };
        timeout(FINISH_LIMIT, found).await.unwrap();
    }
}
