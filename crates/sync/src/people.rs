//! The people whom the settings name hear that an agent asks: by a webhook, or by a server that speaks as ntfy
//! does.
//!
//! The one idea: what they get is the link, so whoever runs that address can open it in their place; it counts
//! once, and for minutes. A link that only this machine opens goes to what listens on this machine alone.

use baton_api::ToldPerson;
use baton_net::outbound::{self, Outbound, Reach};
use futures_util::future::join_all;
use jiff::Timestamp;
use reqwest::RequestBuilder;
use serde_json::json;
use std::path::PathBuf;
use std::time::Duration;
use tokio::time::timeout;
use url::{Host, Url};

/// How long each may take to be told: the agent waits for its answer.
const LIMIT: Duration = Duration::from_secs(5);
/// What the node calls itself.
const AGENT: &str = concat!("baton/", env!("CARGO_PKG_VERSION"));

/// Whom an ask is told to.
#[derive(Debug, Clone, Default)]
pub struct PeopleSettings {
    /// A program that gets JSON.
    pub webhook: Option<Receiver>,
    /// A topic of a server that speaks as ntfy does.
    pub ntfy: Option<Receiver>,
}

impl PeopleSettings {
    /// What this says, and what `other` says of what this leaves out.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self { webhook: self.webhook.or(other.webhook), ntfy: self.ntfy.or(other.ntfy) }
    }
}

/// Where a message goes.
#[derive(Debug, Clone)]
pub struct Receiver {
    /// Its address; the path may be a secret.
    pub url: Url,
    /// The file of a token that goes with it as `Authorization: Bearer`.
    pub token_file: Option<PathBuf>,
}

/// What is told.
pub struct Message<'a> {
    /// The ask.
    pub id: &'a str,
    /// Who asks.
    pub from: &'a str,
    /// For what.
    pub text: &'a str,
    /// What the session is called.
    pub session: &'a str,
    /// What the guest sees.
    pub sites: &'a [String],
    /// Until when the link counts.
    pub expires_at: Timestamp,
    /// What opens it.
    pub link: &'a Url,
    /// Whether only this machine does.
    pub this_machine_only: bool,
}

/// Tells all whom the settings name. That some were not told is in the answer, and delays it by seconds.
pub async fn tell(
    people: &PeopleSettings,
    outbound: &Outbound,
    message: &Message<'_>,
) -> Vec<ToldPerson> {
    let receivers = [("webhook", &people.webhook), ("ntfy", &people.ntfy)];
    let named = receivers.into_iter().filter_map(|(by, one)| Some((by, one.as_ref()?)));
    let told = named.map(|(by, receiver)| async move {
        let said = timeout(LIMIT, send(by, receiver, outbound, message)).await;
        let failed = said.unwrap_or_else(|_| Err("it took longer than 5 s".to_owned())).err();
        let at = receiver.url.origin().ascii_serialization();
        ToldPerson { by: by.to_owned(), at, failed }
    });
    join_all(told).await
}

async fn send(
    by: &str,
    receiver: &Receiver,
    outbound: &Outbound,
    message: &Message<'_>,
) -> Result<(), String> {
    let url = &receiver.url;
    if message.this_machine_only && !is_here(url) {
        let why =
            "nothing was sent there: only this machine opens the link, until node.publicUrl is set";
        return Err(why.to_owned());
    }
    // Who runs the node has named it, so it may be on this machine.
    let client = outbound::client(outbound, url, Reach { loopback: true }).await;
    let client = client.map_err(|error| error.to_string().replace('\n', "; "))?;
    let mut request = written(client.post(url.clone()), by, message);
    if let Some(path) = &receiver.token_file {
        let token = baton_store::plain::secret(path).await;
        let token = token.map_err(|error| format!("its token cannot be read: {error}"))?;
        request = request.bearer_auth(token.trim());
    }
    let answer = request.header("user-agent", AGENT).timeout(LIMIT).send().await;
    let status = answer.map_err(outbound::said)?.status();
    if status.is_success() { Ok(()) } else { Err(format!("it answers {status}")) }
}

fn written(request: RequestBuilder, by: &str, message: &Message<'_>) -> RequestBuilder {
    let Message { id, from, text, session, sites, expires_at, link, .. } = message;
    if by == "webhook" {
        return request.json(&json!({
            "type": "session.ask",
            "ask": id,
            "from": from,
            "text": text,
            "session": session,
            "sites": sites,
            "link": link,
            "this_machine_only": message.this_machine_only,
            "expires_at": expires_at,
        }));
    }
    let sites = sites.join(", ");
    let body = format!("{from} asks: {text}\n({session}, {sites}) The link counts once.");
    // Headers of ntfy: what is clicked opens the link.
    request.header("title", "Baton: an agent asks").header("click", link.as_str()).body(body)
}

/// Whether an address is one of this machine.
fn is_here(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_known_by_its_names_and_addresses_and_by_no_other() {
        let is_here = |url: &str| is_here(&url.parse().unwrap());
        for url in [
            "http://localhost:8080/hook",
            "http://LOCALHOST/",
            "http://hook.localhost/",
            "http://127.0.0.1/",
            "http://127.9.8.7:1/",
            "http://[::1]/",
        ] {
            assert!(is_here(url), "{url}");
        }
        for url in [
            "https://ntfy.example/topic",
            "http://notlocalhost/",
            "http://localhost.example/",
            "http://10.0.0.7/",
            "http://[fd00::1]/",
        ] {
            assert!(!is_here(url), "{url}");
        }
    }

    #[tokio::test]
    async fn a_link_that_only_this_machine_opens_is_sent_to_nobody_elsewhere() {
        let link: Url = "http://baton.localhost:7766/#/asked/secret".parse().unwrap();
        let sites = ["bank.example".to_owned()];
        let message = Message {
            id: "ask",
            from: "kimi",
            text: "sign in",
            session: "shop",
            sites: &sites,
            expires_at: Timestamp::UNIX_EPOCH,
            link: &link,
            this_machine_only: true,
        };
        let at = |url: &str| Some(Receiver { url: url.parse().unwrap(), token_file: None });
        let (webhook, ntfy) = (at("https://hooks.example/secret"), at("http://10.0.0.7/topic"));
        let people = PeopleSettings { webhook, ntfy };
        let told = tell(&people, &Outbound::default(), &message).await;
        let said = told.iter().map(|one| {
            let why = one.failed.as_deref().unwrap_or("told");
            format!("{} at {}: {why}", one.by, one.at)
        });
        insta::assert_snapshot!(said.collect::<Vec<_>>().join("\n"), @r"
        webhook at https://hooks.example: nothing was sent there: only this machine opens the link, until node.publicUrl is set
        ntfy at http://10.0.0.7: nothing was sent there: only this machine opens the link, until node.publicUrl is set
        ");
    }
}
