//! `baton open` and `baton attach`: a session in a browser of ours or of yours, and what its pages see.

use super::{Context, state_file};
use crate::output;
use baton_api::{AttachSession, Exit, OpenSession, SharedFolder};
use baton_session::certificate::{BadCertificate, MAX_PEM};
use baton_session::egress::{Egress, NotCredentials, ProxyCredentials};
use baton_session::identity::{ColorScheme, Identity};
use baton_session::permission::{NAMES, Setting, origin_of};
use baton_session::state::{Geolocation, Viewport};
use baton_session::{Certificate, Environment, NodeLabel, Permission, SessionName};
use clap::Args;
use std::path::{Path, PathBuf};
use url::Url;

/// Open a session in a browser of its own
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  baton open https://example.org --name shopping
  baton open https://shop.test --name forms \\
    --files ~/scans --files ~/receipts:rw
  baton open https://staging.test --name staging --ca ~/our-ca.pem
  baton open https://a.test https://b.test --name pair \\
    --viewport 1280x800 --timezone Asia/Tokyo
  baton open https://shop.test --name phone --viewport 412x915 \\
    --scale 2.625 --touch 5 --user-agent \"Mozilla/5.0 (Linux; \\
    Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) \\
    Chrome/147.0.0.0 Mobile Safari/537.36\"")]
pub(super) struct Open {
    /// A tab for each of these addresses, the first one in front; none opens a blank tab
    #[arg(value_name = "URL")]
    urls: Vec<Url>,
    /// Name of the session: letters, digits, '-', '_' and '.'
    #[arg(long)]
    name: SessionName,
    /// Free text for people
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// Show the browser's window
    #[arg(long)]
    headed: bool,
    /// Record network and console of its tabs, for baton debug; it makes pages slower
    #[arg(long)]
    debug: bool,
    /// Keep secrets of its tabs too, for baton debug --reveal: in memory, as long as this browser runs
    #[arg(long, requires = "debug")]
    reveal: bool,
    /// Let its browser see this folder of the machine, to upload from it and to open pages in it; with
    /// :rw after it, to write there too. May be repeated
    #[arg(long, value_name = "DIR[:rw]")]
    files: Vec<String>,
    /// What its node has to be for, in a cluster: a label of baton node list. May be repeated
    #[arg(long = "label", value_name = "LABEL")]
    labels: Vec<NodeLabel>,
    #[command(flatten)]
    environment: EnvironmentArgs,
}

/// A folder as it is typed, from the current one on.
fn folder(text: &str) -> anyhow::Result<SharedFolder> {
    let (path, writable) = match text.rsplit_once(':') {
        Some((path, "rw")) => (path, true),
        Some((path, "ro")) => (path, false),
        _ => (text, false),
    };
    let path = std::path::absolute(path)?.to_string_lossy().into_owned();
    Ok(SharedFolder { path, writable })
}

impl Open {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let client = context.client().await?;
        let request = OpenSession {
            name: self.name,
            description: self.description,
            urls: self.urls,
            headed: self.headed,
            debug: self.debug,
            reveal: self.reveal,
            files: self.files.iter().map(|text| folder(text)).collect::<Result<_, _>>()?,
            labels: self.labels.into_iter().collect(),
            environment: self.environment.read()?,
        };
        let progress = context.output.progress("starting a browser");
        let opened = client.open_session(&request).await;
        progress.end();
        let view = opened?;
        context.output.answer(&view, || output::session(&view));
        Ok(Exit::Done)
    }
}

