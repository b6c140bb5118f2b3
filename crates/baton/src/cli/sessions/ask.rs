//! `baton sessions ask`: a person does what an agent cannot, by a link, and the command waits for what they changed.

use super::{Context, SessionReference};
use crate::output;
use baton_api::{
    AskPerson, AskState, AskView, Client, ClientError, CreatedAsk, Exit, MAX_ASK_WAIT, WaitForAsk,
};
use clap::Args;
use std::io::IsTerminal;

/// Ask a person to do something in a session, by a link, and wait for what they changed
///
/// The link counts once, in the browser that presses its button. Who opened it sees the tab in front, as long as
/// it is at one of the sites, and gives the session back by saying that it is done. Ends with 0 only then.
#[derive(Debug, Args)]
#[command(after_help = "\
Without node.publicUrl only a browser on the node's machine opens the link; then
this says what to type. Whom [people] in the settings names is told, too.

Examples:
  baton sessions ask shop \"sign in to the bank\"
  baton sessions ask shop \"sign in\" --site bank.example --minutes 20
  baton sessions ask shop \"send the form\" --files --no-wait --json")]
pub(in crate::cli) struct Ask {
    #[command(flatten)]
    session: SessionReference,
    /// What they are to do, in a line
    #[arg(value_name = "TEXT")]
    text: String,
    /// A site that they see, with what is below it; may be given more than once [default: that of the
    /// tab in front]
    #[arg(long = "site", value_name = "SITE")]
    sites: Vec<String>,
    /// For how long the link counts and they may take, 1 to 60 [default: 10]
    #[arg(long, value_name = "MINUTES")]
    minutes: Option<u32>,
    /// Let them give files of their own to the site
    #[arg(long)]
    files: bool,
    /// Print the link, and do not wait
    #[arg(long)]
    no_wait: bool,
}

impl Ask {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let Self { session, text, sites, minutes, files, no_wait } = self;
        let (client, output) = (context.client().await?, context.output);
        let request = AskPerson { text, sites, minutes, files };
        let created = client.ask_person(&session.id, &request).await?;
        output.note(&output::ask_reach(&created));
        if no_wait {
            let with_picture = std::io::stdout().is_terminal();
            output.answer(&created, || output::ask_link(&created, with_picture));
            return Ok(Exit::Done);
        }
        // The result is what became of it; the link is needed before.
        if output.is_json() {
            output.note(&output::ask_link(&created, false));
        } else {
            output.line(&output::ask_link(&created, std::io::stdout().is_terminal()));
        }
        let view = wait(context, &client, &created).await?;
        output.answer(&view, || output::ask_end(&view));
        Ok(if view.state == AskState::Done { Exit::Done } else { Exit::Failed })
    }
}

/// Waits until it has ended.
async fn wait(
    context: &Context,
    client: &Client,
    created: &CreatedAsk,
) -> Result<AskView, ClientError> {
    let session = created.view.session.to_string();
    let mut known = AskState::Waiting;
    let progress = context.output.progress("waiting for somebody to open the link");
    let ended = loop {
        let how = WaitForAsk { wait: Some(MAX_ASK_WAIT), after: Some(known) };
        match client.fetch_ask(&session, &created.view.id, &how).await {
            Ok(view) if view.state.is_over() => break Ok(view),
            Ok(view) => {
                if view.state != known {
                    let person = view.person.as_ref().map_or("somebody", |name| name.as_str());
                    progress.say(&format!("{person} is at it"));
                }
                known = view.state;
            }
            Err(error) => break Err(error),
        }
    };
    progress.end();
    ended
}
