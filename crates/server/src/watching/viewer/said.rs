//! What a viewer says, and what is done about it.

use super::{Looking, Visit};
use crate::watching::acts;
use crate::watching::hand::{Given, give};
use crate::watching::words::Farewell;
use baton_api::live::{LiveDriver, LiveMessage, LiveRefusal, ViewerMessage};
use baton_session::json;
use std::time::{Duration, Instant};
use tokio_tungstenite::tungstenite::{Error, Message};

/// How many messages of a viewer are heard in a second.
const MESSAGES: u32 = 1000;
/// How many messages that make no sense end a visit.
const MISUNDERSTOOD: u32 = 20;
/// How many acts of a viewer are under way at once.
const ACTS: usize = 16;
/// How often it is said that somebody else drives.
const REFUSAL_PAUSE: Duration = Duration::from_secs(1);

impl Visit {
    pub(super) fn said(&mut self, message: Option<Result<Message, Error>>) -> Result<(), Farewell> {
        self.heard_at = Instant::now();
        let text = match message {
            Some(Ok(Message::Text(text))) => text,
            Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => return Ok(()),
            Some(Ok(Message::Binary(_))) => return self.nonsense("a binary message"),
            Some(Err(Error::Capacity(_))) => return Err(Farewell::TooLong),
            Some(Ok(Message::Close(_)) | Err(_)) | None => return Err(Farewell::Left),
        };
        let (since, count) = &mut self.messages;
        if since.elapsed() >= Duration::from_secs(1) {
            (*since, *count) = (Instant::now(), 0);
        }
        *count += 1;
        if *count > MESSAGES {
            return Err(Farewell::TooMuch);
        }
        match serde_json::from_str::<ViewerMessage>(&text) {
            Ok(message) => {
                self.handle(message);
                Ok(())
            }
            Err(error) => self.nonsense(&error.to_string()),
        }
    }

    fn nonsense(&mut self, found: &str) -> Result<(), Farewell> {
        self.misunderstood += 1;
        if self.misunderstood > MISUNDERSTOOD {
            return Err(Farewell::Garbage);
        }
        let found: String = found.chars().take(200).collect();
        self.refuse("message", format!("expected a message of a viewer, found another: {found}"));
        Ok(())
    }

    fn handle(&mut self, message: ViewerMessage) {
        match message {
            ViewerMessage::Look { width, height } => {
                self.size = Some((width, height));
                self.wish();
            }
            ViewerMessage::Rest {} => {
                self.size = None;
                self.wish();
            }
            ViewerMessage::Drawn { number } => {
                let before = self.pace.quality();
                self.pace.drawn(number, Instant::now());
                if self.pace.quality() != before {
                    self.wish();
                }
            }
            ViewerMessage::TakeOver { .. } if self.sight.guest().is_some() => self.take_as_guest(),
            ViewerMessage::TakeOver { name, reason } => {
                if self.turn.is_none() && !self.is_taking {
                    self.is_taking = true;
                    let act = acts::take(&self.context, &self.caller, &self.session, name, reason);
                    self.acts.want(act);
                }
            }
            // A guest says that it is done, or leaves.
            ViewerMessage::GiveBack {} if self.sight.guest().is_some() => {}
            ViewerMessage::GiveBack {} => self.give_back(),
            message => self.drive(message),
        }
    }

    /// Does what only who drives may.
    fn drive(&mut self, message: ViewerMessage) {
        let what = message.word();
        if let Some(looking) = &self.looking {
            let heard = self.sight.hears(&message, &looking.state.borrow());
            if let Err(detail) = heard {
                // What a guest holds in a page that is not theirs is let go.
                if let Some(hand) = &mut self.hand {
                    hand.let_go();
                }
                return self.refuse_seldom(what, detail);
            }
        }
        let (Some(_), Some(hand)) = (&self.turn, &mut self.hand) else {
            return self.refuse_input(what);
        };
        match give(hand, &message) {
            Given::Done => {}
            Given::NoTab => {
                let LiveRefusal { what, detail } = acts::no_tab(what);
                self.refuse_seldom(&what, detail);
            }
            Given::Nonsense => {
                let detail = "expected one of the first three buttons of a mouse, or a key, found neither\n\
                              the page has buttons of its own that go back and forward";
                self.refuse_seldom(what, detail.to_owned());
            }
            Given::NoInput => self.act(message),
        }
    }

    fn act(&mut self, message: ViewerMessage) {
        let what = message.word();
        if self.acts.count() >= ACTS {
            let detail = format!("expected at most {ACTS} things at once, found more");
            return self.refuse_seldom(what, detail);
        }
        let Some(Looking { viewing, .. }) = &self.looking else { return };
        let (context, caller, session) = (&self.context, &self.caller, &self.session);
        if let Some(act) = acts::with_tab(context, caller, session, viewing, &self.sight, message) {
            self.acts.on_tab(act);
        }
    }

    fn give_back(&mut self) {
        self.hand = None;
        let Some(turn) = self.turn.take() else { return };
        if let Some(looking) = &self.looking {
            looking.viewing.drive(false);
        }
        self.acts.give_back(&self.context, turn);
    }

    fn refuse_input(&mut self, what: &str) {
        let detail = match &self.driver {
            Some(LiveDriver { agent: Some(agent), .. }) => {
                format!(
                    "expected a viewer that has taken over, found one that watches: {agent} drives"
                )
            }
            _ => "expected a viewer that has taken over, found one that watches".to_owned(),
        };
        self.refuse_seldom(what, detail);
    }

    /// Input comes often: it is enough to say now and then that it is not taken.
    fn refuse_seldom(&mut self, what: &str, detail: String) {
        if self.refused_at.is_none_or(|at| at.elapsed() >= REFUSAL_PAUSE) {
            self.refused_at = Some(Instant::now());
            self.refuse(what, detail);
        }
    }

    pub(super) fn refuse(&self, what: &str, detail: String) {
        // A viewer that reads nothing hears nothing.
        self.tell(&LiveMessage::Refused(LiveRefusal { what: what.to_owned(), detail }));
    }

    pub(super) fn tell(&self, message: &LiveMessage) -> bool {
        self.line.offer(Message::text(json::text(message)))
    }
}
