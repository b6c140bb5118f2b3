//! `[sandboxes]` and `[gateway]`: where agents run, how many there may be and what they reach, and which
//! of them are asked as if they were models.

use super::{ConfigError, invalid, number};
use baton_agents::gateway::{
    AgentSettings, BUILT_IN_AGENT, GatewaySettings, Prompt, UpstreamSettings,
};
use baton_agents::sandboxes::{Flavor, Prepare, SandboxSettings, SessionService};
use baton_browser::keeper::{BadEgress, EgressSpec, KnownProxies};
use baton_sandbox::{Allowed, Limits, Mount, Network};
use baton_session::Owner;
use baton_session::egress::Egress;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;
use url::Url;

/// `[sandboxes]`
#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a table")]
pub struct SandboxTexts {
    /// How many there are at once at most.
    pub most: Option<i64>,
    /// Seconds after which one ends by itself, unless its maker says otherwise.
    pub ttl: Option<i64>,
    /// The most seconds that its maker may say.
    pub longest_ttl: Option<i64>,
    /// What they may reach: `none`, `public` or `listed`.
    pub network: Option<String>,
    /// Addresses that they may reach besides; `host:PORT` is a port of this machine's loopback.
    pub allow: Option<Vec<String>>,
    /// The most memory of all processes and files of one, in bytes.
    pub memory: Option<i64>,
    /// The most processes and threads of one.
    pub processes: Option<i64>,
    /// The most processors of one.
    pub processors: Option<f64>,
    /// The most bytes of files in one.
    pub disk: Option<i64>,
    /// Whether there may be sandboxes that isolate nothing, where bubblewrap is missing.
    pub allow_unsandboxed: Option<bool>,
    /// When what goes into one is prepared: `never`, `used` or `always`.
    pub prepare: Option<String>,
    /// `[[sandboxes.flavors]]`
    pub flavors: Option<Vec<FlavorTexts>>,
    /// `[[sandboxes.session_services]]`
    pub session_services: Option<Vec<SessionServiceTexts>>,
}

/// `[[sandboxes.session_services]]`: who else is asked for a session.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct SessionServiceTexts {
    /// Where it answers.
    pub url: String,
    /// The file with the key with which it is asked.
    pub key_file: PathBuf,
    /// For whom it is asked; left out, for who runs the node.
    pub owner: Option<String>,
}

/// `[[sandboxes.flavors]]`: what is in a sandbox.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct FlavorTexts {
    /// What requests call it.
    pub name: String,
    /// What of this machine it sees besides programs and libraries, read-only: `SOURCE:TARGET`.
    #[serde(default)]
    pub mounts: Vec<String>,
    /// Folders in it in which its programs are looked for first.
    #[serde(default)]
    pub path: Vec<String>,
    /// Variables of every command in it.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// The hosts that it reaches, and no others, as `--only` of a session has them.
    #[serde(default)]
    pub only: Vec<String>,
    /// The proxy through which it reaches them, without credentials, or `system`.
    pub proxy: Option<String>,
}

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

/// Where a sandbox looks for programs, behind the folders of its flavor.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// How many flavors a file names at most.
const MOST_FLAVORS: usize = 100;

/// The flavors of a file, each with a name of its own.
fn read_flavors(
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
    let egress = Egress::asked(text.only, text.proxy);
    egress.as_ref().map_or(Ok(()), |egress| check_egress(origin, egress))?;
    Ok(Flavor { mounts, env, egress })
}

/// Checks a way to the network. What was found of a proxy may hold a password, and is not repeated.
fn check_egress(origin: &str, egress: &Egress) -> Result<(), ConfigError> {
    let wrong = |key, expected, found: &str| Err(invalid(origin, key, expected, found));
    match EgressSpec::of(egress, &KnownProxies::default()) {
        Err(BadEgress::Host(rule)) => {
            let expected = "hosts such as example.org, *.example.org or 10.0.0.0/8";
            wrong("sandboxes.flavors.only", expected, &format!("{:?}", rule.found()))
        }
        Err(BadEgress::TooMany(_)) => wrong("sandboxes.flavors.only", "at most 200 hosts", "more"),
        Err(BadEgress::Proxy(_)) => {
            let expected = "http, https or socks5://HOST:PORT without a user, or system";
            wrong("sandboxes.flavors.proxy", expected, "another text")
        }
        // What the machine says of its proxies is read when a sandbox is made.
        _ => Ok(()),
    }
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

/// A service of a file. What was found may hold a password, and is not repeated.
fn read_service(origin: &str, text: SessionServiceTexts) -> Result<SessionService, ConfigError> {
    let expected = "an http or https address without a user";
    let wrong = || invalid(origin, "sandboxes.session_services.url", expected, "another text");
    let url: Url = text.url.parse().map_err(|_| wrong())?;
    if !matches!(url.scheme(), "http" | "https") || !url.username().is_empty() {
        return Err(wrong());
    }
    let owner = match text.owner {
        Some(name) => name.parse().map_err(|_| {
            let key = "sandboxes.session_services.owner";
            invalid(origin, key, "an owner's name", "another text")
        })?,
        None => Owner::local(),
    };
    Ok(SessionService { url, key_file: text.key_file, owner })
}

/// `[gateway]`
#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a table")]
pub struct GatewayTexts {
    /// Seconds that an agent may take until it has answered.
    pub limit: Option<i64>,
    /// `[[gateway.agents]]`
    pub agents: Option<Vec<AgentTexts>>,
    /// `[gateway.upstream]`
    pub upstream: Option<UpstreamTexts>,
}

/// `[[gateway.agents]]`: a command that is asked as if it were a model.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct AgentTexts {
    /// What requests call it.
    pub name: String,
    /// A program and its arguments.
    pub command: Vec<String>,
    /// How it gets its task: `argument`, `stdin` or `file`.
    pub prompt: Option<String>,
    /// What is in its sandbox: one of `[[sandboxes.flavors]]`.
    pub flavor: Option<String>,
    /// Variables of every command in its sandbox.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
}

