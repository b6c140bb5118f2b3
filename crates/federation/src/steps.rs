//! The steps of a write, for tests that stop between any two of them.

/// What is about to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The draft of the new board is written.
    Draft,
    /// The draft gets its name.
    Name,
    /// The log gets its lines.
    Log,
    /// The new board takes the place of the old one.
    Swap,
    /// What was displaced is looked at.
    Look,
    /// What was displaced becomes the copy.
    Keep,
    /// A session is written to the history.
    Archive,
    /// The file of a closed session goes.
    Remove,
    /// The agent's own file is written.
    Own,
}

/// Goes on, unless a test says stop.
#[cfg(not(test))]
#[expect(clippy::unnecessary_wraps, reason = "tests stop here")]
pub(crate) fn before(_: Step) -> Result<(), crate::error::FederationError> {
    Ok(())
}

#[cfg(test)]
pub(crate) use hook::{before, with};

#[cfg(test)]
mod hook {
    use super::Step;
    use crate::error::FederationError;
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
