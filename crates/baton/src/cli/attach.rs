//! `baton attach`

use super::Context;
use crate::output;
use baton_api::{AttachSession, Exit};
use baton_session::SessionName;
use clap::Args;
use url::Url;

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