/// `[gateway.upstream]`: the model of the agent that is built in.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct UpstreamTexts {
    /// Where it answers, without `/chat/completions`.
    pub url: String,
    /// What it is called there.
    pub model: String,
    /// The file with the key with which it is asked.
    pub key_file: Option<PathBuf>,
    /// How often it is asked for one answer at most.
    pub turns: Option<i64>,
    /// What is in the agent's sandbox: one of `[[sandboxes.flavors]]`.
    pub flavor: Option<String>,
}

/// How many agents a file names at most.
const MOST_AGENTS: usize = 100;
/// The longest that an agent may be said to take: a day, in seconds.
const LONGEST_ANSWER: i64 = 24 * 60 * 60;

/// Checks what one source says.
pub(super) fn read_gateway(
    origin: &str,
    texts: GatewayTexts,
) -> Result<GatewaySettings, ConfigError> {
    let usual = GatewaySettings::default();
    let limit = number(origin, "gateway.limit", texts.limit, 1..=LONGEST_ANSWER)?;
    let texts_of_agents = texts.agents.unwrap_or_default();
    if texts_of_agents.len() > MOST_AGENTS {
        let expected = format!("at most {MOST_AGENTS} agents");
        return Err(invalid(origin, "gateway.agents", expected, texts_of_agents.len()));
    }
    let mut agents: Vec<AgentSettings> = Vec::new();
    for text in texts_of_agents {
        let agent = read_agent(origin, text)?;
        if agent.name == BUILT_IN_AGENT || agents.iter().any(|one| one.name == agent.name) {
            let expected = "a name that no other agent has";
            return Err(invalid(origin, "gateway.agents.name", expected, agent.name));
        }
        agents.push(agent);
    }
    let upstream = texts.upstream.map(|text| read_upstream(origin, text));
    Ok(GatewaySettings {
        limit: limit.map_or(usual.limit, Duration::from_secs),
        agents,
        upstream: upstream.transpose()?,
    })
}

fn read_agent(origin: &str, text: AgentTexts) -> Result<AgentSettings, ConfigError> {
    let is_name = (1..=63).contains(&text.name.len())
        && text.name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte));
    if !is_name {
        let expected = "1 to 63 letters, digits, '-', '.' or '_'";
        let found = format!("{:?}", text.name);
        return Err(invalid(origin, "gateway.agents.name", expected, found));
    }
    if text.command.first().is_none_or(String::is_empty) {
        let expected = "a program and its arguments";
        return Err(invalid(origin, "gateway.agents.command", expected, "nothing"));
    }
    let prompt = match text.prompt.as_deref() {
        None | Some("argument") => Prompt::Argument,
        Some("stdin") => Prompt::Stdin,
        Some("file") => Prompt::File,
        Some(other) => {
            let expected = "argument, stdin or file";
            let found = format!("{other:?}");
            return Err(invalid(origin, "gateway.agents.prompt", expected, found));
        }
    };
    let AgentTexts { name, command, flavor, env, .. } = text;
    Ok(AgentSettings { name, command, prompt, flavor, env })
}

/// How often a model is asked for one answer at most, unless the settings say otherwise.
const USUAL_TURNS: u32 = 30;

/// What was found may hold a password, and is not repeated.
fn read_upstream(origin: &str, text: UpstreamTexts) -> Result<UpstreamSettings, ConfigError> {
    let expected = "an http or https address without a user";
    let wrong = || invalid(origin, "gateway.upstream.url", expected, "another text");
    let url: Url = text.url.parse().map_err(|_| wrong())?;
    if !matches!(url.scheme(), "http" | "https") || !url.username().is_empty() {
        return Err(wrong());
    }
    let turns = number(origin, "gateway.upstream.turns", text.turns, 1..=1000)?;
    let UpstreamTexts { model, key_file, flavor, .. } = text;
    Ok(UpstreamSettings { url, model, key_file, turns: turns.unwrap_or(USUAL_TURNS), flavor })
}