/// What pages see of the world.
#[derive(Debug, Args)]
#[command(next_help_heading = "What pages see")]
pub(super) struct EnvironmentArgs {
    /// Inner size of the window in pixels, such as 1280x800
    #[arg(long, value_name = "WxH", value_parser = viewport)]
    viewport: Option<Viewport>,
    /// Time zone, such as Asia/Tokyo
    #[arg(long, value_name = "TZ")]
    timezone: Option<String>,
    /// Language, such as ja-JP
    #[arg(long, value_name = "LOCALE")]
    locale: Option<String>,
    /// What the browser says it is. With one of another version or system of Chrome, Chromium or Edge it
    /// becomes that in all that pages and servers see of it; one of any other browser is refused
    #[arg(long, value_name = "UA")]
    user_agent: Option<String>,
    /// Languages that pages are asked for, the preferred one first, such as de,en
    #[arg(long, value_name = "LANG,LANG", value_delimiter = ',')]
    languages: Vec<String>,
    /// Pixels of the screen in one CSS pixel (deviceScaleFactor), such as 2
    #[arg(long, value_name = "FACTOR")]
    scale: Option<f64>,
    /// A screen that tells this many fingers apart (hasTouch), such as 5
    #[arg(long, value_name = "FINGERS")]
    touch: Option<u8>,
    /// Colours that pages are asked for: light or dark
    #[arg(long, value_name = "SCHEME", value_parser = color_scheme)]
    color_scheme: Option<ColorScheme>,
    /// Ask pages for little motion
    #[arg(long)]
    reduced_motion: bool,
    /// Where the browser says it is, in degrees, such as 35.68,139.69
    #[arg(long, value_name = "LAT,LON", value_parser = place, allow_hyphen_values = true)]
    geolocation: Option<Geolocation>,
    /// What a site may do without asking, such as `notifications=https://example.org`; again for more
    #[arg(long, value_name = "PERMISSION=ORIGIN", value_parser = permission)]
    allow: Vec<Permission>,
    /// Trust the certificates in this file (PEM): an authority of one's own, or a server that signed for
    /// itself. Again for more
    #[arg(long, value_name = "FILE")]
    ca: Vec<PathBuf>,
    /// Let the browser reach this host and no others: example.org, *.example.org for all below it,
    /// localhost, 10.0.0.0/8, each perhaps with a port. Again for more
    #[arg(long, value_name = "HOST")]
    only: Vec<String>,
    /// The proxy through which the browser reaches the network: http://HOST:PORT, https:// or socks5://;
    /// `system` for what the variables `HTTPS_PROXY` and its likes say where the node runs
    #[arg(long, value_name = "URL")]
    proxy: Option<String>,
    /// What that proxy is told: a file with USER:PASSWORD in its only line
    #[arg(long, value_name = "FILE", requires = "proxy")]
    proxy_credentials: Option<PathBuf>,
}

impl EnvironmentArgs {
    /// What was typed, with the files that it names.
    pub(super) fn read(self) -> anyhow::Result<Environment> {
        let mut certificates = Vec::new();
        for path in &self.ca {
            certificates.extend(read_certificates(path)?);
        }
        let credentials = self.proxy_credentials.as_deref().map(read_credentials).transpose()?;
        let mut environment = Environment { certificates, ..self.into() };
        if let Some(egress) = &mut environment.egress {
            egress.credentials = credentials;
        }
        Ok(environment)
    }
}

/// The largest file of credentials, in bytes.
const MAX_CREDENTIALS: usize = 4096;

/// The user and the password in a file.
fn read_credentials(path: &Path) -> anyhow::Result<ProxyCredentials> {
    let bytes = state_file::read_bounded(path, MAX_CREDENTIALS)?;
    let text = String::from_utf8(bytes).map_err(|_| NotCredentials);
    let found = text.and_then(|text| text.trim_end_matches(['\r', '\n']).parse());
    found.map_err(|source| BadLogin { path: path.to_owned(), source }.into())
}

/// A file that holds no user with a password.
#[derive(Debug, thiserror::Error)]
#[error("{}: {source}", path.display())]
pub(super) struct BadLogin {
    path: PathBuf,
    source: NotCredentials,
}

/// The certificates in a file.
fn read_certificates(path: &Path) -> anyhow::Result<Vec<Certificate>> {
    let bytes = state_file::read_bounded(path, MAX_PEM)?;
    // What is no text holds no PEM, and the error for that says what to do.
    let found = Certificate::read_all(&String::from_utf8_lossy(&bytes));
    found.map_err(|source| NotTrusted { path: path.to_owned(), source }.into())
}

/// A file that holds nothing that could be trusted, or more than that.
#[derive(Debug, thiserror::Error)]
#[error("{}: {source}", path.display())]
pub(super) struct NotTrusted {
    path: PathBuf,
    source: BadCertificate,
}

