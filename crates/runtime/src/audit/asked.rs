//! What is known of a request while it is answered: who asks, and whether it is noted that it failed.
//!
//! The one idea: an operation notes what it does, with all that it knows. But a request may be refused
//! before any operation begins, by whatever reads it; so whoever answers requests can ask in the end
//! whether somebody asked in vain and nobody noted it.

use crate::actor::Actor;
use crate::caller::Caller;
use baton_session::Owner;
use std::cell::{Cell, OnceCell};

tokio::task_local! {
    static ASKED: Asked;
}

#[derive(Default)]
pub struct Asked {
    who: OnceCell<(Actor, Owner)>,
    noted: Cell<bool>,
}

/// Answers a request. Returns who asked as well, unless nobody knows or it is noted that it failed.
pub async fn watch<T>(answer: impl Future<Output = T>) -> (T, Option<(Actor, Owner)>) {
    let watched = async {
        let answered = answer.await;
        let unnoted = ASKED.with(|asked| asked.who.get().filter(|_| !asked.noted.get()).cloned());
        (answered, unnoted)
    };
    ASKED.scope(Asked::default(), watched).await
}

/// Says who asks.
pub fn is_asked_by(caller: &Caller) {
    let who = || (caller.actor.clone(), caller.owner.clone());
    // Requests that nobody watches need not say it.
    let _ = ASKED.try_with(|asked| asked.who.get_or_init(who).clone());
}

/// Says that it is noted that it failed.
pub(super) fn is_noted() {
    let _ = ASKED.try_with(|asked| asked.noted.set(true));
}
