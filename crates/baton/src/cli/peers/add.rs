//! `baton peers add`

use super::Context;
use super::confirm;
use super::key::KeyArgs;
use baton_api::Exit;
use baton_api::sync::RegisterPeer;
use baton_session::Fingerprint;
use baton_session::peer::AuthMethod;
use clap::Args;
use secrecy::ExposeSecret;
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
key. Another node that answers there by then is refused.

Examples:
  baton peers add https://baton.example.org --name server --key-file server.key
  baton peers add https://baton.example.org --name server --fingerprint \"a1b2 c3d4 …\"")]
pub(crate) struct Add {
    /// Where the other node is asked, such as `https://baton.example.org`
    #[arg(value_name = "URL")]
    url: Url,
    /// What you call it: 1 to 64 characters
    #[arg(long)]
    name: String,
    /// How this node says there who it acts for: apikey; msal and tunnel come later
    #[arg(long, value_name = "METHOD", default_value = "apikey")]
    auth: AuthMethod,
    #[command(flatten)]
    key: KeyArgs,
    /// The fingerprint that you saw at the other node: with it the peer is confirmed at once
    #[arg(long)]
    fingerprint: Option<Fingerprint>,
}

/// A method that this version does not know how to use.
#[derive(Debug, thiserror::Error)]
#[error("expected the method apikey, found {0}\n{0} comes later; an API key works with every node")]
pub(in crate::cli) struct NotYet(AuthMethod);

impl Add {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        if self.auth != AuthMethod::ApiKey {
            return Err(NotYet(self.auth).into());
        }
        let key = self.key.find()?;
        let client = context.client().await?;
        let request = RegisterPeer {
            url: self.url,
            name: self.name,
            auth_method: self.auth,
            api_key: Some(key.expose_secret().to_owned()),
            fingerprint: self.fingerprint,
        };
        let progress = context.output.progress("asking the other node who it is");
        let registered = client.register_peer(&request).await;
        progress.end();
        confirm::settle(context, &client, registered?).await
    }
}
