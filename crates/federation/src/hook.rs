//! Stops before a step where a test says so, as a kill would.

use crate::error::FederationError;
use crate::steps::Step;

/// Goes on, unless a test says stop.
#[cfg(not(test))]
#[expect(clippy::unnecessary_wraps, reason = "tests stop here")]
pub(crate) fn before(_: Step) -> Result<(), FederationError> {
    Ok(())
}

#[cfg(test)]
pub(crate) use asked::{before, with};

#[cfg(test)]
mod asked {
    use super::{FederationError, Step};
    use std::cell::RefCell;

    /// What happens before a step; false stops there.
    pub(crate) type Hook = Box<dyn FnMut(Step) -> bool>;

    thread_local! {
        static HOOK: RefCell<Option<Hook>> = const { RefCell::new(None) };
    }

    /// Does `work` with a hook on this thread.
    pub(crate) fn with<T>(hook: Hook, work: impl FnOnce() -> T) -> T {
        HOOK.with_borrow_mut(|place| *place = Some(hook));
        let done = work();
        HOOK.with_borrow_mut(|place| *place = None);
        done
    }

    /// Asks the hook. It is taken away while it runs, so that it may use a board itself.
    pub(crate) fn before(step: Step) -> Result<(), FederationError> {
        let Some(mut hook) = HOOK.with_borrow_mut(Option::take) else { return Ok(()) };
        let goes_on = hook(step);
        HOOK.with_borrow_mut(|place| *place = Some(hook));
        if goes_on { Ok(()) } else { Err(FederationError::Killed(step)) }
    }
}
