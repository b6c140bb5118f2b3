//! What is under way: requests that are answered side by side, and can be cancelled.

use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::timeout;

/// How many requests are answered at once; the next ones wait in the pipe.
const AT_ONCE: usize = 64;
/// How long requests may take when the client has left.
const FINISH_LIMIT: Duration = Duration::from_mins(2);

/// The requests under way.
pub(super) struct Running {
    tasks: JoinSet<()>,
    by_id: HashMap<String, AbortHandle>,
    places: Arc<Semaphore>,
}

impl Default for Running {
    fn default() -> Self {
        let places = Arc::new(Semaphore::new(AT_ONCE));
        Self { tasks: JoinSet::new(), by_id: HashMap::new(), places }
    }
}

impl Running {
    /// Begins to answer a request; waits while too many are under way.
    pub(super) async fn begin(
        &mut self,
        id: &Value,
        answer: impl Future<Output = ()> + Send + 'static,
    ) {
        let place = Arc::clone(&self.places).acquire_owned().await;
        let handle = self.tasks.spawn(async move {
            let _place = place;
            answer.await;
        });
        while self.tasks.try_join_next().is_some() {}
        self.by_id.retain(|_, handle| !handle.is_finished());
        self.by_id.insert(id.to_string(), handle);
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
