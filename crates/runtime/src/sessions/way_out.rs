//! The way out of a session as callers see it: what its browser may reach, what that was asked for, and where the
//! session may be signed in without reaching it.

use crate::here::Runtime;
use baton_api::{EgressHost, EgressView};
use baton_browser::keeper::{HostRule, HostTally};
use baton_session::egress::Egress;
use baton_session::login::{Known, Likelihood, logins};
use baton_session::{Owner, Session, State, StorageKey};
use baton_store::clock;
use jiff::Timestamp;

/// The way out of a browser with this state, and what it was asked for where the browser runs; `stored` are keys
/// that hold more than the state tells.
pub(super) async fn way_out(
    context: &Runtime,
    session: &Session,
    held: Option<&State>,
    stored: &[StorageKey],
) -> Option<EgressView> {
    let asked = held.and_then(|held| held.environment.egress.clone());
    let supervisor = &context.supervisor;
    let internet_only = session.owner != Owner::local();
    // One that runs says how it is, and another one how it would be.
    let is_fenced = if supervisor.holds(session.id) {
        supervisor.is_fenced(session.id)
    } else {
        asked.is_some() || internet_only
    };
    if !is_fenced {
        return None;
    }
    let Egress { only, proxy, .. } = asked.unwrap_or_default();
    // One that does not answer has its tabs left out as well.
    let tallies = supervisor.egress(session.id).await.unwrap_or_default();
    let known = held.map(|held| Known { stored, ..Known::of(held) });
    let shut_out = known.map(|known| shut_out(known, &only, clock::now())).unwrap_or_default();
    Some(EgressView { only, proxy, internet_only, shut_out, hosts: egress_hosts(tallies) })
}

/// What was asked of a way out, as clients are told.
pub fn egress_hosts(tallies: Vec<HostTally>) -> Vec<EgressHost> {
    let host = |tally: HostTally| EgressHost {
        host: tally.host,
        connections: tally.connections,
        refused: tally.refused,
        failed: tally.failed,
        why: tally.why,
        sent: tally.sent,
        received: tally.received,
    };
    tallies.into_iter().map(host).collect()
}

/// The sites where a session may be signed in, of which a list has no host that gets what may be the login.
pub fn shut_out(known: Known<'_>, only: &[String], now: Timestamp) -> Vec<String> {
    let rules: Vec<HostRule> = only.iter().filter_map(|rule| rule.parse().ok()).collect();
    if rules.is_empty() {
        return Vec::new();
    }
    let gets = |rule: &HostRule, host: &str| match host.strip_prefix('.') {
        Some(domain) => rule.touches(domain),
        None => rule.names(host),
    };
    let is_reached = |host: &String| rules.iter().any(|rule| gets(rule, host));
    logins(known, now)
        .into_iter()
        .filter(|login| login.likelihood > Likelihood::Over && !login.hosts.iter().any(is_reached))
        .map(|login| login.site.to_string())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::shut_out;
    use baton_session::login::Known;
    use baton_session::{Cookie, State, StorageKey};
    use jiff::Timestamp;

    fn cookie(domain: &str) -> Cookie {
        let cookie = serde_json::json!({
            "name": "sessionid", "value": "a1b2c3d4e5f6a7b8", "domain": domain, "httpOnly": true,
        });
        serde_json::from_value(cookie).unwrap()
    }

    #[test]
    fn a_site_is_shut_out_where_no_host_is_listed_that_gets_the_login() {
        let cookies = [".bank.example", "login.mail.example"].map(cookie).into();
        let state = State { cookies, ..State::default() };
        let stored = [StorageKey::first_party("https://app.shop.example")];
        let known = Known { stored: &stored, ..Known::of(&state) };
        let told = |only: &[&str]| {
            let only: Vec<String> = only.iter().map(ToString::to_string).collect();
            let mut told = shut_out(known, &only, Timestamp::UNIX_EPOCH);
            told.sort();
            told
        };
        assert_eq!(told(&["other.example"]), ["bank.example", "mail.example", "shop.example"]);
        // A cookie of a domain goes to each host of it, one of a host to that alone, as does what is stored.
        let other_hosts = ["www.bank.example", "www.mail.example", "shop.example"];
        assert_eq!(told(&other_hosts), ["mail.example", "shop.example"]);
        let own = ["bank.example:443", "*.mail.example", "app.shop.example"];
        assert_eq!(told(&own), [""; 0]);
        assert_eq!(told(&[]), [""; 0], "all hosts are reached");
    }
}
