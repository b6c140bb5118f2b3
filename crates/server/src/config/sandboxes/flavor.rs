//! `[[sandboxes.flavors]]`: what is in a sandbox.

use super::texts::FlavorTexts;
use crate::config::error::ConfigError;
use crate::config::values::invalid;
use baton_agents::sandboxes::Flavor;
use baton_sandbox::Mount;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Where a sandbox looks for programs, behind the folders of its flavor.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// How many flavors a file names at most.
const MOST_FLAVORS: usize = 100;

/// The flavors of a file, each with a name of its own.
pub(super) fn read_flavors(
    origin: &str,
    texts: Vec<FlavorTexts>,
) -> Result<BTreeMap<String, Flavor>, ConfigError> {
    if texts.len() > MOST_FLAVORS {
        let expected = format!("at most {MOST_FLAVORS} flavors");
        return Err(invalid(origin, "sandboxes.flavors", expected, texts.len()));
    }
    let mut flavors = BTreeMap::new();
    for text in texts {
        let name = text.name.clone();
        let is_name = (1..=63).contains(&name.len())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        if !is_name {
            let expected = "1 to 63 letters, digits or '-'";
            return Err(invalid(origin, "sandboxes.flavors.name", expected, format!("{name:?}")));
        }
        if flavors.insert(name.clone(), read_flavor(origin, text)?).is_some() {
            let expected = "another one for each flavor";
            return Err(invalid(origin, "sandboxes.flavors.name", expected, name));
        }
    }
    Ok(flavors)
}

fn read_flavor(origin: &str, text: FlavorTexts) -> Result<Flavor, ConfigError> {
    let mounts = text.mounts.iter().map(|mount| read_mount(origin, mount));
    let mounts = mounts.collect::<Result<Vec<_>, _>>()?;
    let mut env = text.env;
    if !text.path.is_empty() {
        let path = format!("{}:{PATH}", text.path.join(":"));
        env.insert("PATH".to_owned(), path);
    }
    Ok(Flavor { mounts, env })
}

fn read_mount(origin: &str, text: &str) -> Result<Mount, ConfigError> {
    let split = text.split_once(':').map(|(from, to)| (PathBuf::from(from), PathBuf::from(to)));
    match split {
        Some((source, target)) if source.is_absolute() && target.is_absolute() => {
            Ok(Mount { source, target })
        }
        _ => {
            let expected = "two absolute paths with ':' between them";
            Err(invalid(origin, "sandboxes.flavors.mounts", expected, format!("{text:?}")))
        }
    }
}
