//! `baton open`

use super::Context;
use super::environment::EnvironmentArgs;
use crate::output;
use baton_api::{Exit, OpenSession, SharedFolder};
use baton_session::SessionName;
use clap::Args;
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
    --viewport 1280x800 --timezone Asia/Tokyo")]
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
