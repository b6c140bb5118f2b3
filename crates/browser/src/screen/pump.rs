//! What the browser says of its tabs, made into pictures and a list of tabs.
//!
//! The browser does not say when a page only changes its title. So while somebody looks it is asked: when a page
//! was loaded, and now and then.
//!
//! A message that holds no JPEG, or one that is too large, is counted and drawn for nobody.

use super::address::TabAddress;
use super::arrivals::Arrivals;
use super::asking::{Asking, DocumentWish, Whose};
use super::choosers::Choosers;
use super::events::{
    Cast, Changed, ChooserOpened, FrameDetached, Navigated, Opening, TITLE, Visibility, read, side,
};
use super::texts::tidy;
use super::{ScreenFrame, ScreenState, ScreenTab, Sessions, TABS, Wish};
use crate::cdp::{CdpError, CdpSessionId, Connection, Event, Events};
use crate::targets::{AttachedToTarget, Contexts, DetachedFromTarget, TargetInfo, all};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures_util::StreamExt;
use futures_util::future::{BoxFuture, OptionFuture};
use futures_util::stream::FuturesUnordered;
use serde_json::json;
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval};

/// The largest picture, in bytes.
const LARGEST_JPEG: usize = 8 << 20;
/// How a JPEG begins (ITU-T T.81, section B.1.1.3: the marker SOI, and the next one).
const JPEG: [u8; 3] = [0xff, 0xd8, 0xff];
/// How often it is asked what tabs are called, and for a picture in the place of one that was late.
const ASK_PAUSE: Duration = Duration::from_millis(750);
/// How long it rests after it has asked for other pictures, whatever viewers want meanwhile: the newest of that is asked
/// for then.
const CAST_PAUSE: Duration = Duration::from_millis(250);
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
    /// How many questions pages have asked: dialogs, and for files.
    questions: u64,
    state: watch::Sender<ScreenState>,
    frames: watch::Sender<Option<Arc<ScreenFrame>>>,
    wishes: watch::Receiver<Option<Wish>>,
    /// What of them is asked for.
    wanted: Option<Wish>,
    /// The tabs that were asked for pictures, by their numbers, and for which.
    casts: HashMap<u32, Wish>,
    /// Whether something that the browser said did not come.
    has_missed: bool,
    asking: Asking,
    /// Wishes of pages, while it is found out whose they are.
    told: FuturesUnordered<BoxFuture<'static, (DocumentWish, Option<Whose>)>>,
    choosers: Choosers,
    arrivals: Arrivals,
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
        let (numbers, casts) = (HashMap::new(), HashMap::new());
        let (next_number, sequence, questions) = (1, 0, 0);
        Self {
            connection,
            contexts,
            sessions,
            numbers,
            next_number,
            sequence,
            questions,
            state,
            frames,
            wishes,
            wanted: None,
            casts,
            has_missed: false,
            asking,
            told: FuturesUnordered::new(),
            choosers: Choosers::default(),
            arrivals: Arrivals::default(),
            asked: None.into(),
        }
    }

    /// Reads until the browser ends.
    pub(super) async fn run(mut self, mut events: Events) {
        let mut asks = interval(ASK_PAUSE);
        asks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (mut rests, mut pauses) = (false, interval(CAST_PAUSE));
        loop {
            tokio::select! {
                event = events.next() => match event {
                    Some(event) => self.handle_event(event),
                    None => break,
                },
                // The screen is there for as long as this runs.
                Ok(()) = self.wishes.changed(), if !rests => {
                    self.cast_all();
                    rests = true;
                    pauses.reset();
                }
                _ = pauses.tick(), if rests => rests = false,
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
                Some(found) = self.choosers.next() => {
                    let (tab, chooser) = found;
                    self.asking.ask_for_files(tab, chooser);
                }
                _ = asks.tick() => {
                    self.asking.expire();
                    self.ask();
                    for tab in self.arrivals.take_wanted() {
                        self.cast_anew(tab);
                    }
                    if std::mem::take(&mut self.has_missed) {
                        // Each cast says anew whether its tab is drawn.
                        let tabs: Vec<u32> = self.sessions.lock().keys().copied().collect();
                        for tab in tabs {
                            self.cast_anew(tab);
                        }
                    }
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
        // What is missing are pictures, and which tab is drawn: who comes and goes is never dropped.
        let Event::Message { session, method, params } = event else {
            self.has_missed = true;
            return;
        };
        if let Some(session) = &session {
            self.framed(session, &method, &params);
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
                self.questions += 1;
                let number = self.questions;
                let dialog = read::<Opening>(&params).map(|opening| opening.into_dialog(number));
                self.change(tab, |tab| tab.dialog = dialog);
            }
            ("Page.javascriptDialogClosed", Some(tab)) => {
                self.change(tab, |tab| tab.dialog = None);
            }
            ("Inspector.targetCrashed", Some(tab)) => {
                self.change(tab, |tab| tab.has_crashed = true);
            }
            ("Inspector.targetReloadedAfterCrash", Some(tab)) => {
                self.change(tab, |tab| tab.has_crashed = false);
                self.cast_anew(tab);
            }
            _ => {}
        }
    }

    /// What frames do, those with a process of their own too. A question for files is over when what asks is gone:
    /// its frame, or the whole page.
    fn framed(&mut self, id: &CdpSessionId, method: &str, params: &RawValue) {
        let top = self.numbers.get(id).copied();
        let Some(tab) = self.tab_of(id) else { return };
        match method {
            "Page.fileChooserOpened" => {
                let found = self.sessions.lock().get(&tab).cloned();
                let (Some(opened), Some(page)) = (read::<ChooserOpened>(params), found) else {
                    return;
                };
                self.questions += 1;
                let frame = self.connection.session(id.clone());
                self.choosers.opened(tab, self.questions, opened, frame, page);
            }
            "Page.frameNavigated" => {
                self.asking.arrived(&self.connection.session(id.clone()));
                let Some(Navigated { frame }) = read(params) else { return };
                self.frame_gone(tab, &frame.id);
                if let (Some(_), Some(committed)) = (top, frame.into_top()) {
                    self.asking.moved(tab);
                    self.choosers.moved(tab);
                    self.change(tab, |tab| {
                        (tab.chooser, tab.committed) = (None, Some(committed));
                    });
                }
            }
            "Page.frameDetached" => {
                if let Some(FrameDetached { frame_id }) = read(params) {
                    self.frame_gone(tab, &frame_id);
                }
            }
            _ => {}
        }
    }

    /// What a frame of a tab asked for is over.
    fn frame_gone(&mut self, tab: u32, frame: &str) {
        self.choosers.frame_gone(tab, frame);
        self.change(tab, |tab| {
            tab.chooser.take_if(|chooser| chooser.frame == frame);
        });
    }

    fn change(&mut self, number: u32, change: impl FnOnce(&mut ScreenTab)) {
        self.change_where(|tab| tab.number == number, change);
    }

    /// Changes a tab. Where it is somewhere else then, a picture of that is asked for.
    fn change_where(
        &mut self,
        is_it: impl Fn(&ScreenTab) -> bool,
        change: impl FnOnce(&mut ScreenTab),
    ) {
        let mut moved = None;
        self.state.send_if_modified(|state| {
            let Some(tab) = state.tabs.iter_mut().find(|tab| is_it(tab)) else { return false };
            let before = tab.clone();
            change(tab);
            let [is, was] = [&*tab, &before].map(|tab| tab.addresses().map(TabAddress::host));
            moved = (is != was).then_some(tab.number);
            *tab != before
        });
        if let Some(tab) = moved {
            self.arrivals.moved(tab, SystemTime::now());
            self.cast_anew(tab);
        }
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
            url: TabAddress::of(&target_info.url),
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
        self.cast(number);
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
        self.choosers.detached(&session_id);
        if let Some(tab) = self.asking.tab_of(&session_id) {
            self.change(tab, |tab| {
                tab.chooser.take_if(|chooser| chooser.session == session_id);
            });
        }
        let number = self.numbers.remove(&session_id);
        self.asking.detached(&session_id, number);
        let Some(number) = number else { return };
        self.sessions.lock().remove(&number);
        self.casts.remove(&number);
        self.arrivals.gone(number);
        self.state.send_modify(|state| {
            state.tabs.retain(|tab| tab.number != number);
            if state.front == Some(number) {
                state.front = state.tabs.iter().rfind(|tab| tab.is_visible).map(|tab| tab.number);
            }
        });
    }

    fn renamed(&mut self, params: &RawValue) {
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

    fn rename(&mut self, info: &TargetInfo) {
        self.change_where(
            |tab| tab.target == info.target_id,
            |tab| (tab.url, tab.title) = (TabAddress::of(&info.url), tidy(&info.title, TITLE)),
        );
    }

    fn visible(&mut self, number: u32, params: &RawValue) {
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
        if visible {
            self.cast(number);
        }
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
        let Some(addresses) = self.addresses_of_drawn(tab) else { return };
        let is_of_them = self.arrivals.shows(tab, metadata.timestamp, SystemTime::now());
        self.sequence += 1;
        let scale = metadata.page_scale_factor;
        let sequence = self.sequence;
        let frame =
            ScreenFrame { sequence, tab, width, height, scale, jpeg, addresses, is_of_them };
        self.frames.send_replace(Some(Arc::new(frame)));
        if self.state.borrow().front != Some(tab) {
            self.state.send_modify(|state| state.front = Some(tab));
            self.cast(tab);
        }
    }

    /// Where a tab is of which there is a picture; none once it is behind another one: such a picture comes late, and
    /// who acts on it would act on a tab that nobody sees. The browser says whether a tab is drawn before it sends any.
    fn addresses_of_drawn(&self, number: u32) -> Option<[TabAddress; 2]> {
        let state = self.state.borrow();
        let tab = state.tab(number)?;
        let is_behind = !tab.is_visible && state.tabs.iter().any(|tab| tab.is_visible);
        (!is_behind).then(|| tab.addresses().map(TabAddress::clone))
    }

    fn bad_frame(&self) {
        self.state.send_modify(|state| state.bad_frames += 1);
    }

    /// Asks for pictures as viewers want them now. A tab that is not drawn sends none: the cast that it has goes on
    /// as it is until it is drawn, or nobody looks.
    fn cast_all(&mut self) {
        self.wanted = *self.wishes.borrow();
        let numbers: Vec<u32> = self.sessions.lock().keys().copied().collect();
        for number in numbers {
            if self.wanted.is_none() || !self.casts.contains_key(&number) || self.is_drawn(number) {
                self.cast(number);
            }
        }
    }

    fn is_drawn(&self, number: u32) -> bool {
        let state = self.state.borrow();
        state.front == Some(number) || state.tab(number).is_some_and(|tab| tab.is_visible)
    }

    /// Asks a tab for a picture of what is there now, if anybody looks: a cast begins with one.
    fn cast_anew(&mut self, number: u32) {
        let session = self.sessions.lock().get(&number).cloned();
        if let Some(session) = session.filter(|_| self.wanted.is_some())
            && self.casts.remove(&number).is_some()
        {
            session.post("Page.stopScreencast", json!({}));
        }
        self.cast(number);
    }

    /// Asks a tab for pictures as they are wanted, unless it was. The browser changes nothing of a cast that goes on, so
    /// the one before ends first; the new one begins with a picture of what is there.
    fn cast(&mut self, number: u32) {
        if self.casts.get(&number) == self.wanted.as_ref() {
            return;
        }
        let Some(session) = self.sessions.lock().get(&number).cloned() else { return };
        if self.casts.remove(&number).is_some() {
            session.post("Page.stopScreencast", json!({}));
        }
        if let Some(wish) = self.wanted {
            let Wish { width, height, quality } = wish;
            let params = json!({
                "format": "jpeg", "quality": quality, "maxWidth": width, "maxHeight": height,
            });
            session.post("Page.startScreencast", params);
            self.casts.insert(number, wish);
        }
    }
}
