//! What a session asks of its way out, made into what its keeper is told: hosts that are read, and a proxy with
//! what it wants to know.

use super::protocol::{EgressSpec, OneProxy, ProxySpec};
use baton_egress::{Fence, InvalidRule, NotProxyUrl, Others, ProxyUrl};
use baton_session::egress::{Egress, MAX_HOSTS, NotCredentials, ProxyCredentials, SYSTEM};
use percent_encoding::percent_decode_str;
use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use url::Url;

/// Why a session cannot have such a way out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadEgress {
    /// One of its hosts is none.
    #[error(transparent)]
    Host(#[from] InvalidRule),
    /// There are more than are looked at.
    #[error("expected at most {MAX_HOSTS} hosts, found {0}")]
    TooMany(usize),
    /// Its proxy is none.
    #[error(transparent)]
    Proxy(#[from] NotProxyUrl),
    /// A proxy that the machine names is none.
    #[error(
        "expected {0} of this node to be http://HOST:PORT, perhaps with a user and a password, found another \
         text"
    )]
    Machine(&'static str),
    /// What it is to be told is no user with a password.
    #[error(transparent)]
    Credentials(#[from] NotCredentials),
    /// There are some, and no proxy that could be told them.
    #[error(
        "expected credentials beside the address of the proxy that wants them, found no such address"
    )]
    NoProxy,
    /// A node that gave a part of the session left them out, and the settings of this one have none.
    #[error(
        "expected a user and a password for the proxy {proxy}, found that the node which gave this session left \
         them out, as it gave a part of it\n\
         put url = \"{proxy}\" and credentials_file = FILE, which holds USER:PASSWORD, below [[browser.proxies]] in \
         the settings of this node; or have all of the session given: baton peers limit PEER --none, there"
    )]
    LeftOut {
        /// The address of the proxy.
        proxy: String,
    },
    /// What the settings of the node say of a proxy cannot be read.
    #[error("expected USER:PASSWORD in {}, which browser.proxies names, found: {why}", path.display())]
    Login {
        /// Which file.
        path: PathBuf,
        /// Why.
        why: String,
    },
}

impl BadEgress {
    /// Whether whoever runs the node can mend it, and not whoever asks.
    pub fn is_of_the_node(&self) -> bool {
        matches!(self, Self::Machine(_) | Self::Login { .. } | Self::LeftOut { .. })
    }
}

/// What a node knows of proxies.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownProxies {
    /// Who comes to which, where a session does not say it itself.
    pub logins: Vec<ProxyLogin>,
    /// Those of the machine.
    pub machine: MachineProxies,
}

/// Who comes to a proxy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProxyLogin {
    /// Where it is.
    pub proxy: ProxyUrl,
    /// Who comes.
    pub credentials: KnownCredentials,
}

/// Credentials of which a node knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KnownCredentials {
    /// These.
    Given(ProxyCredentials),
    /// The line in this file, which is read anew for each browser.
    File(PathBuf),
}

/// The largest file of credentials, in bytes.
const LARGEST: u64 = 4096;

impl KnownCredentials {
    fn read(&self) -> Result<ProxyCredentials, BadEgress> {
        let path = match self {
            Self::Given(credentials) => return Ok(credentials.clone()),
            Self::File(path) => path,
        };
        let failed = |why: String| BadEgress::Login { path: path.clone(), why };
        let mut text = String::new();
        let read = File::open(path).and_then(|file| file.take(LARGEST).read_to_string(&mut text));
        read.map_err(|error| failed(error.to_string()))?;
        let line = text.trim_end_matches(['\r', '\n']);
        line.parse().map_err(|_| failed("another text".to_owned()))
    }
}

/// The proxies of a machine, as its variables have them; they may hold passwords.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct MachineProxies {
    http: Option<String>,
    https: Option<String>,
    except: String,
}

