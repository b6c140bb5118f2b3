//! What the browser says of its tabs, made into pictures and a list of tabs.
//!
//! The browser does not say when a page only changes its title. So while somebody looks it is asked: when a page
//! was loaded, and now and then.
//!
//! Texts of pages are cut and freed of control characters here, so that nobody behind this has to. A message
//! that holds no JPEG, or one that is too large, is counted and told to nobody.

use super::asking::{Asking, DocumentWish, Whose};
use super::{Chooser, PageDialog, ScreenFrame, ScreenState, ScreenTab, Sessions, TABS, Wish};
use crate::cdp::{CdpError, CdpSession, CdpSessionId, Connection, Event, Events};
use crate::targets::{AttachedToTarget, Contexts, DetachedFromTarget, TargetInfo, all};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures_util::StreamExt;
use futures_util::future::{BoxFuture, OptionFuture};
use futures_util::stream::FuturesUnordered;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval};

/// The largest picture, in bytes.
const LARGEST_JPEG: usize = 8 << 20;
/// How a JPEG begins (ITU-T T.81, section B.1.1.3: the marker SOI, and the next one).
const JPEG: [u8; 3] = [0xff, 0xd8, 0xff];
/// How often it is asked what tabs are called.
const ASK_PAUSE: Duration = Duration::from_millis(750);
/// How long the texts of pages are, in characters.
const TITLE: usize = 200;
const ADDRESS: usize = 2000;
const MESSAGE: usize = 2000;
/// How many wishes of pages are looked at at once; of more, nobody is asked.
const WISHES: usize = 16;

pub(super) struct ScreenPump {
    connection: Connection,
    contexts: Contexts,
    sessions: Sessions,
    /// The numbers of the tabs, by their sessions.
    numbers: HashMap<CdpSessionId, u32>,
    next_number: u32,
    sequence: u64,
    state: watch::Sender<ScreenState>,
    frames: watch::Sender<Option<Arc<ScreenFrame>>>,
    wishes: watch::Receiver<Option<Wish>>,
    asking: Asking,
    /// Wishes of pages, while it is found out whose they are.
    told: FuturesUnordered<BoxFuture<'static, (DocumentWish, Option<Whose>)>>,
    /// The question what tabs are called, while it is not answered.
    asked: OptionFuture<BoxFuture<'static, Result<Vec<TargetInfo>, CdpError>>>,
}

impl ScreenPump {
    pub(super) fn new(
        connection: Connection,
        contexts: Contexts,
        sessions: Sessions,
        state: watch::Sender<ScreenState>,
        frames: watch::Sender<Option<Arc<ScreenFrame>>>,
        wishes: watch::Receiver<Option<Wish>>,
        asking: Asking,
    ) -> Self {
        let numbers = HashMap::new();
        let (next_number, sequence) = (1, 0);
        Self {
            connection,
            contexts,
            sessions,
            numbers,
            next_number,
            sequence,
            state,
            frames,
            wishes,
            asking,
            told: FuturesUnordered::new(),
            asked: None.into(),
        }
    }

