//! Launches of a real Chromium.

use crate::fixture::{Kept, evaluate, open_page, options, site, spec};
use baton_browser::keeper::{BrowserSpec, Role};
use baton_browser::launch::{self, BrowserChoice, BrowserKind, BrowserPlaces};
use baton_browser::launch::{LaunchOptions, LockState};
use baton_session::Environment;
use baton_session::state::Viewport;
use serde_json::json;

#[tokio::test]
async fn a_page_sees_the_environment_of_the_launch() {
    let folder = tempfile::tempdir().unwrap();
    let environment = Environment {
        viewport: Some(Viewport { width: 1024, height: 700 }),
        user_agent: Some("Tester/1".to_owned()),
        identity: None,
        browser: None,
        timezone: Some("Asia/Tokyo".to_owned()),
        locale: Some("ja-JP".to_owned()),
        geolocation: None,
        permissions: Vec::new(),
        certificates: Vec::new(),
        egress: None,
    };
    let options = LaunchOptions { environment, ..options(&folder.path().join("profile")) };
    let spec = spec(folder.path(), BrowserSpec::Launch(Box::new(options)));
    let kept = Kept::start(folder, spec).await.unwrap();
    let client = kept.connect(Role::Client).await;
    let (_, page) = open_page(&client.connection.browser(), &site("").await).await;
    let seen = evaluate(
        &page,
        "[innerWidth, innerHeight, navigator.userAgent, navigator.languages, \
          Intl.DateTimeFormat().resolvedOptions().timeZone]",
    );
    let expected = json!([1024, 700, "Tester/1", ["ja-JP", "ja"], "Asia/Tokyo"]);
    assert_eq!(seen.await, expected);
    kept.close().await;
}

#[tokio::test]
async fn a_profile_in_use_is_refused_and_its_browser_lives_on() {
    let kept = Kept::new().await;
    let profile = kept.folder.path().join("profile");
    let pid = kept.ready.browser_pid.unwrap();
    assert_eq!(launch::lock::check(&profile).unwrap(), LockState::InUse { pid });
    let second = tempfile::tempdir().unwrap();
    let spec = spec(second.path(), BrowserSpec::Launch(Box::new(options(&profile))));
    let refused = Kept::start(second, spec).await.err().unwrap();
    assert_eq!(
        refused,
        format!(
            "expected a free profile at {}, found it in use by process {pid}\n\
             close that browser first",
            profile.display()
        )
    );
    let client = kept.connect(Role::Client).await;
    client.connection.browser().call("Browser.getVersion", ()).await.unwrap();
    kept.close().await;
}

#[tokio::test]
async fn a_browser_that_ends_at_once_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let options =
        LaunchOptions { program: "/bin/false".into(), ..options(&folder.path().join("p")) };
    let spec = spec(folder.path(), BrowserSpec::Launch(Box::new(options)));
    let refused = Kept::start(folder, spec).await.err().unwrap();
    assert_eq!(refused, "expected a browser that speaks, found it ended (exit status: 1)");
}

#[tokio::test]
async fn a_missing_browser_is_an_error_that_says_what_to_install() {
    let nothing = BrowserPlaces::on_path(None);
    let nowhere = BrowserChoice::Program("/nowhere/chrome".into());
    let named = launch::find_browser(Some(&nowhere), &nothing).unwrap_err();
    assert_eq!(named.to_string(), "expected a Chromium program at /nowhere/chrome, found nothing");
    let none = launch::find_browser(Some(&BrowserChoice::Kind(BrowserKind::Puppeteer)), &nothing);
    let text = none.unwrap_err().to_string();
    assert!(text.contains("baton browser install") && text.contains("apt-get install"), "{text}");
    let path = std::env::var_os("PATH");
    let found = launch::find_browser(None, &BrowserPlaces::on_path(path.as_deref())).unwrap();
    let version = launch::version(&found).await.unwrap();
    assert!(version.starts_with("Chrom") || version.starts_with("Google Chrome"), "{version}");
    assert!(launch::find_browser(Some(&BrowserChoice::Program(found)), &nothing).is_ok());
}
