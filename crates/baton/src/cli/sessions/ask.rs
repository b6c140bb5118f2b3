//! `baton sessions ask`: a person does what an agent cannot, by a link, and the command waits for what they changed.

use super::{Context, SessionReference};
use crate::output;
use anyhow::Context as _;
use baton_api::{
    AskPerson, AskState, AskView, Client, ClientError, Exit, MAX_ASK_WAIT, OPEN_ASK, WaitForAsk,
};
use clap::Args;
use std::io::IsTerminal;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Ask a person to do something in a session, by a link, and wait for what they changed
///
/// The link counts once, in the browser that presses its button. Who opened it sees the tab in front, as long as
/// it is at one of the sites, and gives the session back by saying that it is done. Ends with 0 only then. Who
/// interrupts the command takes the question back.
#[derive(Debug, Args)]
#[command(after_help = "\
Without node.publicUrl only a browser on the node's machine opens the link; then
this says what to type. Whom [people] in the settings names is told, too. A
session has one question at a time: --wait waits for the one that is open,
--withdraw takes it back.

Examples:
  baton sessions ask shop \"sign in to the bank\"
  baton sessions ask shop \"sign in\" --site bank.example --minutes 20
  baton sessions ask shop \"send the form\" --files --no-wait --json
  baton sessions ask shop --withdraw")]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of the command")]
pub(in crate::cli) struct Ask {
    #[command(flatten)]
    session: SessionReference,
    /// What they are to do, in a line
    #[arg(value_name = "TEXT", required_unless_present_any = ["wait", "withdraw"])]
    text: Option<String>,
    /// A site that they see, with what is below it; may be given more than once [default: that of the
    /// tab in front]
    #[arg(long = "site", value_name = "SITE", requires = "text")]
    sites: Vec<String>,
    /// For how long the link counts and they may take, 1 to 60 [default: 10]
    #[arg(long, value_name = "MINUTES", requires = "text")]
    minutes: Option<u32>,
    /// Let them give files of their own to the site
    #[arg(long, requires = "text")]
    files: bool,
    /// Print the link, and do not wait
    #[arg(long, requires = "text")]
    no_wait: bool,
    /// Wait for the question that is open
    #[arg(long, conflicts_with_all = ["text", "withdraw"])]
    wait: bool,
    /// Take the question that is open back: its link opens nothing any more
    #[arg(long, conflicts_with = "text")]
    withdraw: bool,
}

impl Ask {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let client = context.client().await?;
        let session = self.session.id.clone();
        if self.withdraw {
            let view = client.withdraw_ask(&session, OPEN_ASK).await?;
            context.output.answer(&view, || output::ask_end(&view));
            return Ok(Exit::Done);
        }
        let view = if self.wait {
            // The one that is open may be another one by the next time that it is asked for.
            let open = client.fetch_ask(&session, OPEN_ASK, &WaitForAsk::default()).await?;
            context.output.note(&output::ask_open(&open));
            wait(context, &client, &open).await?
        } else {
            match self.ask(context, &client).await? {
                Some(view) => view,
                None => return Ok(Exit::Done),
            }
        };
        context.output.answer(&view, || output::ask_end(&view));
        Ok(if view.state == AskState::Done { Exit::Done } else { Exit::Failed })
    }

    /// Asks, and waits for what becomes of it, unless nobody waits.
    async fn ask(self, context: &Context, client: &Client) -> anyhow::Result<Option<AskView>> {
        let Self { session, text, sites, minutes, files, no_wait, .. } = self;
        let output = context.output;
        // Heard from here on: what was asked is taken back, also where the answer is still on its way.
        let mut ends = Ends::listen(session.id.clone())?;
        let request = AskPerson { text: text.unwrap_or_default(), sites, minutes, files };
        let asks = client.ask_person(&session.id, &request);
        tokio::pin!(asks);
        let (created, is_over) = tokio::select! {
            biased;
            created = &mut asks => (created?, false),
            // Which one is to be taken back is known only with the answer.
            () = ends.told() => (ends.finish(context, asks).await?, true),
        };
        if is_over {
            return Ok(Some(ends.finish(context, take_back(client, &created.view)).await?));
        }
        output.note(&output::ask_reach(&created));
        if no_wait {
            let with_picture = std::io::stdout().is_terminal();
            output.answer(&created, || output::ask_link(&created, with_picture));
            return Ok(None);
        }
        // The result is what became of it; the link is needed before.
        if output.is_json() {
            output.note(&output::ask_link(&created, false));
        } else {
            output.line(&output::ask_link(&created, std::io::stdout().is_terminal()));
        }
        let view = tokio::select! {
            view = wait(context, client, &created.view) => view?,
            () = ends.told() => ends.finish(context, take_back(client, &created.view)).await?,
        };
        Ok(Some(view))
    }
}

/// The signals that end the command.
struct Ends {
    interrupted: Signal,
    terminated: Signal,
    /// The session, as the person named it.
    session: String,
}

impl Ends {
    fn listen(session: String) -> anyhow::Result<Self> {
        let what = "could not listen for signals";
        let interrupted = signal(SignalKind::interrupt()).context(what)?;
        let terminated = signal(SignalKind::terminate()).context(what)?;
        Ok(Self { interrupted, terminated, session })
    }

    /// Waits until the command is to end.
    async fn told(&mut self) {
        tokio::select! {
            _ = self.interrupted.recv() => {}
            _ = self.terminated.recv() => {}
        }
    }

    /// Does what is left before the end, which takes long where a browser is captured first; who ends the command once
    /// more does not wait for it.
    async fn finish<T>(
        &mut self,
        context: &Context,
        work: impl Future<Output = Result<T, ClientError>>,
    ) -> anyhow::Result<T> {
        context.output.note("taking the question back; interrupt once more to leave it");
        tokio::select! {
            biased;
            done = work => Ok(done?),
            () = self.told() => anyhow::bail!(
                "expected to take the question back, found a second interruption: it may be open still\n\
                 `baton sessions ask {} --withdraw` takes it back",
                self.session
            ),
        }
    }
}

async fn take_back(client: &Client, asked: &AskView) -> Result<AskView, ClientError> {
    client.withdraw_ask(&asked.session.to_string(), &asked.id).await
}

/// Waits until it has ended.
async fn wait(context: &Context, client: &Client, asked: &AskView) -> Result<AskView, ClientError> {
    let session = asked.session.to_string();
    let mut known = AskState::Waiting;
    let progress = context.output.progress("waiting for somebody to open the link");
    let ended = loop {
        let how = WaitForAsk { wait: Some(MAX_ASK_WAIT), after: Some(known) };
        match client.fetch_ask(&session, &asked.id, &how).await {
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
