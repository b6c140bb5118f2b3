//! `baton peers`: other nodes, what of sessions goes to them, and how a person compares fingerprints.

mod invite;
mod shown;

pub(super) use invite::NotInvited;
pub(super) use shown::{NotShown, PeerKeyError};

use super::Context;
use crate::output;
use baton_api::sync::{ConfirmPeer, PeerStatus, PeerView, RegisterPeer};
use baton_api::{Client, Exit};
use baton_session::peer::{AuthMethod, PeerState};
use baton_session::view::{BadDomain, Domain, UnknownStateKind};
use baton_session::{Fingerprint, PeerLimits, Site, StateKind, View};
use clap::{ArgGroup, Args, Subcommand};
use console::Term;
use invite::{Invite, Join};
use serde_json::json;
use shown::Shown;
use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::str::FromStr;
use url::Url;

/// Invite, join, add, confirm, limit, list, ping, remove nodes that exchange sessions
#[derive(Debug, Subcommand)]
pub(super) enum Peers {
    Invite(Invite),
    Join(Join),
    Add(Box<AddPeer>),
    List(ListPeers),
    Confirm(Confirm),
    Limit(Limit),
    Ping(Ping),
    Remove(RemovePeer),
}

/// Which peer.
#[derive(Debug, Args)]
struct PeerReference {
    /// A peer: its name, its node id, or a unique prefix of that
    #[arg(value_name = "PEER")]
    id: String,
}

impl Peers {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        match self {
            Self::Invite(command) => command.run(context).await,
            Self::Join(command) => command.run(context).await,
            Self::Add(command) => command.run(context).await,
            Self::List(command) => command.run(context).await,
            Self::Confirm(command) => command.run(context).await,
            Self::Limit(command) => command.run(context).await,
            Self::Ping(command) => command.run(context).await,
            Self::Remove(command) => command.run(context).await,
        }
    }
}

/// Register another node, so that sessions can move between it and this one
#[derive(Debug, Args)]
#[command(after_help = "\
When you sit at both machines, baton peers invite on the one and baton peers join on the other do all of
this. With keys and certificates of your own:

On the other machine, make a key for this node and look at the fingerprint of that one:
  baton keys create --name laptop --scope sync
  baton peers list

Here:
  baton peers add https://baton.example.org --name server

The key is read from --key-file or BATON_PEER_KEY, or asked for on a terminal, where it is not
shown. Then the fingerprint that the other node gave is shown: compare it with the one that you saw
there. Only when they are the same is it the node that you mean, and nobody in between. On a terminal
you are asked; elsewhere give what you saw as --fingerprint, or the peer stays pending, and nothing
moves until baton peers confirm.

An agent registers a node by its address alone, and nothing moves: register it again here, with the
key. Another node that answers there by then is refused. What has expired is replaced in the same way.

Three methods say there who asks:
  apikey  a key that the other node made
  msal    a token of Entra ID, or of another OpenID Connect provider, which this node gets as a
          client: --tenant or --issuer, --client-id, --scope or --resource, and the client's secret
  tunnel  through a dev tunnel: its token, and with it one of the other two, as it proves nothing

With --sites or --kinds only that part of your sessions moves, both ways, from the start;
baton peers limit says so later, or for one way.

Examples:
  baton peers add https://baton.example.org --name server --key-file server.key
  baton peers add https://baton.example.org --name server \\
    --sites shop.test,mail.test
  baton peers add https://baton.example.org --name server \\
    --fingerprint \"a1b2 c3d4 …\"
  baton peers add https://baton.example.org --name cloud --auth msal \\
    --tenant 0b9e…c1 --client-id 5d3a…9f --scope api://baton/.default \\
    --client-secret-file laptop.secret
  baton peers add https://x1y2-7420.euw.devtunnels.ms --name desk \\
    --auth tunnel --tunnel-token-file desk.token --key-file desk.key")]
pub(super) struct AddPeer {
    /// Where the other node is asked, such as `https://baton.example.org`
    #[arg(value_name = "URL")]
    url: Url,
    /// What you call it: 1 to 64 characters
    #[arg(long)]
    name: String,
    /// How this node says there who it acts for: apikey, msal or tunnel
    #[arg(long, value_name = "METHOD", default_value = "apikey")]
    auth: AuthMethod,
    #[command(flatten)]
    shown: Box<Shown>,
    /// The fingerprint that you saw at the other node: with it the peer is confirmed at once
    #[arg(long)]
    fingerprint: Option<Fingerprint>,
    #[command(flatten)]
    part: Part,
}