    /// Reads until the browser ends.
    pub(super) async fn run(mut self, mut events: Events) {
        let mut asks = interval(ASK_PAUSE);
        asks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                event = events.next() => match event {
                    Some(event) => self.handle_event(event),
                    None => break,
                },
                // The screen is there for as long as this runs.
                Ok(()) = self.wishes.changed() => self.cast_all(),
                Some(answer) = &mut self.asked => {
                    self.asked = None.into();
                    for info in answer.unwrap_or_default() {
                        self.rename(&info);
                    }
                }
                Some(found) = self.told.next() => {
                    let (told, whose) = found;
                    self.asking.ask(told, whose);
                }
                _ = asks.tick() => {
                    self.asking.expire();
                    self.ask();
                }
            }
        }
        self.state.send_modify(|state| {
            state.has_ended = true;
            state.tabs.clear();
            state.front = None;
        });
    }

    fn handle_event(&mut self, event: Event) {
        // What is missing are pictures: who comes and goes is never dropped.
        let Event::Message { session, method, params } = event else { return };
        if let ("Page.frameNavigated", Some(session)) = (method.as_str(), &session) {
            self.asking.arrived(&self.connection.session(session.clone()));
        }
        let tab = session.as_ref().and_then(|session| self.numbers.get(session).copied());
        match (method.as_str(), tab) {
            ("Target.attachedToTarget", _) => self.attached(session.as_ref(), &params),
            ("Runtime.bindingCalled", _) => self.wished(session, &params),
            ("Target.detachedFromTarget", _) => self.detached(&params),
            ("Target.targetInfoChanged", _) => self.renamed(&params),
            ("Page.loadEventFired" | "Page.domContentEventFired", Some(_)) => self.ask(),
            ("Page.screencastFrame", Some(tab)) => self.frame(tab, &params),
            ("Page.screencastVisibilityChanged", Some(tab)) => self.visible(tab, &params),
            ("Page.javascriptDialogOpening", Some(tab)) => {
                let dialog = read::<Opening>(&params).map(Opening::into_dialog);
                self.change(tab, |tab| tab.dialog = dialog);
            }
            ("Page.javascriptDialogClosed", Some(tab)) => {
                self.change(tab, |tab| tab.dialog = None);
            }
            ("Page.fileChooserOpened", Some(tab)) => {
                let chooser = read::<ChooserOpened>(&params).and_then(ChooserOpened::into_chooser);
                self.change(tab, |tab| tab.chooser = chooser);
            }
            ("Page.frameNavigated", Some(tab)) => {
                let committed = read::<Navigated>(&params).and_then(Navigated::into_top);
                if committed.is_some() {
                    self.asking.moved(tab);
                }
                self.change(tab, |tab| {
                    tab.chooser = None;
                    if committed.is_some() {
                        tab.committed = committed;
                    }
                });
            }
            ("Inspector.targetCrashed", Some(tab)) => {
                self.change(tab, |tab| tab.has_crashed = true);
            }
            ("Inspector.targetReloadedAfterCrash", Some(tab)) => {
                self.change(tab, |tab| tab.has_crashed = false);
            }
            _ => {}
        }
    }

    fn change(&self, number: u32, change: impl FnOnce(&mut ScreenTab)) {
        self.state.send_if_modified(|state| {
            let Some(tab) = state.tabs.iter_mut().find(|tab| tab.number == number) else {
                return false;
            };
            let before = tab.clone();
            change(tab);
            *tab != before
        });
    }

    fn attached(&mut self, parent: Option<&CdpSessionId>, params: &RawValue) {
        let Some(AttachedToTarget { session_id, target_info, .. }) = read(params) else { return };
        let session = self.connection.session(session_id.clone());
        if let Some(tab) = parent.and_then(|parent| self.tab_of(parent)) {
            let is_wanted = target_info.kind == "iframe";
            if !is_wanted || !self.asking.frame_attached(tab, &session) {
                let params = json!({ "sessionId": session_id });
                self.connection.browser().post("Target.detachFromTarget", params);
            }
            return;
        }
        let is_wanted = target_info.kind == "page" && self.contexts.keep(&target_info);
        if !is_wanted || self.numbers.len() >= TABS {
            let params = json!({ "sessionId": session_id });
            return self.connection.browser().post("Target.detachFromTarget", params);
        }
        let number = self.next_number;
        self.next_number += 1;
        self.numbers.insert(session_id, number);
        self.sessions.lock().insert(number, session.clone());
        let tab = ScreenTab {
            number,
            url: tidy(&target_info.url, ADDRESS),
            committed: None,
            title: tidy(&target_info.title, TITLE),
            target: target_info.target_id,
            is_visible: false,
            has_crashed: false,
            dialog: None,
            chooser: None,
            permission: None,
        };
        self.state.send_modify(|state| state.tabs.push(tab));
        session.post("Page.enable", json!({}));
        session.post("Inspector.enable", json!({}));
        self.cast(&session);
        self.asking.attached(&session);
    }

    /// The tab of a session, which may be that of a frame in it.
    fn tab_of(&self, session: &CdpSessionId) -> Option<u32> {
        self.numbers.get(session).copied().or_else(|| self.asking.tab_of(session))
    }

    /// A document wishes for something, or says so.
    fn wished(&self, session: Option<CdpSessionId>, params: &RawValue) {
        let Some(session) = session.filter(|_| self.told.len() < WISHES) else { return };
        let Some(tab) = self.tab_of(&session) else { return };
        let Some(top) = self.sessions.lock().get(&tab).cloned() else { return };
        if let Some(told) = DocumentWish::read(tab, self.connection.session(session), params.get())
        {
            self.told.push(Box::pin(told.whose(top)));
        }
    }

    fn detached(&mut self, params: &RawValue) {
        let Some(DetachedFromTarget { session_id }) = read(params) else { return };
        let number = self.numbers.remove(&session_id);
        self.asking.detached(&session_id, number);
        let Some(number) = number else { return };
        self.sessions.lock().remove(&number);
        self.state.send_modify(|state| {
            state.tabs.retain(|tab| tab.number != number);
            if state.front == Some(number) {
                state.front = state.tabs.iter().rfind(|tab| tab.is_visible).map(|tab| tab.number);
            }
        });
    }

    fn renamed(&self, params: &RawValue) {
        if let Some(Changed { target_info }) = read(params) {
            self.rename(&target_info);
        }
    }

    /// Asks what tabs are called, while somebody looks.
    fn ask(&mut self) {
        if self.wishes.borrow().is_some() {
            let browser = self.connection.browser();
            let question: BoxFuture<'static, _> = Box::pin(async move { all(&browser).await });
            self.asked = Some(question).into();
        }
    }

    fn rename(&self, info: &TargetInfo) {
        self.state.send_if_modified(|state| {
            let found = state.tabs.iter_mut().find(|tab| tab.target == info.target_id);
            let Some(tab) = found else { return false };
            let url = tidy(&info.url, ADDRESS);
            let title = tidy(&info.title, TITLE);
            let is_other = tab.url != url || tab.title != title;
            (tab.url, tab.title) = (url, title);
            is_other
        });
    }

    fn visible(&self, number: u32, params: &RawValue) {
        let Some(Visibility { visible }) = read(params) else { return };
        self.state.send_if_modified(|state| {
            let Some(tab) = state.tabs.iter_mut().find(|tab| tab.number == number) else {
                return false;
            };
            tab.is_visible = visible;
            if visible {
                state.front = Some(number);
            } else if state.front == Some(number) {
                state.front = state.tabs.iter().rfind(|tab| tab.is_visible).map(|tab| tab.number);
            }
            true
        });
    }

    fn frame(&mut self, tab: u32, params: &RawValue) {
        let Some(Cast { data, metadata, session_id }) = read::<Cast<'_>>(params) else {
            return self.bad_frame();
        };
        if let Some(session) = self.sessions.lock().get(&tab) {
            session.post("Page.screencastFrameAck", json!({ "sessionId": session_id }));
        }
        // Base64 has four characters for three bytes.
        let jpeg = (data.len() / 4 * 3 <= LARGEST_JPEG).then(|| STANDARD.decode(&*data));
        let Some(Ok(jpeg)) = jpeg else { return self.bad_frame() };
        if !jpeg.starts_with(&JPEG) {
            return self.bad_frame();
        }
        let (width, height) = (side(metadata.device_width), side(metadata.device_height));
        if width == 0 || height == 0 {
            return self.bad_frame();
        }
        let shown = self.state.borrow().tab(tab).map(|tab| tab.addresses().map(str::to_owned));
        let Some(addresses) = shown else { return };
        self.sequence += 1;
        let scale = metadata.page_scale_factor;
        let sequence = self.sequence;
        let frame = ScreenFrame { sequence, tab, width, height, scale, jpeg, addresses };
        self.frames.send_replace(Some(Arc::new(frame)));
        // It is drawn, whatever was said of it before.
        if self.state.borrow().front != Some(tab) {
            self.state.send_modify(|state| state.front = Some(tab));
        }
    }

    fn bad_frame(&self) {
        self.state.send_modify(|state| state.bad_frames += 1);
    }

    fn cast_all(&self) {
        let sessions: Vec<CdpSession> = self.sessions.lock().values().cloned().collect();
        for session in sessions {
            self.cast(&session);
        }
    }

    /// Asks a tab for pictures as they are wanted now. The browser changes nothing of a cast that goes on, so
    /// the one before ends first; the new one begins with a picture of what is there.
    fn cast(&self, session: &CdpSession) {
        session.post("Page.stopScreencast", json!({}));
        if let Some(Wish { width, height, quality }) = *self.wishes.borrow() {
            let params = json!({
                "format": "jpeg", "quality": quality, "maxWidth": width, "maxHeight": height,
            });
            session.post("Page.startScreencast", params);
        }
    }
}

