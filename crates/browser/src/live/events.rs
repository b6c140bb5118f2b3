//! The event loop of a running browser: each event updates the mirror and marks what is dirty.
//!
//! It never waits for the browser: whatever needs a call (a new target, a new document) is done in
//! a task of its own, so that the queue of events keeps moving.

use super::messages::{
    BindingCalled, CacheChange, DatabaseChange, DownloadProgress, FrameLoad,
    NavigatedWithinDocument, StorageChange, StorageId, parse,
};
use super::shared::{Attached, Counters, Shared};
use super::{crashes, mute, requests, watch};
use crate::cdp::{CdpSessionId, Connection, Event, Events};
use crate::targets;
use crate::targets::{AttachedToTarget, Contexts, DetachedFromTarget, FrameNavigated};
use baton_session::Site;
use serde_json::json;
use serde_json::value::RawValue;
use std::sync::Arc;
use std::time::Instant;
use tokio_util::sync::CancellationToken;
use url::Url;

const INPUT: &str = watch::INPUT.binding;
const REQUESTS: &str = watch::REQUESTS.binding;

/// Runs until the connection ends.
pub(super) async fn run(pump: EventPump, mut events: Events) {
    while let Some(event) = events.next().await {
        match event {
            Event::Message { session, method, params } => {
                pump.handle_event(session.as_ref(), &method, &params);
            }
            Event::Overflow { dropped } => {
                tracing::debug!(dropped, "events were missed: the next capture reads everything");
                pump.shared.mirror().distrust();
                // Among them may have been a document that came or left.
                mute::hear_all(&pump.connection, &pump.shared);
                crashes::ask_again(&pump.connection, &pump.shared);
                pump.wrote();
                pump.activity.request();
            }
        }
    }
}

/// What the event loop works with.
pub(super) struct EventPump {
    pub(super) connection: Connection,
    pub(super) contexts: Contexts,
    pub(super) shared: Arc<Shared>,
    pub(super) activity: Counters,
    /// Ends the tasks that the loop starts.
    pub(super) end: CancellationToken,
}

impl EventPump {
    fn handle_event(&self, session: Option<&CdpSessionId>, method: &str, params: &RawValue) {
        match method {
            "Target.attachedToTarget" => self.attached(session, params),
            "Target.detachedFromTarget" => self.detached(params),
            "Page.frameNavigated" => self.navigated(session, params),
            "Page.navigatedWithinDocument" => self.navigated_within(session, params),
            "Page.frameStartedLoading" => self.loading(session, params, true),
            "Page.frameStoppedLoading" | "Page.frameDetached" => {
                self.loading(session, params, false);
            }
            "Page.downloadProgress" => self.downloading(params),
            "Inspector.targetCrashed" | "Inspector.targetReloadedAfterCrash" => {
                if let Some(session) = session {
                    crashes::note(&self.shared, session, method == "Inspector.targetCrashed");
                }
            }
            "DOMStorage.domStorageItemAdded"
            | "DOMStorage.domStorageItemUpdated"
            | "DOMStorage.domStorageItemRemoved"
            | "DOMStorage.domStorageItemsCleared" => self.stored(session, params),
            "Runtime.bindingCalled" => self.called(session, params),
            "Storage.indexedDBContentUpdated" | "Storage.indexedDBListUpdated" => {
                self.database(params);
            }
            "Storage.cacheStorageContentUpdated" | "Storage.cacheStorageListUpdated" => {
                self.cache(params);
            }
            "Debugger.scriptParsed" => self.script(session, params),
            _ => {
                if let Some(session) = session {
                    requests::note(&self.shared, session, method, params);
                }
            }
        }
    }

