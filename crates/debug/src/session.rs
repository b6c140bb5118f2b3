//! Sessions of the node tell of their tabs by themselves: the recorder's words become the relay's. Whether secrets
//! of those tabs are kept is switched here too.

use crate::relay::{About, LookError, Relay, TabSender};
use crate::secrets::Page;
use baton_api::debug::{
    Answered, ConsoleEntry, ConsoleEvent, ConsoleLevel, Direction, EpochMs, Failed, Finished,
    GapReason, NetworkChange, NetworkEvent, Redirected, Requested, ResourceType, SocketEvent,
    SocketMessage, Source,
};
use baton_browser::record::{ConsoleLine, Level, Record, Recorder, What};
use baton_browser::{TargetId, record};
use baton_session::Session;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::watch;

/// The tabs of a session that a recorder reports. They outlive one that has to begin anew.
pub struct SessionTabs {
    revealing: Revealing,
    tabs: HashMap<TargetId, TabSender>,
    /// Those of which the recorder reports everything.
    ready: watch::Sender<HashSet<TargetId>>,
}

impl SessionTabs {
    /// None yet.
    pub fn new(relay: Relay, session: &Session) -> Self {
        let id = session.id.to_string();
        let about = About {
            owner: session.owner.clone(),
            browser_id: id.clone(),
            cocoon_id: id,
            cocoon_name: Some(session.name.to_string()),
        };
        let revealing = Revealing::new(relay, about);
        Self { revealing, tabs: HashMap::new(), ready: watch::Sender::default() }
    }

    /// What says whether their secrets are kept.
    pub fn revealing(&self) -> Revealing {
        self.revealing.clone()
    }

    /// The tabs of which the recorder reports everything.
    pub fn ready(&self) -> watch::Receiver<HashSet<TargetId>> {
        self.ready.subscribe()
    }
}

/// Passes on what a recorder tells, until the browser ends. What is missed from then on is marked.
pub async fn record(mut recorder: Recorder, tabs: &mut SessionTabs) {
    while let Some(record) = recorder.next().await {
        tabs.take(record);
    }
    tabs.tabs.values().for_each(TabSender::offline);
}

impl SessionTabs {
    fn take(&mut self, Record { tab, what }: Record) {
        match what {
            What::Begun { late } => return self.begin(tab, late),
            What::Ready => {
                self.ready.send_if_modified(|ready| ready.insert(tab));
                return;
            }
            What::Gone => {
                self.tabs.remove(&tab);
                self.ready.send_if_modified(|ready| ready.remove(&tab));
                return;
            }
            _ => {}
        }
        let Some(sender) = self.tabs.get(&tab) else { return };
        match what {
            What::Shown { url, title } => sender.show(&Page { url, title }),
            What::Missed { events } => sender.miss(GapReason::EventsLost, Some(events)),
            What::Line(line) => sender.console(console(sender, *line)),
            What::Sent(sent) => sender.network(event(sender, requested(*sent))),
            What::Answered(answer) => sender.network(event(sender, answered(*answer))),
            What::Finished(end) => sender.network(event(sender, finished(end))),
            What::Failed(end) => sender.network(event(sender, failed(end))),
            What::Message(message) => sender.network(event(sender, socket(message))),
            What::Begun { .. } | What::Ready | What::Gone => {}
        }
    }

    /// A tab is recorded from here on. One that is known was offline meanwhile, and says so already.
    fn begin(&mut self, tab: TargetId, late: bool) {
        if self.tabs.contains_key(&tab) {
            return;
        }
        match self.revealing.add() {
            Ok(sender) => {
                if late {
                    sender.miss(GapReason::FirstLoad, None);
                }
                self.tabs.insert(tab, sender);
            }
            Err(error) => {
                let cocoon = &self.revealing.about().cocoon_id;
                tracing::warn!(cocoon, %error, "a tab is not recorded");
            }
        }
    }
}

fn event(sender: &TabSender, change: NetworkChange) -> NetworkEvent {
    NetworkEvent { token: sender.token().clone(), seq: None, source: Source::Session, change }
}

