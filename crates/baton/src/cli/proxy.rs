//! `baton proxy`

use super::Context;
use super::serve::{allow_many_connections, cancel_when_told, listen, proxy};
use crate::output;
use baton_api::Exit;
use baton_net::connections::Bounds;
use baton_net::rates::{RateLimits, Rates};
use baton_proxy::{Cocoons, Outside, Proxy as Front, ProxyConfig, ProxyPlace, warn_of_guesses};
use baton_server::ServeError;
use baton_server::debug_secret;
use clap::Args;
use secrecy::SecretString;
use std::net::SocketAddr;
use std::path::PathBuf;
use tokio_util::sync::CancellationToken;

/// Where it listens unless told otherwise.
const LISTEN: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 8081);

/// Run a proxy in front of your services, so that their pages can be looked into
#[derive(Debug, Args)]
#[command(after_help = "\
The settings file names the services (cocoons):
  [[cocoons]]
  id = \"shop\"
  upstream = \"http://127.0.0.1:3000\"

Then open http://shop.localhost:8081/ in a browser that is paired (baton debug pair). A node whose
settings have [proxy] listen does the same by itself; this command runs apart from it, on the same
data folder, whose secret both share, or with one HIVE_SECRET for both.

At an address that is not loopback it speaks TLS with [server.tls] of the settings, or another
proxy in front of it does ([server] behind_proxy); every cocoon wants a key then.")]
pub(super) struct Proxy {
    /// Address and port [default: 127.0.0.1:8081]
    #[arg(long, value_name = "ADDRESS", env = "BATON_PROXY_LISTEN", hide_env_values = true)]
    listen: Option<String>,
    /// Settings file [default: baton.toml in the data folder, when there is one]
    #[arg(long, value_name = "FILE", env = "BATON_CONFIG", hide_env_values = true)]
    config: Option<PathBuf>,
    /// What other programs share that check the tokens of pages
    #[arg(long, env = "HIVE_SECRET", hide = true, hide_env_values = true)]
    hive_secret: Option<SecretString>,
}

/// There is nothing to stand in front of.
#[derive(Debug, thiserror::Error)]
#[error(
    "expected cocoons in the settings, found none\nname one under [[cocoons]]: id and upstream"
)]
pub(super) struct NoCocoons;

impl Proxy {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        output::log_to_stderr("info", false);
        let (settings, exposure) = proxy(self.listen, self.config.as_deref(), &context.data)?;
        if settings.cocoons.is_empty() {
            return Err(NoCocoons.into());
        }
        context.data.create()?;
        let secret = debug_secret(self.hive_secret.as_ref(), &context.data)?;
        let wanted = settings.listen.unwrap_or(LISTEN);
        let outside = Outside::prepare(&exposure, wanted, &settings.cocoons);
        let outside = outside.map_err(ServeError::from)?;
        allow_many_connections();
        let listener = listen(wanted).await?;
        let address = listener.local_addr()?;
        let cocoons: Cocoons = settings.cocoons.into_iter().collect();
        warn_of_guesses(&cocoons);
        let place = ProxyPlace { address, host: settings.host.clone(), outside: outside.clone() };
        for cocoon in cocoons.list() {
            let home = place.home(&cocoon).map(String::from).unwrap_or_default();
            context.output.note(&format!("{}  {home}  {}", cocoon.id, cocoon.upstream.url()));
        }
        let ending = CancellationToken::new();
        tokio::spawn(cancel_when_told(ending.clone())?);
        let config = ProxyConfig {
            host: settings.host,
            cocoons,
            secret,
            first_byte: settings.first_byte,
            keys: None,
            outside,
            rates: Rates::new(RateLimits::default()),
            bounds: Bounds::default(),
        };
        Front::new(config, ending).serve(listener).await;
        Ok(Exit::Done)
    }
}
