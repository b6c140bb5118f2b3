//! What pages ask of a person who drives, in a real browser without a window, and that nothing of it stays.

use crate::fixture::{evaluate, eventually, shows};
use crate::site::{Page, Site};
use crate::story::{Running, profile};
use baton_browser::cdp::CdpSession;
use baton_browser::keeper::Role;
use baton_browser::profile::at_rest::Instant;
use baton_browser::screen::{PermissionQuestion, Screen, Viewing};
use baton_session::permission::Setting;
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::time::timeout;

/// How long a question may take to be seen.
const LIMIT: Duration = Duration::from_mins(1);

/// A page that asks when it is told to, and notes what came of it.
const PAGE: &str = "<title>here</title><script>
let told = '';
const notify = () => { Notification.requestPermission().then((state) => { told = state }) };
const locate = () => navigator.geolocation.getCurrentPosition(
    ({ coords }) => { told = 'at ' + coords.latitude }, ({ code }) => { told = 'code ' + code });
</script>";

/// A person at the screen of a browser.
struct Scene {
    running: Running,
    viewing: Viewing,
    page: CdpSession,
    site: Site,
    _folder: TempDir,
}

impl Scene {
    async fn set(limit: Duration) -> Self {
        let (folder, profile) = profile();
        Self::on(folder, &profile, limit).await
    }

    async fn on(folder: TempDir, profile: &Path, limit: Duration) -> Self {
        let site = Site::builder()
            .page("/", Page::html(PAGE))
            .page("/around", Page::html("<iframe allow='geolocation'></iframe>"))
            .start()
            .await;
        let running = Running::start(profile).await;
        let page = running.open(&site.url("a", "/")).await;
        // A page that nobody sees is not told where it is.
        page.call("Page.bringToFront", json!({})).await.unwrap();
        let link = running.kept.connect(Role::Client).await;
        let screen = Arc::new(Screen::start_within(link, limit).await.unwrap());
        let viewing = screen.join().unwrap();
        Self { running, viewing, page, site, _folder: folder }
    }

    /// The person drives, and the page knows.
    async fn drive(&self) {
        self.viewing.drive(true);
        shows(&self.page, "typeof batonWish", "function").await;
        shows(&self.page, IS_HELD, true).await;
    }

    /// The question that the person sees, with its tab.
    async fn question(&self) -> (u32, PermissionQuestion) {
        let mut state = self.viewing.state();
        let seen = state.wait_for(|state| state.tabs.iter().any(|tab| tab.permission.is_some()));
        let state = timeout(LIMIT, seen).await.expect("a question is seen").unwrap();
        let tab = state.tabs.iter().find(|tab| tab.permission.is_some()).unwrap();
        (tab.number, tab.permission.clone().unwrap())
    }

    async fn no_question(&self) {
        let mut state = self.viewing.state();
        let gone = state.wait_for(|state| state.tabs.iter().all(|tab| tab.permission.is_none()));
        drop(timeout(LIMIT, gone).await.expect("the question goes").unwrap());
    }

    async fn answer(&self, setting: Setting) -> PermissionQuestion {
        let (tab, question) = self.question().await;
        let now = Instant(jiff::Timestamp::now().as_microsecond());
        self.running.live.decide(&question, setting, now).await.unwrap();
        self.viewing.tab(tab).unwrap().settle(question.number);
        self.no_question().await;
        question
    }

    async fn told(&self) -> Vec<String> {
        let permissions = self.running.changed().await.environment.permissions;
        permissions.iter().map(|one| format!("{} {}", one.place(), one.setting)).collect()
    }
}

const IS_HELD: &str = "!String(Notification.requestPermission).includes('[native code]')
    && !String(navigator.geolocation.getCurrentPosition).includes('[native code]')";
