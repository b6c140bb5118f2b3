//! `[sandboxes]`: how many there may be, what they may use and reach, and what is in them.

mod flavor;
mod service;
mod texts;

pub use texts::{FlavorTexts, SandboxTexts, SessionServiceTexts};

use super::error::ConfigError;
use super::values::{invalid, number};
use baton_agents::sandboxes::{Prepare, SandboxSettings};
use baton_sandbox::{Allowed, Limits, Network};
use flavor::read_flavors;
use service::read_service;
use std::time::Duration;

/// The most bytes that memory or files may be said to have.
const MOST_BYTES: i64 = 1 << 44;
/// The longest that a sandbox may be said to live: a year, in seconds.
const LONGEST: i64 = 366 * 24 * 60 * 60;

/// Checks what one source says.
pub(super) fn read_sandboxes(
    origin: &str,
    texts: SandboxTexts,
) -> Result<SandboxSettings, ConfigError> {
    let usual = SandboxSettings::default();
    let seconds = |key, value| {
        let seconds = number(origin, key, value, 1..=LONGEST)?;
        Ok::<_, ConfigError>(seconds.map(Duration::from_secs))
    };
    let bytes = |key, value| number::<u64>(origin, key, value, 1 << 20..=MOST_BYTES);
    let limits = Limits {
        memory: bytes("sandboxes.memory", texts.memory)?.unwrap_or(usual.limits.memory),
        processes: number(origin, "sandboxes.processes", texts.processes, 8..=1 << 20)?
            .unwrap_or(usual.limits.processes),
        processors: processors(origin, texts.processors)?.unwrap_or(usual.limits.processors),
        disk: bytes("sandboxes.disk", texts.disk)?.unwrap_or(usual.limits.disk),
    };
    let ttl = seconds("sandboxes.ttl", texts.ttl)?.unwrap_or(usual.ttl);
    let longest = seconds("sandboxes.longest_ttl", texts.longest_ttl)?;
    let mut flavors = usual.flavors;
    flavors.extend(read_flavors(origin, texts.flavors.unwrap_or_default())?);
    Ok(SandboxSettings {
        most: number(origin, "sandboxes.most", texts.most, 0..=100_000)?.unwrap_or(usual.most),
        ttl,
        longest_ttl: longest.unwrap_or(usual.longest_ttl.max(ttl)),
        network: network(origin, texts.network.as_deref(), texts.allow.unwrap_or_default())?,
        limits,
        allows_unsandboxed: texts.allow_unsandboxed.unwrap_or(usual.allows_unsandboxed),
        flavors,
        prepare: prepare(origin, texts.prepare.as_deref())?.unwrap_or(usual.prepare),
        services: texts
            .session_services
            .unwrap_or_default()
            .into_iter()
            .map(|text| read_service(origin, text))
            .collect::<Result<Vec<_>, _>>()?,
    })
}

fn processors(origin: &str, value: Option<f64>) -> Result<Option<f64>, ConfigError> {
    match value {
        Some(value) if !(0.01..=4096.0).contains(&value) => {
            Err(invalid(origin, "sandboxes.processors", "a number from 0.01 to 4096", value))
        }
        value => Ok(value),
    }
}

fn prepare(origin: &str, word: Option<&str>) -> Result<Option<Prepare>, ConfigError> {
    Ok(Some(match word {
        None => return Ok(None),
        Some("never") => Prepare::Never,
        Some("used") => Prepare::Used,
        Some("always") => Prepare::Always,
        Some(other) => {
            let found = format!("{other:?}");
            return Err(invalid(origin, "sandboxes.prepare", "never, used or always", found));
        }
    }))
}

fn network(origin: &str, word: Option<&str>, texts: Vec<String>) -> Result<Network, ConfigError> {
    let allow = |text: String| {
        let expected = "addresses and networks such as 10.0.0.0/8, or host:PORT";
        let read = text.parse::<Allowed>();
        read.map_err(|_| invalid(origin, "sandboxes.allow", expected, format!("{text:?}")))
    };
    let allowed = texts.into_iter().map(allow).collect::<Result<Vec<_>, _>>()?;
    match word {
        None | Some("public") => Ok(Network::Public(allowed)),
        Some("listed") => Ok(Network::Listed(allowed)),
        Some("none") if allowed.is_empty() => Ok(Network::None),
        Some("none") => {
            let found = format!("{} addresses", allowed.len());
            Err(invalid(origin, "sandboxes.allow", "nothing with network = \"none\"", found))
        }
        Some(other) => {
            let found = format!("{other:?}");
            Err(invalid(origin, "sandboxes.network", "none, public or listed", found))
        }
    }
}
