//! A sandbox counts among those that its owner has, until it is gone.

use baton_runtime::Runtime;
use baton_session::{Owner, SandboxId};
use baton_store::{Store, StoreError};
use std::sync::atomic::{AtomicBool, Ordering};
use tokio_util::task::TaskTracker;

/// One of an owner's sandboxes. What is dropped without a word counts no longer, a moment later.
pub(crate) struct Counted {
    id: SandboxId,
    store: Store,
    tasks: TaskTracker,
    is_over: AtomicBool,
}

impl Counted {
    /// Counts one more of an owner, if it may have that.
    pub(crate) async fn begin(
        context: &Runtime,
        owner: &Owner,
        id: SandboxId,
    ) -> Result<Self, StoreError> {
        context.store.hold_sandbox(owner, id, context.node).await?;
        let (store, tasks) = (context.store.clone(), context.tasks.clone());
        Ok(Self { id, store, tasks, is_over: AtomicBool::new(false) })
    }

    /// It is gone.
    pub(crate) async fn end(&self) {
        if !self.is_over.swap(true, Ordering::Relaxed) {
            release(&self.store, self.id).await;
        }
    }
}

async fn release(store: &Store, id: SandboxId) {
    if let Err(error) = store.release_sandbox(id).await {
        tracing::error!(sandbox = %id, %error, "a sandbox that is gone still counts, until this node starts again");
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        if !*self.is_over.get_mut() {
            let (store, id) = (self.store.clone(), self.id);
            self.tasks.spawn(async move { release(&store, id).await });
        }
    }
}
