//! A clock that node and keeper share: the time since the machine was started.
//!
//! Nobody sets it, and it goes on while the machine sleeps. So an instant of it means the same in both
//! processes, however long one of them was stopped before it could say it.

use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use std::time::Duration;
use tokio::time::sleep;

/// The longest sleep: a timer stands still while the machine sleeps, and has to be looked at then.
const STEP: Duration = Duration::from_secs(1);

/// An instant of this machine, since its start (`CLOCK_BOOTTIME`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BootInstant(Duration);

impl BootInstant {
    /// Now.
    pub fn now() -> Self {
        let now = clock_gettime(ClockId::Boottime);
        let seconds = u64::try_from(now.tv_sec).unwrap_or_default();
        Self(Duration::new(seconds, u32::try_from(now.tv_nsec).unwrap_or_default()))
    }

    /// So much later.
    #[must_use]
    pub fn after(self, time: Duration) -> Self {
        Self(self.0.saturating_add(time))
    }

    /// Waits until then.
    pub(super) async fn reached(self) {
        loop {
            let left = self.0.saturating_sub(Self::now().0);
            if left.is_zero() {
                return;
            }
            sleep(left.min(STEP)).await;
        }
    }
}
