//! `baton peers add`

use super::Context;
use super::confirm;
use super::part::Part;
use super::shown::Shown;
use baton_api::Exit;
use baton_api::sync::RegisterPeer;
use baton_session::peer::AuthMethod;
use baton_session::{Fingerprint, PeerLimits};
use clap::Args;
use url::Url;

/// Register another node, so that sessions can move between it and this one
#[derive(Debug, Args)]
#[command(after_help = "\
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
pub(crate) struct Add {
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

impl Add {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
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
        self.shown.put(&mut request)?;
        let client = context.client().await?;
        let progress = context.output.progress("asking the other node who it is");
        let registered = client.register_peer(&request).await;
        progress.end();
        confirm::settle(context, &client, registered?).await
    }
}