/// Reads what is needed of an event; none when it has another form.
fn read<'a, T: Deserialize<'a>>(params: &'a RawValue) -> Option<T> {
    serde_json::from_str(params.get()).ok()
}

/// A text of a page for people: without control characters and what turns the direction of others, and no
/// longer than that.
fn tidy(text: &str, most: usize) -> String {
    let is_harmless = |letter: &char| {
        !letter.is_control()
            && !matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
    };
    text.chars().filter(is_harmless).take(most).collect()
}

/// A side in CSS pixels; 0 for what is none.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "`as` saturates, and what is no number becomes 0"
)]
fn side(length: f64) -> u16 {
    length.round() as u16
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Changed {
    target_info: TargetInfo,
}

#[derive(Deserialize)]
struct Visibility {
    visible: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Cast<'a> {
    #[serde(borrow)]
    data: std::borrow::Cow<'a, str>,
    metadata: CastMetadata,
    /// The number of the picture, which is no session.
    session_id: i64,
}

#[derive(Deserialize)]
struct Navigated {
    frame: NavigatedFrame,
}

/// `Page.Frame`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NavigatedFrame {
    url: String,
    parent_id: Option<String>,
}

impl Navigated {
    /// Where the top document of the tab is now; none where another frame went somewhere.
    fn into_top(self) -> Option<String> {
        self.frame.parent_id.is_none().then(|| tidy(&self.frame.url, ADDRESS))
    }
}

