//! `[[cocoons]]`: a service that the proxy stands in front of.

use super::pages::PageChoices;
use crate::config::error::ConfigError;
use crate::config::settings::CocoonTexts;
use crate::config::values::invalid;
use crate::proxy::{Access, Cocoon, Upstream};
use baton_api::CocoonId;
use baton_session::Owner;
use std::collections::BTreeSet;
use std::str::FromStr;

/// What the id of a cocoon may be, and its upstream.
const ID: &str = "1 to 63 lower-case letters, digits or '-', such as shop";
const UPSTREAM: &str = "an address such as http://127.0.0.1:3000, without a path or a user";
/// How many cocoons a file names at most.
const MOST: usize = 1000;

/// A cocoon as a file names it.
#[derive(Debug, Clone)]
pub struct CocoonChoices {
    id: CocoonId,
    name: Option<String>,
    upstream: Upstream,
    owner: Option<Owner>,
    access: Access,
    browser_debug: PageChoices,
}

impl CocoonChoices {
    /// What it and the defaults say together. `pages` holds where it says nothing, and `owner` runs the
    /// node.
    pub(super) fn settle(self, pages: &PageChoices, owner: &Owner) -> Cocoon {
        Cocoon {
            name: self.name.unwrap_or_else(|| self.id.to_string()),
            id: self.id,
            upstream: self.upstream,
            owner: self.owner.unwrap_or_else(|| owner.clone()),
            access: self.access,
            browser_debug: self.browser_debug.or(pages.clone()).settle(),
        }
    }

    pub(super) fn check(origin: &str, text: CocoonTexts) -> Result<Self, ConfigError> {
        let owner =
            text.owner.map(|owner| read(origin, "cocoons.owner", "an owner's name", &owner));
        Ok(Self {
            id: read(origin, "cocoons.id", ID, &text.id)?,
            name: text.name,
            upstream: read(origin, "cocoons.upstream", UPSTREAM, &text.upstream)?,
            owner: owner.transpose()?,
            access: text.access.map(|word| access(origin, &word)).transpose()?.unwrap_or_default(),
            browser_debug: PageChoices::check(origin, text.browser_debug)?,
        })
    }
}

/// The cocoons of a file, each with an id of its own.
pub(super) fn read_all(
    origin: &str,
    texts: Vec<CocoonTexts>,
) -> Result<Vec<CocoonChoices>, ConfigError> {
    if texts.len() > MOST {
        let expected = format!("at most {MOST} cocoons");
        return Err(invalid(origin, "cocoons", expected, texts.len()));
    }
    let mut ids = BTreeSet::new();
    let mut cocoons = Vec::new();
    for text in texts {
        let cocoon = CocoonChoices::check(origin, text)?;
        if !ids.insert(cocoon.id.clone()) {
            return Err(invalid(origin, "cocoons.id", "another one for each cocoon", cocoon.id));
        }
        cocoons.push(cocoon);
    }
    Ok(cocoons)
}

/// A value of a cocoon. What was found may hold a password, and is not repeated.
fn read<T: FromStr>(
    origin: &str,
    key: &'static str,
    expected: &str,
    text: &str,
) -> Result<T, ConfigError> {
    text.parse().map_err(|_| invalid(origin, key, expected, "another text"))
}

fn access(origin: &str, word: &str) -> Result<Access, ConfigError> {
    match word {
        "loopback" => Ok(Access::Loopback),
        "key" => Ok(Access::Key),
        _ => Err(invalid(origin, "cocoons.access", "loopback or key", format!("{word:?}"))),
    }
}
