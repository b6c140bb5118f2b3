//! A browser that shows windows, under the rules: it reaches its display, and no file that it was not given.

use crate::confined::{Machine, SECRET, SHOWN, shows, url};
use crate::display::{self, Display};
use crate::fixture::options;
use baton_browser::keeper::Role;
use baton_browser::launch::{Confine, LaunchOptions};
use baton_session::Confinement;
use baton_testing::skip;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use tempfile::TempDir;

/// With windows on this display, opened by this file of cookies.
fn on(folder: &TempDir, display: &Display, cookies: &Path, confine: Confine) -> LaunchOptions {
    let mut options = options(&folder.path().join("profile"));
    let cookies = cookies.to_str().unwrap().to_owned();
    options.inherited.insert("DISPLAY".to_owned(), display.name.clone());
    options.inherited.insert("XAUTHORITY".to_owned(), cookies);
    LaunchOptions { confine, headed: true, ..options }
}

#[tokio::test]
async fn a_browser_with_windows_has_its_display_and_no_file_beside() {
    if !display::is_there() {
        skip!("no Xvnc");
    }
    let place = tempfile::tempdir().unwrap();
    let (display, cookies) = Display::locked(place.path());
    for (confine, rules) in
        [(Confine::Landlock, Confinement::Landlock), (Confine::Bubblewrap, Confinement::Bubblewrap)]
    {
        let folder = tempfile::tempdir().unwrap();
        let options = on(&folder, &display, &cookies, confine);
        let machine = Machine::with(folder, options).await;
        let machine = machine.unwrap_or_else(|why| panic!("{rules}: {why}"));
        assert_eq!(machine.kept.ready.confinement, rules);
        let node = machine.kept.connect(Role::Node).await;
        let browser = node.connection.browser();
        let page = machine.shown.join("page.html");
        assert!(shows(&browser, &url(&page)).await.contains(SHOWN), "{rules}");
        for hidden in [machine.secret.as_path(), &cookies, Path::new("/etc/shadow")] {
            let shown = shows(&browser, &url(hidden)).await;
            let gives = [SECRET, "MIT-MAGIC-COOKIE", "root:"];
            let gives = gives.iter().find(|gives| shown.contains(**gives));
            assert_eq!(gives, None, "{rules}: {}: {shown}", hidden.display());
        }
        // The cookie is there as a file of the browser's own.
        let copy = machine.files.join(".home/.Xauthority");
        assert_eq!(fs::read(&copy).unwrap(), fs::read(&cookies).unwrap());
        assert_eq!(fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o600);
        machine.kept.close().await;
    }
    // The display is really asked: without the cookie nobody comes to it.
    let folder = tempfile::tempdir().unwrap();
    let options = on(&folder, &display, &folder.path().join("none"), Confine::Landlock);
    let refused = Machine::with(folder, options).await.err();
    assert!(refused.is_some(), "a browser without a cookie has started");
}
