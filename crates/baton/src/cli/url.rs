//! `baton url`

use super::Context;
use baton_api::Exit;
use clap::Args;
use serde_json::json;

/// Print the address of the node; one is started where none runs
#[derive(Debug, Args)]
#[command(after_help = "\
A node listens at 127.0.0.1:7420, unless its settings say otherwise. One that a command started takes
another port while a program has that one, so ask for the address where it is needed.

Examples:
  export BATON_KEY=\"$(baton keys create --name curl --scope read)\"
  curl -H \"Authorization: Bearer $BATON_KEY\" \"$(baton url)/sessions\"")]
pub(super) struct Address {}

impl Address {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let client = context.client().await?;
        let url = client.base().as_str().trim_end_matches('/');
        context.output.answer(&json!({ "url": url }), || url.to_owned());
        Ok(Exit::Done)
    }
}