    fn attached(&self, parent: Option<&CdpSessionId>, params: &RawValue) {
        let Some(AttachedToTarget { session_id, target_info, .. }) = parse(params) else {
            return;
        };
        if self.tab_of(parent).is_some_and(|tab| tab == target_info.target_id) {
            // A client asks the tab for something in a session beside the one that watches it.
            return;
        }
        let session = self.connection.session(session_id.clone());
        // A popup, and the script that opened it, wait until they are resumed, although no client asked for
        // that.
        session.post("Runtime.runIfWaitingForDebugger", json!({}));
        let tab = match target_info.kind.as_str() {
            "service_worker" | "shared_worker" if self.contexts.keep(&target_info) => {
                self.shared.workers().insert(session_id, None);
                let (shared, activity) = (Arc::clone(&self.shared), self.activity.clone());
                let script = target_info.url.clone();
                if target_info.kind == "service_worker" {
                    let (session, shared) = (session.clone(), Arc::clone(&shared));
                    self.spawn(watch::keep_sources(session, script, shared, activity.clone()));
                }
                return self.spawn(watch::worker(session, shared, activity));
            }
            // A page of the browser's own can become a tab of a site, and the browser does not say so again.
            "page" if self.contexts.keep(&target_info) => Some(target_info.target_id.clone()),
            "iframe" => self.tab_of(parent),
            _ => None,
        };
        let Some(tab) = tab else { return };
        let is_page = target_info.kind == "page";
        let opener = target_info.opener().cloned();
        if target_info.is_tab() {
            self.shared.mirror().tab(&tab).url = target_info.url;
        }
        if is_page {
            self.navigation();
        }
        let attached = Attached { tab, opener, is_page, is_watched: false };
        self.shared.attached().insert(session_id, attached.clone());
        let (shared, activity) = (Arc::clone(&self.shared), self.activity.clone());
        self.spawn(watch::target(session, shared, attached, activity));
    }

