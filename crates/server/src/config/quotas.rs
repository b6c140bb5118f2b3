//! `[[quotas]]`: how much owners may have, over all nodes of a database.

use super::{ConfigError, invalid, number};
use baton_session::Owner;
use baton_store::{Quota, Quotas};
use serde::Deserialize;

/// Of how many owners there may be one.
const MOST: usize = 10_000;

/// `[[quotas]]`
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct QuotaTexts {
    /// Of whom; left out, of every owner that has none of its own.
    pub owner: Option<String>,
    /// Sessions, whatever state they are in.
    pub sessions: Option<i64>,
    /// Sessions that run at once.
    pub browsers: Option<i64>,
    /// Sandboxes at once.
    pub sandboxes: Option<i64>,
    /// Bytes that are stored.
    pub stored_bytes: Option<i64>,
}

/// Checks what one source says.
pub(super) fn check(origin: &str, texts: Vec<QuotaTexts>) -> Result<Quotas, ConfigError> {
    if texts.len() > MOST {
        return Err(invalid(origin, "quotas", format!("at most {MOST}"), texts.len()));
    }
    let (mut quotas, mut others) = (Quotas::default(), None);
    for text in texts {
        let quota = one(origin, &text)?;
        let before = match text.owner {
            None => others.replace(quota),
            Some(name) => {
                let owner: Owner = name.parse().map_err(|_| {
                    invalid(origin, "quotas.owner", "an owner's name", format!("{name:?}"))
                })?;
                quotas.owners.insert(owner, quota)
            }
        };
        if before.is_some() {
            let expected = "each owner once, and once none";
            return Err(invalid(origin, "quotas.owner", expected, "one twice"));
        }
    }
    quotas.others = others.unwrap_or_default();
    Ok(quotas)
}

fn one(origin: &str, text: &QuotaTexts) -> Result<Quota, ConfigError> {
    let most = |key, value| number(origin, key, value, 0..=i64::MAX);
    Ok(Quota {
        sessions: most("quotas.sessions", text.sessions)?,
        browsers: most("quotas.browsers", text.browsers)?,
        sandboxes: most("quotas.sandboxes", text.sandboxes)?,
        stored_bytes: most("quotas.stored_bytes", text.stored_bytes)?,
    })
}