fn requested(sent: record::Sent) -> NetworkChange {
    let redirect_response = sent.redirect.map(|answer| Redirected {
        status: answer.status,
        status_text: text(answer.status_text),
        headers: Some(answer.headers),
    });
    NetworkChange::Request(Requested {
        request_id: sent.id,
        timestamp: EpochMs::new(sent.at),
        method: sent.method,
        url: sent.url,
        headers: Some(sent.headers),
        body: sent.body,
        body_truncated: sent.body_truncated,
        resource_type: Some(ResourceType::from(sent.kind)),
        frame: sent.frame,
        worker: sent.worker,
        redirect_response,
    })
}

fn answered(answer: record::Answered) -> NetworkChange {
    NetworkChange::Response(Answered {
        request_id: answer.id,
        timestamp: EpochMs::new(answer.at),
        url: text(answer.url),
        status: answer.status,
        status_text: text(answer.status_text),
        headers: Some(answer.headers),
        mime_type: text(answer.mime_type),
        resource_type: Some(ResourceType::from(answer.kind)),
        from_cache: answer.from_cache || answer.from_service_worker,
    })
}

fn finished(end: record::Finished) -> NetworkChange {
    NetworkChange::Finished(Finished {
        request_id: end.id,
        timestamp: EpochMs::new(end.at),
        body: end.body,
        body_truncated: end.body_truncated,
        mime_type: text(end.mime_type),
        transfer_size: Some(end.bytes),
        ..Finished::default()
    })
}

fn failed(end: record::Failed) -> NetworkChange {
    let error = match end.blocked {
        Some(why) => format!("{} (blocked: {why})", end.error),
        None => end.error,
    };
    NetworkChange::Failed(Failed {
        request_id: end.id,
        timestamp: EpochMs::new(end.at),
        error,
        ..Failed::default()
    })
}

fn socket(message: record::SocketMessage) -> NetworkChange {
    let direction = if message.sent { Direction::Sent } else { Direction::Received };
    NetworkChange::Message(SocketEvent {
        request_id: message.id,
        message: SocketMessage {
            timestamp: EpochMs::new(message.at),
            direction,
            binary: message.text.is_none(),
            payload: message.text.unwrap_or_default(),
            payload_truncated: message.truncated,
            size: Some(message.bytes),
        },
    })
}

fn console(sender: &TabSender, line: ConsoleLine) -> ConsoleEvent {
    let level = match line.level {
        Level::Log => ConsoleLevel::Log,
        Level::Debug => ConsoleLevel::Debug,
        Level::Info => ConsoleLevel::Info,
        Level::Warn => ConsoleLevel::Warn,
        Level::Error => ConsoleLevel::Error,
    };
    let entry = ConsoleEntry {
        timestamp: EpochMs::new(line.at),
        level,
        args: line.args,
        message: line.message,
        source: line.source,
        line: line.line,
        column: line.column,
        stack_trace: line.stack_trace,
        seq: 0,
        frame: line.frame,
        worker: line.worker,
        truncated: line.truncated,
    };
    ConsoleEvent { token: sender.token().clone(), seq: None, entry }
}

fn text(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}

/// Whether secrets of a session's tabs are kept: of those that it has, and of those that come.
#[derive(Debug, Clone)]
pub struct Revealing {
    relay: Relay,
    about: Arc<About>,
    on: Arc<Mutex<bool>>,
}

impl Revealing {
    /// They are not yet.
    pub(super) fn new(relay: Relay, about: About) -> Self {
        Self { relay, about: Arc::new(about), on: Arc::default() }
    }

    /// Whose the tabs are.
    pub(super) fn about(&self) -> &About {
        &self.about
    }

    /// Keeps them from now on, or no longer; then those that were kept are forgotten.
    pub fn switch(&self, on: bool) {
        // Held until all tabs have heard it: one that is added meanwhile waits for it.
        let mut is_on = self.on.lock().unwrap_or_else(PoisonError::into_inner);
        *is_on = on;
        self.relay.reveal(&self.about.owner, &self.about.browser_id, on);
    }

    /// Adds a tab, whose secrets are kept if those of the others are.
    pub(super) fn add(&self) -> Result<TabSender, LookError> {
        let is_on = self.on.lock().unwrap_or_else(PoisonError::into_inner);
        let tab = self.relay.add((*self.about).clone())?;
        tab.reveal(*is_on);
        Ok(tab)
    }
}
