//! `baton dashboard`: the node's page, in a person's browser.
//!
//! The address that opens it works once, and soon. All users of a machine read command lines, so it reaches the
//! browser in a private file that leads there, and only the path of that stands on one.

use super::Context;
use anyhow::{Context as _, bail};
use baton_api::Exit;
use baton_store::data::write_private;
use clap::Args;
use std::path::Path;
use std::process::Stdio;
use tokio::process::Command;
use url::Url;

/// What opens an address on a desktop.
const OPENERS: [&str; 2] = ["xdg-open", "open"];

/// Open the page of the node in a browser: sessions, their history, what came back
#[derive(Debug, Args)]
#[command(after_help = "\
The address signs the page in once, within two minutes, with this machine's admin key; baton keys
create makes a key that may do less, which is pasted into the page. A page stays signed in for 12
hours, until it is signed out, or until its key is revoked.

Examples:
  baton dashboard              open it
  baton dashboard --print      print the address, for a browser of your choice")]
pub(super) struct Dashboard {
    /// Print the address instead of opening it
    #[arg(long)]
    print: bool,
}

impl Dashboard {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let ticket = context.client().await?.open_page().await?;
        if !self.print {
            let door = context.data.page_door();
            write_private(&door, door_to(&ticket.url).as_bytes())?;
            open(&door).await?;
        }
        let mut place = ticket.url.clone();
        place.set_fragment(None);
        if self.print {
            context.output.answer(&ticket, || ticket.url.to_string());
        } else {
            let opened = serde_json::json!({ "url": place });
            context.output.answer(&opened, || format!("opened {place}"));
        }
        Ok(Exit::Done)
    }
}

/// A page that leads to an address at once.
fn door_to(url: &Url) -> String {
    // An address has no character that ends an attribute.
    format!(
        "<!doctype html>\n<meta charset=\"utf-8\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta http-equiv=\"refresh\" content=\"0; url={url}\">\n<title>Baton</title>\n\
         <a href=\"{url}\">Open Baton</a>\n"
    )
}

async fn open(door: &Path) -> anyhow::Result<()> {
    for opener in OPENERS {
        let mut command = Command::new(opener);
        command.arg(door).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        match command.status().await {
            Ok(status) if status.success() => return Ok(()),
            Ok(status) => {
                bail!(
                    "{opener} opened no browser: {status}\nbaton dashboard --print prints the address"
                )
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(error).with_context(|| format!("could not start {opener}")),
        }
    }
    bail!(
        "expected xdg-open, which opens a browser, found none\nbaton dashboard --print prints the address"
    )
}
