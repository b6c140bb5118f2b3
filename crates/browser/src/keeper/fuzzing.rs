//! A door for the fuzz targets: the multiplexer, with frames of a browser and of clients that know no
//! manners.

#![allow(clippy::expect_used, clippy::missing_panics_doc, reason = "a target fails by panicking")]

use super::mux::{Action, ClientId, Mux, Setup};
use super::protocol::Role;
use crate::cdp::Envelope;
use std::collections::HashSet;

/// A frame a line. The first byte of a line says what happens: `<` the browser sends the rest, a digit
/// the client of that number sends it, `+` and `*` a client or a node of that number comes, `-` it goes.
///
/// Whatever they send, each frame that goes out is one: to the browser calls of which each has a number
/// of its own, and to clients that are there.
pub fn cdp_frames(input: &[u8]) {
    let setup = Setup {
        browser_pid: Some(9),
        anchor: true,
        headed: false,
        files: None,
        is_theirs: false,
        prelude: Vec::new(),
        ledger: None,
        asked: None,
    };
    let mut mux = Mux::new(setup);
    let mut seen = ConnectedClients::default();
    seen.check(mux.start());
    for line in input.split(|byte| *byte == b'\n') {
        let Some((what, rest)) = line.split_first() else { continue };
        let client = ClientId::from(rest.first().copied().unwrap_or_default());
        let actions = match what {
            b'<' => mux.on_browser_message(rest),
            b'0'..=b'9' => mux.on_client_message(ClientId::from(*what), rest),
            b'+' | b'*' if seen.here.insert(client) => {
                mux.join(client, if *what == b'+' { Role::Client } else { Role::Node })
            }
            b'-' if seen.here.remove(&client) => mux.leave(client),
            _ => continue,
        };
        seen.check(actions);
    }
}

#[derive(Default)]
struct ConnectedClients {
    here: HashSet<ClientId>,
    last: u64,
}

impl ConnectedClients {
    fn check(&mut self, actions: Vec<Action>) {
        for action in actions {
            match action {
                Action::ToBrowser(frame) => {
                    let call = Envelope::parse(&frame).expect("a frame for the browser");
                    let id = call.id.expect("a call has a number");
                    assert!(call.method.is_some(), "a call of no method went to the browser");
                    assert!(id > self.last, "two calls have the number {id}");
                    self.last = id;
                }
                Action::ToClient(client, frame) => {
                    assert!(self.here.contains(&client), "a client that left was sent something");
                    let sent = Envelope::parse(&frame).expect("a frame for a client");
                    assert!(
                        sent.id.is_some() || sent.method.is_some(),
                        "a client was sent neither an answer nor an event"
                    );
                }
                Action::Disconnect(client, _) => {
                    assert!(self.here.remove(&client), "a client that left was sent away");
                }
                Action::Ready(client) => {
                    assert!(self.here.contains(&client), "a client that left may begin");
                }
                _ => {}
            }
        }
    }
}
