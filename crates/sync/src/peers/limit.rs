//! Says how much of sessions goes to a peer, and how much is taken from it.
//!
//! The one idea: a site is what belongs together, so whatever host a person names, its site counts.

use super::{admit, find};
use crate::context::Sync;
use crate::error::SyncError;
use baton_api::Invalid;
use baton_api::sync::PeerView;
use baton_runtime::Caller;
use baton_runtime::audit::{Action, Note};
use baton_session::view::{Domain, SITES_MAX};
use baton_session::{PeerLimits, Site, View};
use std::collections::BTreeSet;

/// The longest name of a host (RFC 1035).
const HOST_MAX: usize = 253;

/// Sets the limits of a peer, in the place of those that it had; without any in the request it has none
/// any more. They hold for what moves from now on: what moved before stays where it is.
pub async fn limit(
    context: &Sync,
    caller: &Caller,
    reference: &str,
    request: PeerLimits,
) -> Result<PeerView, SyncError> {
    let note = Note::new(&caller.actor, &caller.owner, Action::LimitPeer, reference);
    let limits = match admitted(request) {
        Ok(limits) => limits,
        Err(error) => return Err(note.failed(&context.store, error).await),
    };
    let note = noted(note, &limits);
    let limited = async {
        let peer = find(context, &caller.owner, reference).await?;
        if !limits.is_none() {
            admit::check(context, &peer).await?;
        }
        context.store.limit_peer(&caller.owner, peer.node, &limits).await?;
        find(context, &caller.owner, &peer.node.to_string()).await
    };
    let peer = note.end(&context.store, limited.await).await?;
    context.own.watches.peers_changed();
    Ok(super::view(context, peer, false).await)
}

/// A note of limits.
pub(super) fn noted(note: Note, limits: &PeerLimits) -> Note {
    note.with("give", limits.give.to_string()).with("take", limits.take.to_string())
}

/// Limits as they are kept: of each host that a person named, its site.
pub(super) fn admitted(limits: PeerLimits) -> Result<PeerLimits, SyncError> {
    let PeerLimits { give, take } = limits;
    Ok(PeerLimits { give: view("give.sites", give)?, take: view("take.sites", take)? })
}

fn view(field: &'static str, view: View) -> Result<View, SyncError> {
    let sites = view.sites.map(|sites| normalized(field, &sites)).transpose()?;
    Ok(View { sites, ..view })
}

fn normalized(field: &'static str, sites: &BTreeSet<Site>) -> Result<BTreeSet<Site>, SyncError> {
    if sites.len() > SITES_MAX {
        let found = sites.len().to_string();
        return Err(Invalid { field, expected: "at most 256 sites", found }.into());
    }
    Ok(sites.iter().map(|site| site_of(field, site.as_str())).collect::<Result<_, _>>()?)
}

fn site_of(field: &'static str, host: &str) -> Result<Site, Invalid> {
    let domain = host.parse::<Domain>().ok().map(|domain| domain.to_string());
    let site =
        domain.filter(|domain| domain.len() <= HOST_MAX).map(|domain| Site::of_host(&domain));
    site.ok_or_else(|| Invalid {
        field,
        expected: "domains or addresses such as shop.test, without a scheme, port or path",
        found: format!("{:?}", host.chars().take(HOST_MAX).collect::<String>()),
    })
}

#[cfg(test)]
mod tests {
    use super::admitted;
    use baton_session::view::SITES_MAX;
    use baton_session::{PeerLimits, Site, View};

    /// What becomes of a direction for which a person named these.
    fn given(hosts: &[&str]) -> Result<Vec<String>, String> {
        let named = hosts.iter().map(|host| serde_json::from_value((*host).into()).unwrap());
        let give = View { sites: Some(named.collect()), kinds: None };
        let limits = PeerLimits { give, ..PeerLimits::default() };
        let limits = admitted(limits).map_err(|error| error.to_string())?;
        assert!(limits.take.is_whole());
        Ok(limits.give.sites.unwrap().iter().map(Site::to_string).collect())
    }

    #[test]
    fn the_site_of_each_host_counts() {
        for (host, site) in [
            ("shop.test", "shop.test"),
            ("WWW.Shop.Test", "shop.test"),
            (".shop.test", "shop.test"),
            ("*.shop.test", "shop.test"),
            ("shop.test.", "shop.test"),
            ("a.b.example.co.uk", "example.co.uk"),
            ("bücher.example", "xn--bcher-kva.example"),
            ("me.github.io", "me.github.io"),
            ("localhost", "localhost"),
            ("127.0.0.1", "127.0.0.1"),
            ("[::1]", "[::1]"),
        ] {
            assert_eq!(given(&[host]).unwrap(), [site], "{host}");
        }
        assert_eq!(given(&["www.shop.test", "shop.test"]).unwrap(), ["shop.test"]);
        assert_eq!(given(&[]).unwrap(), [""; 0], "nothing, and not everything");
    }

    #[test]
    fn what_is_no_host_is_refused() {
        let long = "a".repeat(300);
        for host in
            ["", " ", "https://shop.test", "shop.test:80", "shop.test/a", "a..b", "*", &long]
        {
            let refused = given(&[host]).unwrap_err();
            assert!(refused.starts_with("expected give.sites to be domains"), "{refused}");
            assert!(refused.len() < 400, "{refused}");
        }
    }

    #[test]
    fn a_direction_names_so_many_sites_and_no_more() {
        let hosts: Vec<String> = (0..=SITES_MAX).map(|number| format!("{number}.test")).collect();
        let hosts: Vec<&str> = hosts.iter().map(String::as_str).collect();
        assert_eq!(given(&hosts[..SITES_MAX]).unwrap().len(), SITES_MAX);
        let refused = given(&hosts).unwrap_err();
        assert_eq!(refused, "expected give.sites to be at most 256 sites, found 257");
    }
}
