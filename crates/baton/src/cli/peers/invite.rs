//! `baton peers invite` and `baton peers join`: two machines become peers by one text.
//!
//! The text lets one node join, so it goes to the screen, or to a file that only its user can read.

use super::can_ask;
use crate::cli::Context;
use crate::cli::state_file::read_bounded;
use crate::output;
use anyhow::{Context as _, anyhow, bail};
use baton_api::sync::{CreateInvitation, CreatedInvitation, JoinPeer};
use baton_api::{Client, ClientError, ErrorCode, Exit};
use baton_store::data::{DataError, write_private};
use clap::Args;
use console::Term;
use serde_json::json;
use std::io::{ErrorKind, IsTerminal};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use url::Url;

/// Where a node that listens for nobody else yet offers to listen for peers.
const OFFERED: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::UNSPECIFIED), 7421);
/// The longest file with an invitation, in bytes.
const CARD_MAX: usize = 16 << 10;

/// Invite another machine: what this prints is typed there, once, within ten minutes
#[derive(Debug, Args)]
#[command(after_help = "\
What is printed says where this machine is asked, which key it has and which its certificate has, and a
secret that counts once. So nobody compares fingerprints, and no certificate authority is needed. Who
reads it may join in your place: show it to nobody, and use it at once.

A node that listens on its own machine alone has to listen for peers as well: with --listen, in TLS,
with a certificate that it makes itself, also after a restart. What nodes say to each other is all that
is answered there. 0.0.0.0:7421 is every address of this machine, and its firewall must let that port
through. A server that has node.publicUrl and a certificate of its own needs no --listen.

Examples:
  baton peers invite
  baton peers invite --listen 0.0.0.0:7421
  baton peers invite --listen 0.0.0.0:7421 \\
    --address https://home.example.org:7421
  baton peers invite --card server.invitation
  baton peers invite --list
  baton peers invite --cancel inv_0123456789abcdef")]
pub(in crate::cli) struct Invite {
    /// Listen for peers at this address from now on, such as 0.0.0.0:7421
    #[arg(long, value_name = "ADDR:PORT")]
    listen: Option<SocketAddr>,
    /// Where the other machine reaches this one, when it is none of this machine's own addresses; may be
    /// given more than once
    #[arg(long = "address", value_name = "URL")]
    addresses: Vec<Url>,
    /// Write the invitation to this file, and not to the screen
    #[arg(long, value_name = "FILE")]
    card: Option<PathBuf>,
    /// Show the open invitations, and where this node listens for peers
    #[arg(long, conflicts_with_all = ["listen", "addresses", "card", "cancel", "close"])]
    list: bool,
    /// Take an open invitation back
    #[arg(long, value_name = "ID", conflicts_with_all = ["listen", "addresses", "card", "close"])]
    cancel: Option<String>,
    /// Listen for peers no more: those that joined cannot ask this node then
    #[arg(long, conflicts_with_all = ["listen", "addresses", "card"])]
    close: bool,
}

impl Invite {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let (client, output) = (context.client().await?, context.output);
        if self.list {
            let open = client.list_invitations().await?;
            output.answer(&open, || output::invitations(&open));
        } else if let Some(id) = self.cancel {
            client.cancel_invitation(&id).await?;
            output.answer(&json!({ "cancelled": id }), || format!("cancelled {id}"));
        } else if self.close {
            client.close_peer_listener().await?;
            let closed = "this node listens for peers no more".to_owned();
            output.answer(&json!({ "closed": true }), || closed);
        } else {
            if let Some(card) = &self.card {
                expect_place(card)?;
            }
            let request = CreateInvitation { listen: self.listen, addresses: self.addresses };
            let created = invite(&client, request).await?;
            if let Some(card) = &self.card
                && let Err(error) = write_card(card, &created)
            {
                if let Err(why) = client.undo_invitation(&created.id).await {
                    output.note(&format!("not all of it could be taken back: {why}"));
                }
                return Err(error);
            }
            show(context, &created, self.card.as_deref());
        }
        Ok(Exit::Done)
    }
}

/// Makes an invitation. A node that nobody else reaches offers to listen for peers.
async fn invite(client: &Client, request: CreateInvitation) -> anyhow::Result<CreatedInvitation> {
    match client.create_invitation(&request).await {
        Err(ClientError::Problem(problem)) if is_offered(problem.code) => {
            let listen = Some(OFFERED);
            Ok(client.create_invitation(&CreateInvitation { listen, ..request }).await?)
        }
        created => Ok(created?),
    }
}