const STATE: &str = "navigator.permissions.query({ name: 'geolocation' }).then((it) => it.state)";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_who_drives_allows_and_refuses_what_a_page_wishes_for() {
    let scene = Scene::set(LIMIT).await;
    let origin = scene.site.url("a", "");
    let place = json!({ "latitude": 7, "longitude": 8, "accuracy": 1 });
    scene.page.call("Emulation.setGeolocationOverride", place).await.unwrap();
    scene.drive().await;
    evaluate(&scene.page, "locate(), 0").await;
    let asked = scene.answer(Setting::Allow).await;
    assert_eq!(
        (&asked.origin, &asked.within, &*asked.names),
        (&origin, &None, &["geolocation"][..])
    );
    shows(&scene.page, "told", "at 7").await;
    // What was decided is not asked again.
    evaluate(&scene.page, "told = '', locate(), 0").await;
    shows(&scene.page, "told", "at 7").await;
    evaluate(&scene.page, "notify(), 0").await;
    let asked = scene.answer(Setting::Deny).await;
    assert_eq!(asked.names, ["notifications"]);
    shows(&scene.page, "told", "denied").await;
    // The next document is held from its start.
    scene.page.call("Page.reload", json!({})).await.unwrap();
    shows(&scene.page, "document.readyState === 'complete' && told === ''", true).await;
    let both = "navigator.mediaDevices.getUserMedia({ audio: true, video: true })
        .catch((error) => { told = error.name }), 0";
    evaluate(&scene.page, both).await;
    let asked = scene.answer(Setting::Allow).await;
    assert_eq!(asked.names, ["camera", "microphone"]);
    shows(&scene.page, "told !== '' && told !== 'NotAllowedError'", true).await;
    evaluate(
        &scene.page,
        "told = '', navigator.requestMIDIAccess({ sysex: true }).then(
        () => { told = 'midi' }, (error) => { told = error.name }), 0",
    )
    .await;
    assert_eq!(scene.answer(Setting::Deny).await.names, ["midi-sysex"]);
    shows(&scene.page, "told", "NotAllowedError").await;
    evaluate(
        &scene.page,
        "told = '', navigator.clipboard.readText().then(
        () => { told = 'read' }, (error) => { told = error.name }), 0",
    )
    .await;
    assert_eq!(scene.answer(Setting::Deny).await.names, ["clipboard-read"]);
    shows(&scene.page, "told", "NotAllowedError").await;
    // All of it is in a capture, and wakes the node.
    assert!(scene.running.live.changed_unheard().await);
    let decided = [
        "camera allow",
        "clipboard-read deny",
        "geolocation allow",
        "microphone allow",
        "midi-sysex deny",
        "notifications deny",
    ];
    let line = |line: &str| {
        let (name, setting) = line.split_once(' ').unwrap();
        format!("{name} {origin} {setting}")
    };
    assert_eq!(scene.told().await, decided.map(line));
    // It outlives the screen, whose connection is another one.
    let Scene { running, viewing, page, .. } = scene;
    drop(viewing);
    shows(&page, IS_HELD, false).await;
    assert_eq!(evaluate(&page, STATE).await, "granted");
    running.crash().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_held_while_nobody_drives_and_nothing_stays() {
    let scene = Scene::set(LIMIT).await;
    let untouched = "!('batonWish' in self) && !(Symbol.for('baton.wishes') in self)";
    assert_eq!(evaluate(&scene.page, untouched).await, true);
    assert_eq!(evaluate(&scene.page, IS_HELD).await, false);
    scene.drive().await;
    evaluate(&scene.page, "locate(), 0").await;
    scene.question().await;
    scene.viewing.drive(false);
    // What was held is refused as ever, and what is there and what comes is as the browser made it.
    shows(&scene.page, "told", "code 1").await;
    scene.no_question().await;
    shows(&scene.page, IS_HELD, false).await;
    shows(&scene.page, untouched, true).await;
    scene.page.call("Page.reload", json!({})).await.unwrap();
    shows(&scene.page, "document.readyState === 'complete' && told === ''", true).await;
    assert_eq!(evaluate(&scene.page, IS_HELD).await, false);
    assert_eq!(evaluate(&scene.page, untouched).await, true);
    scene.running.crash().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_nobody_answers_is_refused_after_the_limit() {
    let scene = Scene::set(Duration::from_millis(1)).await;
    scene.drive().await;
    evaluate(&scene.page, "locate(), 0").await;
    shows(&scene.page, "told", "code 1").await;
    scene.no_question().await;
    assert_eq!(evaluate(&scene.page, "told = '', notify(), 0").await, 0);
    shows(&scene.page, "told", "denied").await;
    scene.running.crash().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_calls_by_itself_says_nothing_but_what_it_may_wish_for() {
    let scene = Scene::set(LIMIT).await;
    scene.drive().await;
    let rubbish = "for (const odd of ['', 'popups', '{\"origin\":\"https://bank.test\"}',
        'geolocation https://bank.test', '\\u0000', 'x'.repeat(1e6)]) batonWish(odd);
        try { batonWish(7) } catch {}
        // It cannot speak as another one, whatever it makes of its own world.
        Object.defineProperty(self, 'origin', { value: 'https://bank.test' });
        document.documentElement.replaceWith(document.createElement('html'));
        for (let n = 0; n < 500; n++) batonWish('midi');";
    evaluate(&scene.page, rubbish).await;
    let (tab, asked) = scene.question().await;
    assert_eq!((asked.origin, &*asked.names), (scene.site.url("a", ""), &["midi"][..]));
    // It asks ten times a minute, whatever it is answered.
    let mut number = asked.number;
    for _ in 1..10 {
        scene.viewing.tab(tab).unwrap().settle(number);
        evaluate(&scene.page, "batonWish('midi')").await;
        let mut state = scene.viewing.state();
        let next = state.wait_for(|state| {
            state
                .tab(tab)
                .and_then(|tab| tab.permission.as_ref())
                .is_some_and(|it| it.number > number)
        });
        drop(timeout(LIMIT, next).await.expect("another question").unwrap());
        number = scene.question().await.1.number;
    }
    scene.viewing.tab(tab).unwrap().settle(number);
    scene.no_question().await;
    evaluate(&scene.page, "locate(), 0").await;
    shows(&scene.page, "told", "code 1").await;
    assert!(scene.viewing.state().borrow().tab(tab).unwrap().permission.is_none());
    scene.running.crash().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_frame_of_another_site_is_asked_for_by_its_own_name() {
    let scene = Scene::set(LIMIT).await;
    scene.drive().await;
    let around = scene.site.url("b", "/around");
    scene.page.call("Page.navigate", json!({ "url": around })).await.unwrap();
    shows(&scene.page, "location.pathname === '/around' && document.readyState", "complete").await;
    let inside = scene.site.url("a", "/");
    evaluate(&scene.page, &format!("document.querySelector('iframe').src = '{inside}', 0")).await;
    let browser = scene.running.agent.connection.browser();
    let mut frame = None;
    eventually("the frame is there", async || {
        let targets = browser.call("Target.getTargets", json!({})).await.unwrap();
        let infos = targets["targetInfos"].as_array().unwrap();
        let found = infos.iter().find(|info| info["type"] == "iframe" && info["url"] == inside);
        frame = found.map(|info| info["targetId"].as_str().unwrap().to_owned());
        frame.is_some()
    })
    .await;
    let frame = crate::fixture::attach(&browser, &frame.unwrap()).await;
    shows(&frame, "document.readyState === 'complete' && self === top", false).await;
    shows(&frame, IS_HELD, true).await;
    evaluate(&frame, "locate(), 0").await;
    let asked = scene.answer(Setting::Allow).await;
    assert_eq!(asked.origin, scene.site.url("a", ""));
    assert_eq!(asked.within, Some(scene.site.url("b", "")));
    shows(&frame, STATE, "granted").await;
    // What a page lends to a frame is its own, to this browser; its site elsewhere has nothing of it.
    assert_eq!(evaluate(&scene.page, STATE).await, "granted");
    let around = format!("geolocation {} allow", scene.site.url("b", ""));
    assert_eq!(scene.told().await, [around]);
    // One in the process of the page is told apart by itself as well.
    let own = scene.site.url("b", "/");
    let expression = format!("document.querySelector('iframe').src = '{own}', 0");
    evaluate(&scene.page, &expression).await;
    let is_held = "frames[0].origin === origin && frames[0].document.readyState === 'complete'
        && !String(frames[0].Notification.requestPermission).includes('[native code]')";
    shows(&scene.page, is_held, true).await;
    evaluate(&scene.page, "frames[0].Notification.requestPermission(), 0").await;
    let (_, asked) = scene.question().await;
    assert_eq!((asked.origin, asked.within), (scene.site.url("b", ""), None));
    scene.running.crash().await;
}
