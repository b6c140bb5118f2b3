//! A part of sessions, as a person names it: of which sites, and of which kinds.

use baton_session::domains::{BadDomain, Domain};
use baton_session::view::UnknownStateKind;
use baton_session::{Site, StateKind, View};
use clap::Args;
use std::collections::BTreeSet;
use std::str::FromStr;

/// The word for an empty list.
const NOTHING: &str = "nothing";

/// Which part.
#[derive(Debug, Args)]
pub(super) struct Part {
    /// Only what is of these sites, such as shop.test,mail.test; or nothing
    #[arg(long, value_name = "SITE")]
    sites: Option<Sites>,
    /// Only these kinds: cookies, local-storage, databases, caches, files, service-workers, tabs,
    /// environment; or nothing
    #[arg(long, value_name = "KIND")]
    kinds: Option<Kinds>,
}

/// Sites, by their domains or those of hosts of them.
#[derive(Debug, Clone)]
struct Sites(BTreeSet<Site>);

/// Kinds of what a browser keeps.
#[derive(Debug, Clone)]
struct Kinds(BTreeSet<StateKind>);

impl Part {
    /// The part that was named, if one was.
    pub(super) fn view(self) -> Option<View> {
        let is_named = self.sites.is_some() || self.kinds.is_some();
        let (sites, kinds) = (self.sites.map(|Sites(all)| all), self.kinds.map(|Kinds(all)| all));
        is_named.then_some(View { sites, kinds })
    }
}

impl FromStr for Sites {
    type Err = BadDomain;

    fn from_str(text: &str) -> Result<Self, BadDomain> {
        let site = |domain: Domain| Site::of_host(&domain.to_string());
        let sites = words(text).map(|word| word.parse().map(site));
        sites.collect::<Result<_, _>>().map(Self)
    }
}

impl FromStr for Kinds {
    type Err = UnknownStateKind;

    fn from_str(text: &str) -> Result<Self, UnknownStateKind> {
        words(text).map(str::parse).collect::<Result<_, _>>().map(Self)
    }
}

/// The words between commas; none of `nothing`.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let text = Some(text).filter(|text| text.trim() != NOTHING);
    text.into_iter().flat_map(|text| text.split(',')).map(str::trim)
}