/// `Page.ScreencastFrameMetadata`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CastMetadata {
    page_scale_factor: f32,
    device_width: f64,
    device_height: f64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Opening {
    #[serde(default)]
    message: String,
    #[serde(default, rename = "type")]
    kind: String,
    #[serde(default)]
    default_prompt: String,
}

impl Opening {
    fn into_dialog(self) -> PageDialog {
        // Lines are a part of what it says.
        let lines = self.message.lines().map(|line| tidy(line, MESSAGE));
        let message = lines.collect::<Vec<_>>().join("\n").chars().take(MESSAGE).collect();
        let suggests = tidy(&self.default_prompt, MESSAGE);
        PageDialog { kind: tidy(&self.kind, 20), message, suggests }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ChooserOpened {
    #[serde(default)]
    mode: String,
    backend_node_id: Option<i64>,
}

impl ChooserOpened {
    /// None for one that no element asked for: its answer would reach nothing.
    fn into_chooser(self) -> Option<Chooser> {
        let takes_many = self.mode == "selectMultiple";
        self.backend_node_id.map(|element| Chooser { takes_many, element })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_pages_are_harmless_and_short() {
        assert_eq!(tidy("<b>\u{0}\u{1b}[31m\u{202e}x\n", 20), "<b>[31mx");
        assert_eq!(tidy(&"x".repeat(1000), TITLE).len(), TITLE);
        let opening = Opening {
            message: "Sure?\r\nReally\u{7}?".to_owned(),
            kind: "confirm".to_owned(),
            default_prompt: String::new(),
        };
        assert_eq!(opening.into_dialog().message, "Sure?\nReally?");
    }

    #[test]
    fn a_side_is_a_number_of_pixels() {
        assert_eq!((side(1279.6), side(-5.0), side(f64::NAN)), (1280, 0, 0));
        assert_eq!(side(1e9), u16::MAX);
    }
}