impl AddPeer {
    async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let mut request = RegisterPeer {
            url: self.url,
            name: self.name,
            auth_method: self.auth,
            api_key: None,
            oidc: None,
            tunnel_token: None,
            fingerprint: self.fingerprint,
            limits: self.part.view().map(|view| PeerLimits { give: view.clone(), take: view }),
        };
        self.shown.fill(&mut request)?;
        let client = context.client().await?;
        let progress = context.output.progress("asking the other node who it is");
        let registered = client.register_peer(&request).await;
        progress.end();
        settle(context, &client, registered?).await
    }
}

/// Show who this node is, and the peers there are
#[derive(Debug, Args)]
#[command(after_help = "\
At the top stands the fingerprint of the node that is asked: whoever registers it elsewhere compares
it with what is shown there.")]
pub(super) struct ListPeers {}

impl ListPeers {
    async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let peers = context.client().await?.list_peers().await?;
        context.output.answer(&peers, || output::peers(&peers));
        Ok(Exit::Done)
    }
}

/// Confirm that a pending peer is the node that you mean
#[derive(Debug, Args)]
#[command(after_help = "\
baton peers list shows at its top the fingerprint of the node that it asks. Look at it on the other
machine, and give it here; on a terminal you may leave it out, and are asked whether it is the same.
Nothing moves to a peer or from it before it is confirmed.

Examples:
  baton peers confirm server
  baton peers confirm server --fingerprint \"a1b2 c3d4 …\"")]
pub(super) struct Confirm {
    #[command(flatten)]
    peer: PeerReference,
    /// The fingerprint that you saw at the other node
    #[arg(long)]
    fingerprint: Option<Fingerprint>,
}

/// The user did not say what the other node shows, and cannot be asked.
#[derive(Debug, thiserror::Error)]
#[error(
    "expected the fingerprint that the other node shows, found none and no terminal\ngive it with \
     --fingerprint; baton peers list shows it there, at the top"
)]
pub(super) struct NotCompared;

/// What a person says of two fingerprints.
enum Compared {
    Same,
    Different,
    NobodyToAsk,
}

impl Confirm {
    async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        if self.fingerprint.is_none() && !can_ask() {
            return Err(NotCompared.into());
        }
        let client = context.client().await?;
        let Some(fingerprint) = self.fingerprint else {
            let peer = client.ping_peer(&self.peer.id).await?;
            return settle(context, &client, peer).await;
        };
        let confirmed = client.confirm_peer(&self.peer.id, &ConfirmPeer { fingerprint }).await?;
        context.output.answer(&confirmed, || output::peer(&confirmed));
        Ok(Exit::Done)
    }
}

/// Ends the registration of a peer: asks the user whether a pending one is the node that is meant, and
/// shows the peer.
async fn settle(context: &Context, client: &Client, peer: PeerView) -> anyhow::Result<Exit> {
    let output = context.output;
    if peer.state == PeerState::Confirmed {
        output.answer(&peer, || output::peer(&peer));
        return Ok(Exit::Done);
    }
    match compare(&peer)? {
        Compared::Same => {
            let request = ConfirmPeer { fingerprint: peer.fingerprint };
            let confirmed = client.confirm_peer(&peer.node_id.to_string(), &request).await?;
            output.answer(&confirmed, || output::peer(&confirmed));
            Ok(Exit::Done)
        }
        Compared::Different => {
            output.answer(&peer, || output::peer(&peer));
            output.note(&format!(
                "somebody else may answer at that address: baton peers remove {} forgets it",
                shell_words::quote(&peer.name)
            ));
            Ok(Exit::Failed)
        }
        Compared::NobodyToAsk => {
            output.answer(&peer, || output::peer(&peer));
            Ok(Exit::Done)
        }
    }
}

fn can_ask() -> bool {
    std::io::stdin().is_terminal() && Term::stderr().is_term()
}

fn compare(peer: &PeerView) -> anyhow::Result<Compared> {
    if !can_ask() {
        return Ok(Compared::NobodyToAsk);
    }
    let terminal = Term::stderr();
    terminal.write_line(&output::fingerprint(peer))?;
    terminal.write_line("baton peers list shows the other one on that machine, at the top.")?;
    terminal.write_str("Are they the same? [y/N] ")?;
    let answer = terminal.read_line()?;
    let agreed = matches!(answer.trim().to_lowercase().as_str(), "y" | "yes");
    Ok(if agreed { Compared::Same } else { Compared::Different })
}

/// The word for an empty list.
const NOTHING: &str = "nothing";

/// Which part.
#[derive(Debug, Args)]
struct Part {
    /// Only what is of these sites, such as shop.test,mail.test; or nothing
    #[arg(long, value_name = "SITE")]
    sites: Option<Sites>,
    /// Only these kinds: cookies, local-storage, databases, caches, files, service-workers, tabs,
    /// environment; or nothing
    #[arg(long, value_name = "KIND")]
    kinds: Option<Kinds>,
}

