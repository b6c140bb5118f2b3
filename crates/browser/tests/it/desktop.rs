//! A desktop session of the test's own: a bus, and a real keyring on it, in a temporary folder.

use crate::fixture::eventually;
use baton_browser::launch::{Confine, LaunchOptions};
use baton_browser::profile::keyring::{KeyringError, Product, password};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;
use zbus::OwnedObjectPath;
use zbus::connection::Builder;

/// No `servicedir`: nothing of this machine is started on it.
const CONFIGURATION: &str = r#"<busconfig>
  <type>session</type>
  <listen>unix:path=PLACE</listen>
  <policy context="default">
    <allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/>
  </policy>
</busconfig>"#;

/// A bus, and maybe a keyring; both end with it.
pub(crate) struct Desktop {
    folder: TempDir,
    pub(crate) bus: String,
    running: Vec<Daemon>,
}

impl Desktop {
    /// A session bus on which nobody is.
    pub(crate) fn bare() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let bus = format!("unix:path={}", folder.path().join("bus").display());
        let configuration = folder.path().join("bus.conf");
        let text = CONFIGURATION.replace("PLACE", folder.path().join("bus").to_str().unwrap());
        fs::write(&configuration, text).unwrap();
        let mut command = Command::new("dbus-daemon");
        command.arg("--config-file").arg(&configuration).args(["--nofork", "--print-address"]);
        let mut daemon = Daemon::start(command.stdout(Stdio::piped()), "dbus-daemon");
        let mut address = String::new();
        BufReader::new(daemon.0.stdout.take().unwrap()).read_line(&mut address).unwrap();
        assert!(address.starts_with(&bus), "the bus says {address:?}");
        Self { folder, bus, running: vec![daemon] }
    }

    /// A session with a keyring, which is open for as long as nobody locks it.
    pub(crate) async fn with_keyring() -> Self {
        let mut desktop = Self::bare();
        let mut command = Command::new("gnome-keyring-daemon");
        command.args(["--foreground", "--unlock", "--components=secrets", "--control-directory"]);
        command.arg(desktop.folder.path().join("control")).envs(desktop.variables());
        command.stdin(Stdio::piped()).stdout(Stdio::null());
        let mut daemon = Daemon::start(&mut command, "gnome-keyring");
        // The password, which is empty: the keyring is a new one, so any opens it.
        daemon.0.stdin.take().unwrap().write_all(b"\n").unwrap();
        desktop.running.push(daemon);
        let absent = |error| matches!(error, KeyringError::NoService { .. });
        let is_there = async || !password(Product::Brave, Some(&desktop.bus)).is_err_and(absent);
        eventually("the keyring is on the bus", is_there).await;
        desktop
    }

    /// Locks everything in the keyring.
    pub(crate) async fn lock(&self) {
        let bus = Builder::address(self.bus.as_str()).build().await.unwrap();
        let place = (Some("org.freedesktop.secrets"), "/org/freedesktop/secrets");
        let interface = Some("org.freedesktop.Secret.Service");
        let all = OwnedObjectPath::try_from("/org/freedesktop/secrets/collection/login").unwrap();
        let all = vec![all];
        let asked = bus.call_method(place.0, place.1, interface, "Lock", &all);
        let answer = asked.await.unwrap();
        let (locked, _): (Vec<OwnedObjectPath>, OwnedObjectPath) =
            answer.body().deserialize().unwrap();
        assert_eq!(locked, all);
    }

    /// How a browser of this session is started.
    pub(crate) fn options(&self, profile: &Path) -> LaunchOptions {
        let mut options = crate::fixture::options(profile);
        options.extra_args = vec!["--password-store=gnome-libsecret".to_owned()];
        options.inherited.extend(self.variables());
        // A person's own browser, which nobody confines.
        options.confine = Confine::Off;
        options
    }

    fn variables(&self) -> Vec<(String, String)> {
        let folders =
            ["HOME", "XDG_RUNTIME_DIR", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"];
        let home = self.folder.path().to_str().unwrap();
        let mut variables: Vec<(String, String)> =
            folders.iter().map(|name| ((*name).to_owned(), home.to_owned())).collect();
        variables.push(("DBUS_SESSION_BUS_ADDRESS".to_owned(), self.bus.clone()));
        variables
    }
}

/// A process that ends with its handle.
struct Daemon(Child);

impl Daemon {
    fn start(command: &mut Command, package: &str) -> Self {
        Self(command.stderr(Stdio::null()).spawn().unwrap_or_else(|error| {
            panic!(
                "expected {} to run, found: {error}\n\
                 install it with `apt-get install {package}`, or with `cargo xtask setup`",
                command.get_program().display()
            )
        }))
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
