//! The board for a caller who follows it: as it is now, and again whenever it is another one.

use super::{blocking, of, show};
use crate::activity::Request;
use crate::caller::Caller;
use crate::error::RuntimeError;
use crate::here::Runtime;
use baton_api::FederationView;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::timeout;

/// How often it is looked whether the caller's key was revoked, and whether an agent that was not heard of
/// for long is gone by now.
const LOOK_PAUSE: Duration = Duration::from_secs(5);

/// A board that is followed.
pub struct Followed {
    context: Runtime,
    caller: Caller,
    board: watch::Receiver<()>,
    drivers: watch::Receiver<()>,
    told: Option<Told>,
    /// A node to which somebody listens is of use.
    _in_use: Request,
}

/// What the caller knows.
#[derive(PartialEq)]
enum Told {
    View(Box<FederationView>),
    Failed(String),
}

/// Follows the board from now on.
pub async fn follow(context: &Runtime, caller: &Caller) -> Result<Followed, RuntimeError> {
    let board = of(context, caller)?;
    let feed = context.feed.clone();
    Ok(Followed {
        drivers: context.hub.table().passes(),
        board: blocking(move || feed.listen(&board)).await?,
        context: context.clone(),
        caller: caller.clone(),
        told: None,
        _in_use: context.activity.begin(),
    })
}

impl Followed {
    /// The board as it is now the first time, then after each change, also of who drives which session.
    /// None once the node ends or the caller's key is revoked. A board that cannot be read is told once,
    /// and then waited for.
    pub async fn next(&mut self) -> Option<Result<FederationView, RuntimeError>> {
        let ending = self.context.ending.clone();
        tokio::select! {
            () = ending.cancelled() => None,
            next = self.look() => next,
        }
    }

    async fn look(&mut self) -> Option<Result<FederationView, RuntimeError>> {
        loop {
            // What changes from here on is seen at the next look.
            self.board.mark_unchanged();
            self.drivers.mark_unchanged();
            if self.context.is_shut_out(&self.caller).await.unwrap_or(false) {
                return None;
            }
            let shown = show(&self.context, &self.caller).await;
            let told = match &shown {
                Ok(view) => Told::View(Box::new(view.clone())),
                Err(error) => Told::Failed(error.to_string()),
            };
            if self.told.as_ref() != Some(&told) {
                self.told = Some(told);
                return Some(shown);
            }
            let changed = async {
                tokio::select! {
                    board = self.board.changed() => board,
                    drivers = self.drivers.changed() => drivers,
                }
            };
            // Nobody drops the senders while the context is there.
            let _ = timeout(LOOK_PAUSE, changed).await;
        }
    }
}