impl From<EnvironmentArgs> for Environment {
    fn from(args: EnvironmentArgs) -> Self {
        let identity = Identity {
            languages: args.languages,
            device_scale_factor: args.scale,
            max_touch_points: args.touch,
            color_scheme: args.color_scheme,
            reduced_motion: args.reduced_motion.then_some(true),
            ..Identity::default()
        };
        Self {
            identity: (identity != Identity::default()).then_some(identity),
            viewport: args.viewport,
            user_agent: args.user_agent,
            browser: None,
            timezone: args.timezone,
            locale: args.locale,
            geolocation: args.geolocation,
            permissions: args.allow,
            certificates: Vec::new(),
            egress: Egress::asked(args.only, args.proxy),
        }
    }
}

fn viewport(text: &str) -> Result<Viewport, String> {
    let read = || {
        let (width, height) = text.split_once('x')?;
        Some(Viewport { width: width.parse().ok()?, height: height.parse().ok()? })
    };
    read().ok_or_else(|| "expected a width and a height such as 1280x800".to_owned())
}

fn color_scheme(text: &str) -> Result<ColorScheme, String> {
    match text {
        "light" => Ok(ColorScheme::Light),
        "dark" => Ok(ColorScheme::Dark),
        _ => Err("expected light or dark".to_owned()),
    }
}

fn permission(text: &str) -> Result<Permission, String> {
    let expected = || "expected a permission and an origin, such as camera=https://example.org";
    let (name, address) = text.split_once('=').ok_or_else(expected)?;
    let permission = Permission {
        name: name.to_owned(),
        origin: origin_of(address).ok_or_else(expected)?,
        setting: Setting::Allow,
        changed: None,
    };
    permission.validate().map_err(|error| {
        let known: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
        format!("{error}; there are {}", known.join(", "))
    })?;
    Ok(permission)
}

fn place(text: &str) -> Result<Geolocation, String> {
    let read = || {
        let (latitude, longitude) = text.split_once(',')?;
        let (latitude, longitude) = (latitude.trim().parse().ok()?, longitude.trim().parse().ok()?);
        Some(Geolocation { latitude, longitude, accuracy: 1.0 })
    };
    read().ok_or_else(|| "expected two numbers such as 35.68,139.69".to_owned())
}

/// Keep the session of a browser that runs already
#[derive(Debug, Args)]
#[command(after_help = "\
The browser must have been started with --remote-debugging-port, on this machine. It stays yours:
closing the session leaves it running. A resume starts a browser of the session's own.

Example:
  baton attach http://127.0.0.1:9222 --name work")]
pub(super) struct Attach {
    /// The browser's DevTools address
    #[arg(value_name = "CDP_URL")]
    cdp_url: Url,
    /// Name of the session: letters, digits, '-', '_' and '.'
    #[arg(long)]
    name: SessionName,
    /// Free text for people
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
}

impl Attach {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let client = context.client().await?;
        let (name, description, cdp_url) = (self.name, self.description, self.cdp_url);
        let request = AttachSession { name, description, cdp_url };
        let progress = context.output.progress("attaching to the browser");
        let attached = client.attach_session(&request).await;
        progress.end();
        let view = attached?;
        context.output.answer(&view, || output::session(&view));
        Ok(Exit::Done)
    }
}

#[cfg(test)]
mod tests {
    use super::{permission, place, viewport};

    #[test]
    fn sizes_and_places_are_two_numbers() {
        let size = viewport("1280x800").unwrap();
        assert_eq!((size.width, size.height), (1280, 800));
        let tokyo = place("35.68, 139.69").unwrap();
        assert!((tokyo.latitude - 35.68).abs() < 1e-9 && (tokyo.longitude - 139.69).abs() < 1e-9);
        for wrong in ["", "1280", "1280x", "-1x5", "axb"] {
            assert!(viewport(wrong).is_err(), "{wrong:?} is no size");
        }
        for wrong in ["", "35.68", "35.68;139.69", "north,east"] {
            assert!(place(wrong).is_err(), "{wrong:?} is no place");
        }
    }

    #[test]
    fn a_permission_is_a_name_and_an_origin() {
        let camera = permission("camera=https://app.test/").unwrap();
        assert_eq!(camera.place(), "camera https://app.test");
        for wrong in ["", "camera", "camera=", "camera=app.test", "cookies=https://app.test"] {
            assert!(permission(wrong).is_err(), "{wrong:?} is no permission");
        }
    }
}
