//! `baton cocoons` and `baton proxy`: the services of a person, behind a node's proxy or one of their own.

use super::Context;
use super::serve::{allow_many_connections, cancel_when_told, listen, proxy};
use crate::output;
use baton_api::Exit;
use baton_api::upstream::{PutUpstream, UpstreamAccess, UpstreamId, UpstreamList, UpstreamPages};
use baton_net::connections::Bounds;
use baton_net::rates::{RateLimits, Rates};
use baton_proxy::{Outside, Proxy as Front, ProxyConfig, ProxyPlace, warn_of_guesses};
use baton_server::{ServeError, debug_secret};
use baton_session::Owner;
use clap::{Args, Subcommand};
use secrecy::SecretString;
use serde_json::json;
use std::net::SocketAddr;
use std::path::PathBuf;
use tokio_util::sync::CancellationToken;

/// Name the services behind the node's proxy, list, open and remove them
#[derive(Debug, Subcommand)]
pub(super) enum Upstreams {
    Add(AddUpstream),
    List(ListUpstreams),
    Open(OpenUpstream),
    Remove(RemoveUpstream),
}

impl Upstreams {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        match self {
            Self::Add(command) => command.run(context).await,
            Self::List(command) => command.run(context).await,
            Self::Open(command) => command.run(context).await,
            Self::Remove(command) => command.run(context).await,
        }
    }
}

/// Put the proxy in front of a service, or say something else of it
#[derive(Debug, Args)]
#[command(after_help = "\
It counts at once, and after every start. What the settings name under [[cocoons]] is changed there.

Example:
  baton cocoons add shop http://127.0.0.1:3000
  baton cocoons add shop http://127.0.0.1:3000 --with-key   with a key")]
pub(super) struct AddUpstream {
    /// 1 to 63 lower-case letters, digits or '-': it stands in host names
    #[arg(value_name = "ID")]
    id: UpstreamId,
    /// Where the service answers
    #[arg(value_name = "URL")]
    upstream: String,
    /// What people call it [default: the id]
    #[arg(long)]
    name: Option<String>,
    /// Whose it is [default: your own]
    #[arg(long)]
    owner: Option<Owner>,
    /// Ask for a key of its owner [default: it is for this machine only]
    #[arg(long)]
    with_key: bool,
    /// Pass its pages on without a token: nobody looks into them
    #[arg(long)]
    no_debug: bool,
    /// A path whose pages get no token; may be given more than once
    #[arg(long, value_name = "PATH")]
    exclude_path: Vec<String>,
}

impl AddUpstream {
    async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let request = PutUpstream {
            name: self.name,
            upstream: self.upstream,
            owner: self.owner,
            access: if self.with_key { UpstreamAccess::Key } else { UpstreamAccess::Loopback },
            browser_debug: UpstreamPages {
                enabled: self.no_debug.then_some(false),
                exclude_paths: Some(self.exclude_path).filter(|paths| !paths.is_empty()),
                ..UpstreamPages::default()
            },
        };
        let put = context.client().await?.put_upstream(&self.id, &request).await?;
        context
            .output
            .answer(&put, || output::upstreams(&UpstreamList { items: vec![put.clone()] }));
        if put.urls.is_empty() {
            context.output.note("the node has no proxy yet: set [proxy] listen in its settings");
        }
        Ok(Exit::Done)
    }
}

/// Show the services behind the node's proxy, and where their pages are
#[derive(Debug, Args)]
pub(super) struct ListUpstreams {}

impl ListUpstreams {
    async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let services = context.client().await?.list_upstreams().await?;
        context.output.answer(&services, || output::upstreams(&services));
        Ok(Exit::Done)
    }
}

/// Show an address that opens a service in a browser: it counts once, within a minute
#[derive(Debug, Args)]
#[command(after_help = "\
A browser bears no key. The address lets one in to a service that asks for a key, for half a day.")]
pub(super) struct OpenUpstream {
    /// Which service
    #[arg(value_name = "ID")]
    id: UpstreamId,
}

impl OpenUpstream {
    async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let ticket = context.client().await?.enter_upstream(&self.id).await?;
        context.output.answer(&ticket, || ticket.url.to_string());
        Ok(Exit::Done)
    }
}

/// Take a service from behind the proxy
#[derive(Debug, Args)]
pub(super) struct RemoveUpstream {
    /// Which service
    #[arg(value_name = "ID")]
    id: UpstreamId,
    /// Whose it is [default: your own]
    #[arg(long)]
    owner: Option<Owner>,
}

impl RemoveUpstream {
    async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        context.client().await?.delete_upstream(&self.id, self.owner.as_ref()).await?;
        let id = self.id;
        context.output.answer(&json!({ "removed": id }), || format!("removed {id}"));
        Ok(Exit::Done)
    }
}

/// Where the proxy listens unless a flag or the settings say otherwise.
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
pub(super) struct NoUpstreams;

impl Proxy {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        output::log_to_stderr("info", false);
        let (settings, exposure) = proxy(self.listen, self.config.as_deref(), &context.data)?;
        if settings.services.is_empty() {
            return Err(NoUpstreams.into());
        }
        context.data.create()?;
        let secret = debug_secret(self.hive_secret.as_ref(), &context.data)?;
        let wanted = settings.listen.unwrap_or(LISTEN);
        let outside = Outside::prepare(&exposure, wanted, &settings.services);
        let outside = outside.map_err(ServeError::from)?;
        allow_many_connections();
        let listener = listen(wanted).await?;
        let address = listener.local_addr()?;
        let services: baton_proxy::UpstreamServices = settings.services.into_iter().collect();
        warn_of_guesses(&services);
        let place = ProxyPlace { address, host: settings.host.clone(), outside: outside.clone() };
        for service in services.list() {
            let home = place.home(&service).map(String::from).unwrap_or_default();
            context.output.note(&format!("{}  {home}  {}", service.id, service.upstream.url()));
        }
        let ending = CancellationToken::new();
        tokio::spawn(cancel_when_told(ending.clone())?);
        let config = ProxyConfig {
            host: settings.host,
            services,
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