    /// Starts what takes a call; it ends with the loop.
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        tokio::spawn(self.end.clone().run_until_cancelled_owned(task));
    }

    fn detached(&self, params: &RawValue) {
        let Some(DetachedFromTarget { session_id }) = parse(params) else {
            return;
        };
        self.shared.in_flight().left(&session_id);
        if let Some(Some(key)) = self.shared.workers().remove(&session_id) {
            self.shared.mirror().dirty().stored(key).workers = true;
            self.wrote();
        }
        let Some(Attached { tab, is_page, .. }) = self.shared.attached().remove(&session_id) else {
            return;
        };
        self.shared.note_crash(&session_id, false);
        self.shared.hearings().forget(&session_id);
        self.shared.loads().left(&session_id);
        if is_page && self.shared.sessions_of(&tab).is_empty() {
            self.shared.mirror().forget_tab(&tab);
        }
        self.navigation();
    }

    fn navigated(&self, session: Option<&CdpSessionId>, params: &RawValue) {
        let Some(FrameNavigated { frame }) = parse(params) else {
            return;
        };
        let (Some(session), Some(tab)) = (session, self.tab_of(session)) else {
            return;
        };
        if frame.parent_id.is_none() {
            let address = frame.address();
            if let Some(site) = site_of(&address) {
                self.shared.passwords().visited(&tab, site, Instant::now());
            }
            self.shared.mirror().visit(&tab, address);
        }
        self.shared.note_crash(session, false);
        // At once: the browser may be late to hear of a document, and of one without storage it says nothing.
        self.navigation();
        let session = self.connection.session(session.clone());
        self.shared.hear(&session);
        let (shared, activity) = (Arc::clone(&self.shared), self.activity.clone());
        self.spawn(async move {
            if watch::document(&session, &shared, &tab, &frame, watch::HEARS_WITHIN).await {
                // A capture may have begun before its storage was marked.
                activity.navigation();
            }
        });
    }

    fn navigated_within(&self, session: Option<&CdpSessionId>, params: &RawValue) {
        let told = parse::<NavigatedWithinDocument>(params);
        if let (Some(NavigatedWithinDocument { frame_id, url }), Some(tab)) =
            (told, self.tab_of(session))
            // The top frame of a tab bears the tab's id.
            && frame_id == tab.as_str()
        {
            self.shared.mirror().tab(&tab).url = url;
        }
        self.navigation();
    }

    fn loading(&self, session: Option<&CdpSessionId>, params: &RawValue, began: bool) {
        let (Some(session), Some(FrameLoad { frame_id })) = (session, parse(params)) else {
            return;
        };
        // Others of our sessions with a tab tell the same.
        if self.tab_of(Some(session)).is_none() {
            return;
        }
        if began {
            self.shared.loads().began(session.clone(), frame_id, Instant::now());
            self.activity.request();
        } else {
            self.shared.loads().ended(session.clone(), frame_id);
        }
    }

    /// A file is there once it is whole: it bears another name before.
    fn downloading(&self, params: &RawValue) {
        if parse::<DownloadProgress>(params).is_some_and(|told| told.state == "completed") {
            self.activity.downloaded();
        }
    }

    fn stored(&self, session: Option<&CdpSessionId>, params: &RawValue) {
        let (Some(session), Some(tab)) = (session, self.tab_of(session)) else {
            return;
        };
        let Some(change) = parse::<StorageChange>(params) else {
            self.shared.mirror().distrust();
            return self.wrote();
        };
        let StorageId { storage_key, is_local_storage } = change.storage_id;
        if !targets::is_lasting(&storage_key) {
            return;
        }
        let is_emptied = change.key.is_none();
        let mut mirror = self.shared.mirror();
        let entries = &mut mirror.area(&tab, &storage_key, is_local_storage).0;
        match (change.key, change.new_value) {
            (Some(key), Some(value)) => drop(entries.insert(key.0, value.0)),
            (Some(key), None) => drop(entries.remove(&key.0)),
            (None, _) => entries.clear(),
        }
        if is_local_storage {
            if is_emptied {
                mirror.dirty().emptied.insert(storage_key.clone());
            }
            mirror.dirty().local.insert(storage_key);
        } else {
            mirror.dirty().session.insert((tab.to_string(), storage_key));
        }
        drop(mirror);
        let muting = self.shared.hearings().count(session, Instant::now());
        if let Some(muting) = muting {
            let session = self.connection.session(session.clone());
            self.spawn(mute::start(session, Arc::clone(&self.shared), tab, muting));
        }
        self.wrote();
    }

    fn database(&self, params: &RawValue) {
        let Some(change) = parse::<DatabaseChange>(params) else {
            self.shared.mirror().distrust();
            return self.wrote();
        };
        let mut mirror = self.shared.mirror();
        match change.database_name {
            Some(name) => mirror.dirty().mark_database(change.storage_key, name.0),
            None => mirror.dirty().mark_databases(change.storage_key),
        }
        drop(mirror);
        self.wrote();
    }

    fn cache(&self, params: &RawValue) {
        let Some(CacheChange { storage_key, cache_name }) = parse(params) else {
            self.shared.mirror().distrust();
            return self.wrote();
        };
        let mut mirror = self.shared.mirror();
        let caches = mirror.dirty().stored(storage_key).caches.get_or_insert_default();
        caches.extend(cache_name.map(|name| name.0));
        drop(mirror);
        self.wrote();
    }

    fn script(&self, session: Option<&CdpSessionId>, params: &RawValue) {
        if let (Some(session), Some(script)) = (session, parse(params)) {
            self.shared.parsed(session, script);
        }
    }

    fn called(&self, session: Option<&CdpSessionId>, params: &RawValue) {
        let (Some(session), Some(called)) = (session, parse::<BindingCalled>(params)) else {
            return;
        };
        match called.name.as_str() {
            // Only what was asked for is sent, and a listener that no longer wants it does not count it.
            INPUT if self.shared.tells_input() => self.activity.input(),
            REQUESTS if called.payload.is_empty() => self.activity.request(),
            REQUESTS => self.entered(session, &called.payload),
            mute::BINDING => {
                let Some(tab) = self.tab_of(Some(session)) else { return };
                let session = self.connection.session(session.clone());
                if mute::apply_sample(&session, &self.shared, &tab, &called.payload) {
                    self.wrote();
                }
            }
            _ => {}
        }
    }

    /// A password was entered in a document of this origin. It belongs to the tab around it, too, and to the one
    /// that opened that.
    fn entered(&self, session: &CdpSessionId, origin: &str) {
        let Some(Attached { tab, opener, .. }) = self.shared.attached().get(session).cloned()
        else {
            return;
        };
        let addresses: Vec<String> = {
            let mirror = self.shared.mirror();
            let is_part = |id: &str| {
                id == tab.as_str() || opener.as_ref().is_some_and(|opener| opener.as_str() == id)
            };
            let tabs = mirror.tabs().iter().filter(|tab| is_part(&tab.id));
            tabs.map(|tab| tab.url.clone()).collect()
        };
        let addresses = addresses.iter().map(String::as_str).chain([origin]);
        let sites = addresses.filter_map(site_of);
        self.shared.passwords().entered(&tab, sites, Instant::now());
    }

    fn tab_of(&self, session: Option<&CdpSessionId>) -> Option<crate::targets::TargetId> {
        self.shared.attached().get(session?).map(|target| target.tab.clone())
    }

    fn navigation(&self) {
        self.activity.navigation();
    }

    fn wrote(&self) {
        self.activity.wrote();
    }
}

