//! Which way out to the network a session's browser gets: what the session asks for, within what its node
//! lets its owner reach.

use super::{BrowserSupervisor, LiveError};
use baton_browser::keeper::{EgressSpec, HostRule, KnownProxies};
use baton_session::Owner;
use baton_session::egress::Egress;

/// What a node says of the ways out of its sessions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EgressRules {
    /// Whether every browser that the node starts goes out through its keeper, asked for or not.
    pub always: bool,
    /// The hosts of this machine and of its network that sessions of owners other than `local` may reach.
    pub lent: Vec<HostRule>,
    /// What it knows of proxies.
    pub proxies: KnownProxies,
}

impl EgressRules {
    /// The way out of a session's browser; none when it goes to the network by itself.
    ///
    /// Whoever is not the owner of the node has no business with what listens on its machine, or behind it:
    /// what an owner may list is the internet, and what the node lends.
    pub(super) fn way_out(
        &self,
        owner: &Owner,
        asked: Option<&Egress>,
    ) -> Result<Option<EgressSpec>, LiveError> {
        let is_foreign = *owner != Owner::local();
        let mut spec = match asked {
            Some(asked) => EgressSpec::of(asked, &self.proxies)?,
            None if self.always || is_foreign => EgressSpec::default(),
            None => return Ok(None),
        };
        if is_foreign {
            spec.fence.lent = Some(self.lent.clone());
        }
        Ok(Some(spec))
    }

    /// The way out of a sandbox that has a session; none when it goes to the network as other sandboxes do.
    fn of_sandbox(
        &self,
        owner: &Owner,
        asked: Option<&Egress>,
    ) -> Result<Option<EgressSpec>, LiveError> {
        if asked.is_some() || self.always { self.way_out(owner, asked) } else { Ok(None) }
    }
}

impl BrowserSupervisor {
    /// The way out of a sandbox that has a session; none when it goes to the network as other sandboxes do.
    /// What a sandbox may reach whoever owns it, is for the settings of sandboxes to say.
    pub fn sandbox_way_out(
        &self,
        owner: &Owner,
        asked: Option<&Egress>,
    ) -> Result<Option<EgressSpec>, LiveError> {
        self.config().egress.of_sandbox(owner, asked)
    }

    /// The way out that the settings of this node ask for, whoever owns what goes by it.
    pub fn own_way_out(&self, asked: &Egress) -> Result<EgressSpec, LiveError> {
        Ok(EgressSpec::of(asked, &self.config().egress.proxies)?)
    }
}

#[cfg(test)]
mod tests {
    use super::EgressRules;
    use baton_browser::keeper::{EgressSpec, KnownProxies};
    use baton_session::Owner;
    use baton_session::egress::Egress;

    #[test]
    fn what_a_node_lends_bounds_every_owner_but_its_own() {
        let lent = vec!["10.1.0.0/16".parse().unwrap()];
        let rules = EgressRules { lent, ..EgressRules::default() };
        let (own, other): (Owner, Owner) = (Owner::local(), "acme".parse().unwrap());
        let asked = Egress { only: vec!["localhost".to_owned()], ..Egress::default() };
        let way_out = |rules: &EgressRules, owner, asked| rules.way_out(owner, asked).unwrap();

        assert_eq!(way_out(&rules, &own, None), None);
        let as_asked = EgressSpec::of(&asked, &KnownProxies::default()).unwrap();
        assert_eq!(way_out(&rules, &own, Some(&asked)), Some(as_asked));
        let all = Egress::default();
        for asked in [None, Some(&asked), Some(&all)] {
            let spec = way_out(&rules, &other, asked).unwrap();
            assert_eq!(spec.fence.lent.as_deref(), Some(&*rules.lent), "{asked:?}");
        }
        let always = EgressRules { always: true, ..rules };
        assert_eq!(way_out(&always, &own, None), Some(EgressSpec::default()));
    }

    #[test]
    fn a_sandbox_has_a_way_out_where_its_session_asks_for_one_or_every_browser_has_one() {
        let asked_alone = EgressRules::default();
        let always = EgressRules { always: true, ..EgressRules::default() };
        let asked = Egress { only: vec!["shop.example".to_owned()], ..Egress::default() };
        for owner in [Owner::local(), "acme".parse().unwrap()] {
            let of = |rules: &EgressRules, asked| rules.of_sandbox(&owner, asked).unwrap();
            assert_eq!(of(&asked_alone, None), None, "{owner}");
            for rules in [&asked_alone, &always] {
                let wanted = rules.way_out(&owner, Some(&asked)).unwrap();
                assert_eq!(of(rules, Some(&asked)), wanted, "{owner}");
            }
            let all = always.way_out(&owner, None).unwrap();
            assert!(all.is_some(), "{owner}");
            assert_eq!(of(&always, None), all, "{owner}");
        }
    }
}