impl MachineProxies {
    /// Those that some variables name: `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` for both, and `NO_PROXY`, in
    /// small letters too, and small ones first, as `curl(1)` has it.
    pub fn of(variables: &BTreeMap<String, String>) -> Self {
        let named = |name: &str| {
            let value = variables.get(&name.to_lowercase()).or_else(|| variables.get(name));
            value.filter(|value| !value.is_empty()).cloned()
        };
        Self {
            http: named("HTTP_PROXY").or_else(|| named("ALL_PROXY")),
            https: named("HTTPS_PROXY").or_else(|| named("ALL_PROXY")),
            except: named("NO_PROXY").unwrap_or_default(),
        }
    }

    fn spec(&self) -> Result<ProxySpec, BadEgress> {
        let one = |name, text: &Option<String>| {
            text.as_deref().map(|text| named(text).ok_or(BadEgress::Machine(name))).transpose()
        };
        Ok(ProxySpec::Machine {
            http: one("HTTP_PROXY", &self.http)?,
            https: one("HTTPS_PROXY", &self.https)?,
            except: self.except.clone(),
        })
    }
}

impl fmt::Debug for MachineProxies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MachineProxies").field("except", &self.except).finish_non_exhaustive()
    }
}

/// The proxy that a variable names: an address, or a host alone, and perhaps who comes.
fn named(text: &str) -> Option<OneProxy> {
    let text = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
    let mut url: Url = text.parse().ok()?;
    let decoded = |text: &str| percent_decode_str(text).decode_utf8().ok().map(String::from);
    let (user, password) = (decoded(url.username())?, decoded(url.password().unwrap_or_default())?);
    url.set_username("").ok()?;
    url.set_password(None).ok()?;
    url.set_path("");
    let proxy: ProxyUrl = url.as_str().parse().ok()?;
    let credentials = (!user.is_empty()).then_some(ProxyCredentials { user, password });
    Some(OneProxy { url: proxy.to_string(), credentials })
}

impl EgressSpec {
    /// The way out that an environment asks for, at a node that knows some proxies.
    pub fn of(egress: &Egress, known: &KnownProxies) -> Result<Self, BadEgress> {
        if egress.only.len() > MAX_HOSTS {
            return Err(BadEgress::TooMany(egress.only.len()));
        }
        let hosts = egress.only.iter().map(|rule| rule.parse()).collect::<Result<Vec<_>, _>>()?;
        let others = if hosts.is_empty() { Others::All } else { Others::None };
        let credentials = egress.credentials.as_ref();
        let own = credentials.filter(|credentials| !credentials.are_left_out());
        own.map_or(Ok(()), ProxyCredentials::validate)?;
        let proxy = match egress.proxy.as_deref() {
            None | Some(SYSTEM) if credentials.is_some() => return Err(BadEgress::NoProxy),
            None => None,
            Some(SYSTEM) => Some(known.machine.spec()?),
            Some(url) => {
                let url: ProxyUrl = url.parse()?;
                let login = known.logins.iter().find(|login| login.proxy == url);
                let told = match (own, login) {
                    (Some(own), _) => Some(own.clone()),
                    (None, Some(login)) => Some(login.credentials.read()?),
                    // Without them it would be asked as if it wanted none.
                    (None, None) if credentials.is_some() => {
                        return Err(BadEgress::LeftOut { proxy: url.to_string() });
                    }
                    (None, None) => None,
                };
                Some(ProxySpec::One(OneProxy { url: url.to_string(), credentials: told }))
            }
        };
        let fence = Fence { hosts, others, lent: None };
        Ok(Self { fence, proxy, asked: Some(egress.clone()) })
    }
}

#[cfg(test)]
mod tests {
    use super::{BadEgress, KnownCredentials, KnownProxies, MachineProxies, ProxyLogin};
    use crate::keeper::protocol::{EgressSpec, OneProxy, ProxySpec};
    use baton_session::egress::{Egress, ProxyCredentials};
    use std::collections::BTreeMap;
    use std::fs;

    fn login(text: &str) -> ProxyCredentials {
        text.parse().unwrap()
    }

    fn one(url: &str, credentials: Option<ProxyCredentials>) -> OneProxy {
        OneProxy { url: url.to_owned(), credentials }
    }

