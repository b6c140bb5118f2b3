//! `baton peers limit`

use super::part::Part;
use super::{Context, Reference};
use crate::output;
use baton_api::sync::PeerView;
use baton_api::{Client, Exit};
use baton_session::{PeerLimits, View};
use clap::{ArgGroup, Args};

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
pub(crate) struct Limit {
    #[command(flatten)]
    peer: Reference,
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
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
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