/// The site of an address; none of one without a host.
fn site_of(address: &str) -> Option<Site> {
    Some(Site::of_host(Url::parse(address).ok()?.host_str()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cdp::Transport;
    use crate::live::seen::DirtyStored;
    use baton_session::{State, StorageKey, Text};
    use serde_json::Value;
    use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};
    use tokio::time::timeout;

    fn pump(connection: Connection) -> EventPump {
        EventPump {
            connection,
            contexts: Contexts::default(),
            shared: Arc::new(Shared::new(State::default())),
            activity: Counters::new().0,
            end: CancellationToken::new(),
        }
    }

    #[tokio::test]
    async fn a_cache_that_changed_is_marked_and_no_other() {
        let (ours, mut browser) = tokio::io::duplex(1024);
        let (reader, writer) = tokio::io::split(ours);
        let (connection, events) = Connection::start(Transport::nul(reader, writer));
        let told = r#"{"method":"Storage.cacheStorageContentUpdated","params":{"origin":"https://app.test","storageKey":"https://app.test/","bucketId":"1","cacheName":"shell"}}"#;
        browser.write_all(format!("{told}\0").as_bytes()).await.unwrap();
        drop(browser);
        connection.closed().await;
        let pump = pump(connection);
        let shared = Arc::clone(&pump.shared);
        shared.mirror().take_dirty();
        run(pump, events).await;
        let dirty = shared.mirror().take_dirty();
        let key = StorageKey::first_party("https://app.test");
        let caches = Some([Text::from("shell")].into());
        assert_eq!(dirty.wanted_stored(&key), DirtyStored { caches, ..DirtyStored::default() });
        let other = StorageKey::first_party("https://other.test");
        assert!(dirty.wanted_stored(&other).is_empty());
    }

    #[tokio::test]
    async fn half_a_pair_in_web_storage_is_known_as_it_is() {
        let (ours, mut browser) = tokio::io::duplex(1024);
        let (reader, writer) = tokio::io::split(ours);
        let (connection, events) = Connection::start(Transport::nul(reader, writer));
        let told = r#"{"method":"DOMStorage.domStorageItemAdded","sessionId":"S","params":{"storageId":{"storageKey":"https://app.test/","isLocalStorage":true},"key":"\ud83d","newValue":"\udc00 a"}}"#;
        browser.write_all(format!("{told}\0").as_bytes()).await.unwrap();
        drop(browser);
        connection.closed().await;
        let pump = pump(connection);
        let shared = Arc::clone(&pump.shared);
        let tab = crate::targets::TargetId::new("T");
        let attached = Attached { tab, opener: None, is_page: true, is_watched: true };
        let session = serde_json::from_str("\"S\"").unwrap();
        shared.attached().insert(session, attached);
        run(pump, events).await;
        let key = StorageKey::first_party("https://app.test");
        let expected = [(Text::from_utf16(&[0xd83d]), Text::from_utf16(&[0xdc00, 0x20, 0x61]))];
        let mirror = shared.mirror();
        let local = &mirror.state().origins[&key].local_storage;
        assert_eq!(local, &expected.into_iter().collect());
    }

    #[tokio::test]
    async fn missed_events_make_the_mirror_distrusted() {
        let (ours, mut browser) = tokio::io::duplex(1024);
        let (reader, writer) = tokio::io::split(ours);
        let (connection, events) = Connection::start(Transport::nul(reader, writer));
        // More than the queue takes, before anybody looks.
        for _ in 0..10_000 {
            browser.write_all(b"{\"method\":\"A.b\"}\0").await.unwrap();
        }
        drop(browser);
        connection.closed().await;
        let pump = pump(connection);
        let shared = Arc::clone(&pump.shared);
        shared.mirror().take_dirty();
        run(pump, events).await;
        assert!(shared.mirror().dirty().all);
    }

    /// A browser that tells of something, and answers each call with an error.
    async fn refusing(browser: DuplexStream, told: Value) {
        let (reader, mut writer) = tokio::io::split(browser);
        writer.write_all(format!("{told}\0").as_bytes()).await.unwrap();
        let mut messages = BufReader::new(reader).split(0);
        while let Ok(Some(message)) = messages.next_segment().await {
            let message: Value = serde_json::from_slice(&message).unwrap();
            let error = json!({ "code": -32000, "message": "an opaque origin" });
            let (id, session) = (&message["id"], &message["sessionId"]);
            let answer = json!({ "id": id, "sessionId": session, "error": error });
            writer.write_all(format!("{answer}\0").as_bytes()).await.unwrap();
        }
    }

    #[tokio::test]
    async fn a_download_is_told_of_once_it_is_whole() {
        let (ours, browser) = tokio::io::duplex(1024);
        let (reader, writer) = tokio::io::split(ours);
        let (connection, _events) = Connection::start(Transport::nul(reader, writer));
        let pump = pump(connection);
        let downloads = pump.activity.downloads();
        for (state, told) in [("inProgress", 0), ("canceled", 0), ("completed", 1)] {
            let params = json!({ "guid": "1", "receivedBytes": 9, "state": state });
            let params = serde_json::value::to_raw_value(&params).unwrap();
            pump.handle_event(Some(&"S".into()), "Page.downloadProgress", &params);
            assert_eq!(*downloads.borrow(), told, "{state}");
        }
        drop(browser);
    }

    #[tokio::test]
    async fn a_document_that_is_kept_from_its_storage_counts_at_once() {
        let (ours, browser) = tokio::io::duplex(1 << 16);
        let (reader, writer) = tokio::io::split(ours);
        let (connection, events) = Connection::start(Transport::nul(reader, writer));
        let frame =
            json!({ "id": "F", "url": "https://app.test/", "securityOrigin": "https://app.test" });
        let params = json!({ "frame": frame });
        let told = json!({ "method": "Page.frameNavigated", "sessionId": "S", "params": params });
        let answers = tokio::spawn(refusing(browser, told));
        let (counters, mut activity, _moves) = Counters::new();
        let pump = EventPump { activity: counters, ..pump(connection) };
        let tab = crate::targets::TargetId::new("T");
        let attached = Attached { tab, opener: None, is_page: true, is_watched: true };
        pump.shared.attached().insert("S".into(), attached);
        let pumping = tokio::spawn(run(pump, events));
        let counted = activity.wait_for(|now| now.navigations > 0);
        let counted = timeout(watch::HEARS_WITHIN / 2, counted).await.expect("to count it at once");
        assert_eq!(counted.unwrap().navigations, 1);
        pumping.abort();
        answers.abort();
    }
}