    #[test]
    fn a_proxy_is_told_what_the_session_says_and_else_what_the_node_knows() {
        let url = "http://proxy.example:3128";
        let file = tempfile::NamedTempFile::new().unwrap();
        let credentials = KnownCredentials::File(file.path().to_owned());
        let logins = vec![ProxyLogin { proxy: url.parse().unwrap(), credentials }];
        let known = KnownProxies { logins, ..KnownProxies::default() };
        let through = |proxy: &str, credentials: Option<ProxyCredentials>| {
            let egress = Egress { proxy: Some(proxy.to_owned()), credentials, only: Vec::new() };
            EgressSpec::of(&egress, &known).map(|spec| spec.proxy.unwrap())
        };
        let spec = |login| Ok(ProxySpec::One(one(url, login)));
        let bad = through(url, None).unwrap_err();
        assert!(bad.is_of_the_node() && bad.to_string().contains("another text"), "{bad}");
        fs::write(file.path(), "node:b\n").unwrap();
        assert_eq!(through(url, None), spec(Some(login("node:b"))));
        assert_eq!(through(url, Some(login("own:a"))), spec(Some(login("own:a"))));
        assert_eq!(
            through("socks5://other.example", None),
            Ok(ProxySpec::One(one("socks5://other.example:1080", None)))
        );
        // Those that a part of a session came without are not none: the node knows them, or nothing goes out.
        let egress = Egress {
            proxy: Some(url.to_owned()),
            credentials: Some(login("own:a")),
            only: Vec::new(),
        };
        let left_out = egress.without_credentials().credentials;
        assert_eq!(through(url, left_out.clone()), spec(Some(login("node:b"))));
        let elsewhere = through("http://other.example:3128", left_out.clone()).unwrap_err();
        assert!(elsewhere.is_of_the_node(), "{elsewhere}");
        let told = "expected a user and a password for the proxy http://other.example:3128";
        assert!(elsewhere.to_string().starts_with(told), "{elsewhere}");
        assert_eq!(through("system", left_out), Err(BadEgress::NoProxy));
        assert_eq!(through("system", Some(login("own:a"))), Err(BadEgress::NoProxy));
        let bad = ProxyCredentials { user: "a:b".to_owned(), password: "c".to_owned() };
        assert!(matches!(through(url, Some(bad)), Err(BadEgress::Credentials(_))));
    }

    #[test]
    fn the_machine_names_its_proxies_as_programs_read_it() {
        let system = |variables: &[(&str, &str)]| {
            let pairs =
                variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
            let machine = MachineProxies::of(&pairs.collect::<BTreeMap<_, _>>());
            let known = KnownProxies { machine, ..KnownProxies::default() };
            let egress = Egress { proxy: Some("system".to_owned()), ..Egress::default() };
            assert!(!format!("{known:?}").contains("s3cret"), "{known:?}");
            EgressSpec::of(&egress, &known).map(|spec| spec.proxy.unwrap())
        };
        let machine = |http, https, except: &str| {
            Ok(ProxySpec::Machine { http, https, except: except.to_owned() })
        };
        assert_eq!(system(&[]), machine(None, None, ""));
        assert_eq!(
            system(&[
                ("HTTPS_PROXY", "http://al:s3cret%3A@tls.example:3128/"),
                ("all_proxy", "socks5h://rest.example"),
                ("NO_PROXY", "corp.example"),
            ]),
            machine(
                Some(one("socks5://rest.example:1080", None)),
                Some(one("http://tls.example:3128", Some(login("al:s3cret:")))),
                "corp.example"
            )
        );
        assert_eq!(
            system(&[("http_proxy", "plain.example:8080"), ("HTTP_PROXY", "http://other")]),
            machine(Some(one("http://plain.example:8080", None)), None, "")
        );
        assert_eq!(system(&[("HTTPS_PROXY", "ftp://a")]), Err(BadEgress::Machine("HTTPS_PROXY")));
    }
}
