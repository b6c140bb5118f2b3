//! Browsers that take their time to start: the beats of the node keep them meanwhile, and without any they end.

use crate::fixture::{Kept, eventually, open_page, options, spec};
use baton_browser::keeper::{BootInstant, BrowserSpec, KeeperSpec, Role};
use baton_browser::launch::{Confine, LaunchOptions};
use std::fs::{self, Permissions};
use std::io::{BufReader, Write, pipe};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

/// How long the node holds its session without another beat.
const HELD: Duration = Duration::from_secs(1);

/// A browser that does not start before there is a file `go` in `machine`, and until when it may live.
fn late(machine: &Path) -> (TempDir, KeeperSpec, BootInstant) {
    let folder = tempfile::tempdir().unwrap();
    let options = options(&folder.path().join("profile"));
    let program = machine.join("chromium");
    let (go, real) = (machine.join("go"), options.program.display());
    let script = format!(
        "#!/bin/sh\nwhile [ ! -e '{}' ]; do sleep 0.02; done\nexec '{real}' \"$@\"\n",
        go.display()
    );
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
    // What it may see of the machine is made for the program that is named, and this one starts another.
    let options = LaunchOptions { program, confine: Confine::Off, ..options };
    let browser = BrowserSpec::Launch(Box::new(options));
    let until = BootInstant::now().after(HELD);
    let spec = KeeperSpec { hold_until: Some(until), ..spec(folder.path(), browser) };
    (folder, spec, until)
}

#[tokio::test]
async fn a_browser_that_starts_for_longer_than_it_was_held_is_kept_by_the_beats_of_its_node() {
    let machine = tempfile::tempdir().unwrap();
    let (folder, spec, until) = late(machine.path());
    let (beats, mut node) = pipe().unwrap();
    let more = BootInstant::now().after(Duration::from_hours(1));
    writeln!(node, "{}", serde_json::to_string(&more).unwrap()).unwrap();
    let meanwhile = async {
        eventually("its first time is over", async || BootInstant::now() > until).await;
        fs::write(machine.path().join("go"), "").unwrap();
    };
    let (kept, ()) = tokio::join!(Kept::start_told(folder, spec, BufReader::new(beats)), meanwhile);
    let kept = kept.unwrap();
    let node = kept.connect(Role::Node).await;
    open_page(&node.connection.browser(), "about:blank").await;
    kept.close().await;
}

#[tokio::test]
async fn a_browser_that_is_still_starting_when_its_node_falls_silent_ends() {
    let machine = tempfile::tempdir().unwrap();
    let (folder, spec, _) = late(machine.path());
    // The node keeps its end, and says nothing.
    let (beats, node) = pipe().unwrap();
    let reason = Kept::start_told(folder, spec, BufReader::new(beats)).await.err();
    let expected = "expected a browser that speaks, found that no node holds its session any more";
    assert_eq!(reason.as_deref(), Some(expected));
    drop(node);
}