/// Whether a person wants the node to listen for peers, which it does not yet.
fn is_offered(code: ErrorCode) -> bool {
    if code != ErrorCode::NotReachable || !can_ask() {
        return false;
    }
    let terminal = Term::stderr();
    let question = format!(
        "This node listens on this machine alone. Listen for peers at {OFFERED} too, in TLS? [y/N] "
    );
    let asked = terminal.write_str(&question).and_then(|()| terminal.read_line());
    asked.is_ok_and(|answer| matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// Expects that a file can be made where the invitation is to lie: without it, nobody would have its text.
fn expect_place(card: &Path) -> anyhow::Result<()> {
    if card.is_dir() {
        bail!("expected a file for the invitation, found the folder {}", card.display());
    }
    let folder = card.parent().filter(|folder| !folder.as_os_str().is_empty());
    let tried = tempfile::tempfile_in(folder.unwrap_or(Path::new(".")));
    tried.map(drop).map_err(|error| not_written(card, error.kind()))
}

fn write_card(card: &Path, created: &CreatedInvitation) -> anyhow::Result<()> {
    let written = write_private(card, format!("{}\n", created.code).as_bytes());
    written.map_err(|error| match error {
        DataError::Io { source, .. } => not_written(card, source.kind()),
        other => other.into(),
    })
}

/// The system's own words would name a file that is there for a moment only.
fn not_written(card: &Path, kind: ErrorKind) -> anyhow::Error {
    anyhow!(
        "could not write the invitation to {}: {kind}\nthere is no invitation; name a file in a folder that is \
         there and yours",
        card.display()
    )
}

fn show(context: &Context, created: &CreatedInvitation, card: Option<&Path>) {
    let output = context.output;
    let Some(path) = card else {
        let with_picture = std::io::stdout().is_terminal();
        output.answer(created, || output::invitation(created, with_picture));
        output.note(&output::invitation_counts(created));
        return;
    };
    let shown = path.display().to_string();
    let written = json!({ "id": created.id, "card": shown, "expiresAt": created.expires_at });
    output.answer(&written, || output::invitation_card(&shown));
    output.note(&output::invitation_counts(created));
}

/// Join another machine that invited this one: both are confirmed peers then
#[derive(Debug, Args)]
#[command(after_help = "\
On the other machine, baton peers invite prints the whole command. The invitation says which key that
node has and which its certificate has, so nothing is compared, and an address of a private network
needs no [outbound] allow. When another machine answers there, nothing is registered on either side.

The invitation is read from --card, or asked for on a terminal when it is not given.

Examples:
  baton peers join BATON-AEAQ…
  baton peers join --card server.invitation --name server")]
pub(in crate::cli) struct Join {
    /// The invitation: BATON-…
    #[arg(value_name = "INVITATION", conflicts_with = "card")]
    code: Option<String>,
    /// File with the invitation, which baton peers invite --card wrote
    #[arg(long, value_name = "FILE")]
    card: Option<PathBuf>,
    /// What you call the other machine [default: what it calls itself]
    #[arg(long)]
    name: Option<String>,
}

/// There is no invitation, and nobody to ask for one.
#[derive(Debug, thiserror::Error)]
#[error(
    "expected an invitation, BATON-…, found none and no terminal\ngive what baton peers invite printed \
     on the other machine, or the file that it wrote as --card"
)]
pub(in crate::cli) struct NotInvited;

impl Join {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let code = match (self.code, self.card) {
            (Some(code), _) => code,
            (None, Some(path)) => String::from_utf8(read_bounded(&path, CARD_MAX)?)
                .with_context(|| format!("could not read {}", path.display()))?,
            (None, None) => ask()?,
        };
        let client = context.client().await?;
        let progress = context.output.progress("asking the other node");
        let joined = client.join_peer(&JoinPeer { code, name: self.name }).await;
        progress.end();
        let peer = joined?;
        context.output.answer(&peer, || output::joined(&peer));
        Ok(Exit::Done)
    }
}

fn ask() -> anyhow::Result<String> {
    if !can_ask() {
        return Err(NotInvited.into());
    }
    let terminal = Term::stderr();
    terminal.write_str("Give the invitation, BATON-…: ")?;
    Ok(terminal.read_line()?)
}
