//! `[[cocoons]]`: a service that the proxy stands in front of.

use super::pages;
use crate::config::error::ConfigError;
use crate::config::settings::CocoonTexts;
use crate::config::values::{invalid, refused};
use baton_proxy::{Access, CocoonChoices, Upstream};
use std::collections::BTreeSet;
use std::str::FromStr;

/// What the id of a cocoon may be.
const ID: &str = "1 to 63 lower-case letters, digits or '-', such as shop";
/// How many cocoons a file names at most.
const MOST: usize = 1000;

/// A cocoon as a file names it.
fn check(origin: &str, text: CocoonTexts) -> Result<CocoonChoices, ConfigError> {
    let owner = text.owner.map(|owner| read(origin, "cocoons.owner", "an owner's name", &owner));
    let id = read(origin, "cocoons.id", ID, &text.id)?;
    let upstream = text.upstream.parse::<Upstream>();
    Ok(CocoonChoices {
        id,
        name: text.name,
        upstream: upstream.map_err(|why| refused(origin, why.into()))?,
        owner: owner.transpose()?,
        access: text.access.map(|word| access(origin, &word)).transpose()?.unwrap_or_default(),
        browser_debug: pages::check(origin, text.browser_debug)?,
    })
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
        let cocoon = check(origin, text)?;
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