impl Part {
    /// The part that was named, if one was.
    fn view(self) -> Option<View> {
        let is_named = self.sites.is_some() || self.kinds.is_some();
        let (sites, kinds) = (self.sites.map(|Sites(all)| all), self.kinds.map(|Kinds(all)| all));
        is_named.then_some(View { sites, kinds })
    }
}

/// Sites, by their domains or those of hosts of them.
#[derive(Debug, Clone)]
struct Sites(BTreeSet<Site>);

impl FromStr for Sites {
    type Err = BadDomain;

    fn from_str(text: &str) -> Result<Self, BadDomain> {
        let site = |domain: Domain| Site::of_host(&domain.to_string());
        let sites = words(text).map(|word| word.parse().map(site));
        sites.collect::<Result<_, _>>().map(Self)
    }
}

/// Kinds of what a browser keeps.
#[derive(Debug, Clone)]
struct Kinds(BTreeSet<StateKind>);

impl FromStr for Kinds {
    type Err = UnknownStateKind;

    fn from_str(text: &str) -> Result<Self, UnknownStateKind> {
        words(text).map(str::parse).collect::<Result<_, _>>().map(Self)
    }
}

/// The words between commas; none of `nothing`.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let text = Some(text).filter(|text| text.trim() != NOTHING);
    text.into_iter().flat_map(|text| text.split(',')).map(str::trim)
}

/// Say how much of your sessions goes to a peer, and how much is taken from it
#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new("what").args(["sites", "kinds", "none"]).required(true).multiple(true),
    after_help = "\
A site is a domain with all that is below it, as cookies see it: www.shop.test is of shop.test. What
is left out is everything: --sites alone is about all kinds, --kinds alone about all sites.
Viewport, user agent, time zone, locale and place are of no site and go with the kind environment.

Both directions are limited, unless you name one; the other one stays as it is then. What you say
takes the place of what was said before, and holds for what moves from now on: what a peer has
already, it keeps. Cookies and storage of a site belong together; a login may need both.

Examples:
  baton peers limit server --sites shop.test,mail.test
  baton peers limit server --give \\
    --sites shop.test --kinds cookies,local-storage
  baton peers limit server --kinds nothing --take
  baton peers limit server --none"
)]
pub(super) struct Limit {
    #[command(flatten)]
    peer: PeerReference,
    #[command(flatten)]
    part: Part,
    /// Take the limits away: everything moves
    #[arg(long, conflicts_with_all = ["sites", "kinds"])]
    none: bool,
    /// Only what goes to the peer
    #[arg(long, conflicts_with = "take")]
    give: bool,
    /// Only what is taken from it
    #[arg(long)]
    take: bool,
}

impl Limit {
    async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let client = context.client().await?;
        let Self { peer, part, give, take, .. } = self;
        let view = part.view().unwrap_or_default();
        let peer = if give || take {
            one_way(&client, &peer.id, view, give).await?
        } else {
            let limits = PeerLimits { give: view.clone(), take: view };
            client.limit_peer(&peer.id, &limits).await?
        };
        context.output.answer(&peer, || output::limits(&peer));
        Ok(Exit::Done)
    }
}

/// Limits one direction; the other one stays as the node has it.
async fn one_way(client: &Client, peer: &str, view: View, give: bool) -> anyhow::Result<PeerView> {
    let known = client.ping_peer(peer).await?;
    let limits = if give {
        PeerLimits { give: view, ..known.limits }
    } else {
        PeerLimits { take: view, ..known.limits }
    };
    Ok(client.limit_peer(&known.node_id.to_string(), &limits).await?)
}

/// Ask a peer whether it answers, and whether it is who it was
#[derive(Debug, Args)]
#[command(after_help = "The exit code is 1 when it does not answer.")]
pub(super) struct Ping {
    #[command(flatten)]
    peer: PeerReference,
}

impl Ping {
    async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let client = context.client().await?;
        let progress = context.output.progress("asking the other node");
        let asked = client.ping_peer(&self.peer.id).await;
        progress.end();
        let peer = asked?;
        context.output.answer(&peer, || output::pinged(&peer));
        Ok(if peer.status == PeerStatus::Online { Exit::Done } else { Exit::Failed })
    }
}

/// Forget a peer: nothing moves to it or from it any more
#[derive(Debug, Args)]
#[command(after_help = "\
Sessions that moved already stay where they are, here and there. What the other node may do here
ends with the key that you gave it: baton keys revoke. Limits are forgotten, too: a node that still
has its key, or is registered again, has none.")]
pub(super) struct RemovePeer {
    #[command(flatten)]
    peer: PeerReference,
}

impl RemovePeer {
    async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let id = self.peer.id;
        context.client().await?.remove_peer(&id).await?;
        context.output.answer(&json!({ "removed": id }), || format!("removed {id}"));
        Ok(Exit::Done)
    }
}
