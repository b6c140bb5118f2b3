//! What the domain `Baton` has: calls of a node to the keeper itself.
//!
//! - `Baton.close`: end the browser gently (an attached one is left running), then the keeper. The
//!   reply comes at once; the connection closes when the browser has ended.
//! - `Baton.kill`: the same with SIGKILL.
//! - `Baton.hold {until}`: kill the browser then, unless this is said again before; an instant of the
//!   boot clock as `{secs, nanos}`.
//! - `Baton.status`: counts and process ids.
//! - `Baton.egress`: what the way out was asked for, by host, and what the session asked of it, credentials
//!   included; `{hosts: null, asked: null}` when there is none.
//! - `Baton.setPrelude {prelude: [{method, params, targets}]}`.

use super::{Action, ClientId, Mux};
use crate::keeper::mux;
use crate::keeper::prelude::PreludeCall;
use crate::keeper::protocol::{BootInstant, Role};
use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize)]
struct Hold {
    until: BootInstant,
}

#[derive(Deserialize)]
struct SetPrelude {
    prelude: Vec<PreludeCall>,
}

impl Mux {
    /// Does what a node asks of the keeper; to clients there is no such domain.
    pub(super) fn command(
        &mut self,
        client: ClientId,
        id: u64,
        session: Option<&str>,
        command: &str,
        params: Option<&RawValue>,
    ) {
        let role = self.clients.get(&client).map(|client| client.role);
        let outcome = match command {
            _ if role != Some(Role::Node) => unknown(command),
            "close" => Ok(("{}".to_owned(), Some(Action::Close))),
            "kill" => Ok(("{}".to_owned(), Some(Action::Kill))),
            "hold" => hold(params),
            "status" => Ok((self.status(), None)),
            "egress" => Ok((self.egress(), None)),
            "setPrelude" => self.take_prelude(params),
            _ => unknown(command),
        };
        match outcome {
            Ok((result, then)) => {
                self.answer(client, mux::reply(id, session, "result", &result));
                self.out.extend(then);
            }
            Err((code, message)) => {
                self.answer(client, mux::refusal(id, session, code, &message));
            }
        }
    }

    fn take_prelude(&mut self, params: Option<&RawValue>) -> Outcome {
        let parsed: Result<SetPrelude, _> = serde_json::from_str(mux::text(params));
        match parsed {
            Ok(SetPrelude { prelude }) => {
                self.set_prelude(prelude);
                Ok(("{}".to_owned(), None))
            }
            Err(error) => {
                Err((-32602, format!("expected {{prelude: [{{method, params}}]}}: {error}")))
            }
        }
    }
}

type Outcome = Result<(String, Option<Action>), (i64, String)>;

fn hold(params: Option<&RawValue>) -> Outcome {
    match serde_json::from_str(mux::text(params)) {
        Ok(Hold { until }) => Ok(("{}".to_owned(), Some(Action::Hold(until)))),
        Err(error) => Err((-32602, format!("expected {{until: {{secs, nanos}}}}: {error}"))),
    }
}

/// Chromium's own words for a method that it does not know.
fn unknown(command: &str) -> Outcome {
    Err((-32601, format!("'Baton.{command}' wasn't found")))
}
