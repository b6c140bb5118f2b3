//! The multiplexer's rules, told as stories in which the test plays the browser and the clients.

mod clients;
mod pages;

use super::*;
use serde_json::{Value, json};

const ANCHOR: &str = "ANCHOR";

/// A multiplexer whose browser is played by the test.
struct Story {
    mux: Mux,
    sent: Vec<Value>,
    got: HashMap<ClientId, Vec<Value>>,
    other: Vec<Action>,
}

#[expect(clippy::needless_pass_by_value, reason = "`json!` at the call reads best")]
impl Story {
    /// A started keeper, whose anchor is the pair of targets `TAB` and `ANCHOR`.
    fn new(prelude: Vec<PreludeCall>) -> Self {
        let setup =
            Setup { browser_pid: Some(9), anchor: true, headed: false, files: None, prelude };
        let mut story =
            Self { mux: Mux::new(setup), sent: Vec::new(), got: HashMap::new(), other: Vec::new() };
        let actions = story.mux.start();
        story.note(actions);
        story.announce("TAB", ANCHOR);
        story.reply_to("Browser.getVersion", &json!({"product": "Chrome/1"}));
        story.reply_to("Target.createTarget", &json!({"targetId": ANCHOR}));
        assert_eq!(story.other, [Action::Started("Chrome/1".to_owned())]);
        story.other.clear();
        story
    }

    fn note(&mut self, actions: Vec<Action>) {
        for action in actions {
            match action {
                Action::ToBrowser(frame) => self.sent.push(serde_json::from_slice(&frame).unwrap()),
                Action::ToClient(client, frame) => {
                    let frame = serde_json::from_slice(&frame).unwrap();
                    self.got.entry(client).or_default().push(frame);
                }
                other => self.other.push(other),
            }
        }
    }

    /// A client with the root session `R<number>`.
    fn join(&mut self, client: ClientId, role: Role) {
        let actions = self.mux.join(client, role);
        self.note(actions);
        let root = format!("R{client}");
        self.reply_to("Target.attachToBrowserTarget", &json!({"sessionId": root}));
        assert_eq!(self.other.pop(), Some(Action::Ready(client)));
    }

    fn client(&mut self, client: ClientId, frame: Value) {
        let actions = self.mux.on_client_message(client, frame.to_string().as_bytes());
        self.note(actions);
    }

    fn browser(&mut self, frame: Value) {
        let actions = self.mux.on_browser_message(frame.to_string().as_bytes());
        self.note(actions);
    }

    /// Takes the last call of `method` that the browser got.
    fn asked(&mut self, method: &str) -> Value {
        let at = self.sent.iter().rposition(|frame| frame["method"] == method);
        self.sent.remove(at.unwrap_or_else(|| panic!("{method} was not sent: {:?}", self.sent)))
    }

    fn reply_to(&mut self, method: &str, result: &Value) {
        let id = self.asked(method)["id"].clone();
        self.browser(json!({"id": id, "result": result}));
    }

    /// A page with its tab, as the keeper's own session hears of it.
    fn announce(&mut self, tab: &str, page: &str) {
        self.browser(created(tab, "tab"));
        self.browser(created(page, "page"));
    }

    fn taken(&mut self, client: ClientId) -> Vec<Value> {
        self.got.remove(&client).unwrap_or_default()
    }
}

fn created(id: &str, kind: &str) -> Value {
    json!({"method": "Target.targetCreated", "params": {"targetInfo": {"targetId": id, "type": kind}}})
}

fn on(session: &str, mut frame: Value) -> Value {
    frame["sessionId"] = session.into();
    frame
}

fn attached(session: &str, target: &str, waiting: bool) -> Value {
    json!({"method": "Target.attachedToTarget", "params": {
        "sessionId": session,
        "targetInfo": {"targetId": target, "type": "page"},
        "waitingForDebugger": waiting,
    }})
}
