//! How a server of the bus is reached: settings and files become a connection, or the reason why there is none.
//!
//! The one idea: files are read at each try, so credentials that are renewed count from the next one on.

use crate::config::BusSettings;
use async_nats::{Client, ConnectError, ConnectErrorKind, ConnectOptions, Event, ServerAddr};
use secrecy::{ExposeSecret, SecretString};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::timeout;
use zeroize::Zeroizing;

/// How long a server may take to answer.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);
/// How long all servers together may take.
const TRY_LIMIT: Duration = Duration::from_secs(20);
/// How often a silent server is asked whether it is there; it is given up after three of them.
const PING_PAUSE: Duration = Duration::from_secs(2);
/// How many messages wait until they are heard.
const WAITING: usize = 1024;
/// The longest file with credentials, in bytes.
const CREDENTIALS_MAX: u64 = 64 << 10;
/// What a file of NATS has in it.
const JWT: &str = "-----BEGIN NATS USER JWT-----";

/// Why the bus is not connected.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BusError {
    /// The file with credentials cannot be used.
    #[error(
        "cluster.bus_credentials: expected a file of NATS (.creds), or one line with user:password or a token, at \
         {}, found {found}", path.display()
    )]
    Credentials {
        /// Which file.
        path: PathBuf,
        /// What there is.
        found: String,
    },
    /// The file with authorities cannot be used.
    #[error("cluster.bus_ca: expected certificates (PEM) at {}, found {found}", path.display())]
    Authorities {
        /// Which file.
        path: PathBuf,
        /// What there is.
        found: String,
    },
    /// No server answers.
    #[error("cluster.bus_url: expected a server of NATS at {servers}, found {found}")]
    Unreachable {
        /// Where.
        servers: String,
        /// What happened.
        found: String,
    },
    /// A server is there, and does not let this node in.
    #[error("cluster.bus_credentials: expected to be let in at {servers}, found {found}")]
    NotLetIn {
        /// Where.
        servers: String,
        /// What it says.
        found: String,
    },
    /// A server let this node in, and does not pass on what it says.
    #[error(
        "expected to hear what this node says on {subject} at {servers}, found {found}; let its user publish and \
         subscribe baton.>"
    )]
    Silent {
        /// Where.
        servers: String,
        /// On which subject.
        subject: String,
        /// What happened.
        found: String,
    },
    /// It was connected, and is no more.
    #[error("the connection to {servers} ended")]
    Ended {
        /// Where.
        servers: String,
    },
}

/// What happened to a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Happened {
    /// It is over.
    Ended,
    /// Messages came faster than they were heard.
    Lagged,
    /// The server did not do what it was told.
    Refused(String),
}

/// The servers, as people are told of them.
pub(super) fn shown(settings: &BusSettings) -> String {
    let texts = settings.servers.iter().map(|url| url.as_str().trim_end_matches('/'));
    texts.collect::<Vec<_>>().join(", ")
}

/// Connects to one of the servers, once; what happens to the connection is sent.
pub(super) async fn connect(
    settings: &BusSettings,
) -> Result<(Client, mpsc::Receiver<Happened>), BusError> {
    let (sender, happened) = mpsc::channel(16);
    let mut options = ConnectOptions::new()
        .name("baton")
        .connection_timeout(CONNECT_LIMIT)
        .ping_interval(PING_PAUSE)
        .subscription_capacity(WAITING)
        .ignore_discovered_servers()
        // A connection that ended is not continued: `line` opens another, and everybody looks.
        .max_reconnects(1)
        .event_callback(move |event| {
            let happened = match event {
                Event::Disconnected | Event::Closed | Event::LameDuckMode => Some(Happened::Ended),
                Event::SlowConsumer(_) => Some(Happened::Lagged),
                Event::ServerError(error) => Some(Happened::Refused(error.to_string())),
                Event::Connected | Event::Draining | Event::ClientError(_) => None,
            };
            let sender = sender.clone();
            async move {
                if let Some(happened) = happened {
                    // Who has not read 16 of them knows enough.
                    let _ = sender.try_send(happened);
                }
            }
        });
    if let Some(path) = &settings.authorities {
        check_authorities(path).await?;
        options = options.add_root_certificates(path.clone());
    }
    if let Some(path) = &settings.credentials {
        options = with_credentials(options, path).await?;
    }
    let servers = shown(settings);
    let unreachable = |found: String| BusError::Unreachable { servers: servers.clone(), found };
    let addresses: Result<Vec<ServerAddr>, _> =
        settings.servers.iter().cloned().map(ServerAddr::from_url).collect();
    let addresses = addresses.map_err(|error| unreachable(error.to_string()))?;
    match timeout(TRY_LIMIT, options.connect(addresses)).await {
        Ok(Ok(client)) => Ok((client, happened)),
        Ok(Err(error)) => match error.kind() {
            ConnectErrorKind::AuthorizationViolation | ConnectErrorKind::Authentication => {
                Err(BusError::NotLetIn { servers, found: whole(&error) })
            }
            _ => Err(unreachable(whole(&error))),
        },
        Err(_) => Err(unreachable(format!("no answer within {} s", TRY_LIMIT.as_secs()))),
    }
}

/// An error with what it comes from, in one line.
fn whole(error: &ConnectError) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        let cause = error.to_string();
        if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
        source = error.source();
    }
    text.replace('\n', " ")
}

/// The client takes a file without certificates for one that trusts nobody, and says so at no time.
async fn check_authorities(path: &Path) -> Result<(), BusError> {
    let bad = |found: String| BusError::Authorities { path: path.to_owned(), found };
    let text = tokio::fs::read(path).await.map_err(|error| bad(error.to_string()))?;
    let begins = b"-----BEGIN CERTIFICATE-----";
    if !text.windows(begins.len()).any(|window| window == begins) {
        return Err(bad("none".to_owned()));
    }
    Ok(())
}

async fn with_credentials(
    options: ConnectOptions,
    path: &Path,
) -> Result<ConnectOptions, BusError> {
    let bad = |found: String| BusError::Credentials { path: path.to_owned(), found };
    let size = tokio::fs::metadata(path).await.map_err(|error| bad(error.to_string()))?.len();
    if size > CREDENTIALS_MAX {
        return Err(bad(format!("{size} bytes")));
    }
    let text = tokio::fs::read_to_string(path).await.map_err(|error| bad(error.to_string()))?;
    let text = SecretString::from(text);
    if text.expose_secret().contains(JWT) {
        let read = options.credentials(text.expose_secret());
        return read.map_err(|_| bad("one of NATS that cannot be read".to_owned()));
    }
    let line = Zeroizing::new(text.expose_secret().trim().to_owned());
    if line.is_empty() || line.lines().nth(1).is_some() {
        return Err(bad(format!("{} lines", line.lines().count())));
    }
    Ok(match line.split_once(':') {
        Some((user, password)) => options.user_and_password(user.to_owned(), password.to_owned()),
        None => options.token(line.to_string()),
    })
}
