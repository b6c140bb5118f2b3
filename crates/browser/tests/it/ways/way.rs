//! A way out: its name, and the host that is nobody else's, so that whatever arrives says which way it came.

use super::{calls, documents, elements, extension, peers, scripts, spellings, tls};
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// The host that the session lists, and who answers questions about names.
pub(super) const LISTED: (&str, Ipv4Addr) = ("listed.test", Ipv4Addr::new(11, 7, 0, 2));
pub(super) const RESOLVER: Ipv4Addr = Ipv4Addr::new(11, 7, 0, 1);
/// A name of whoever owns it: at the first look it leads to the listed host, and to this machine from then on.
pub(super) const REBOUND: &str = "rebound.test";
/// What the name of every other host ends with.
pub(super) const FORBIDDEN: &str = "forbidden.test";
/// The ports of this machine by which it is told how it was called.
const FIRST_PORT: u16 = 18_000;

/// Where Chromium's own page looks for other browsers (`chrome/browser/devtools/device`).
pub(super) const INSPECTED: [u16; 2] = [9222, 9229];

/// A way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Way {
    pub(super) name: &'static str,
    index: u16,
    /// How this machine is called, if the way leads to itself.
    spelled: Option<&'static str>,
}

impl Way {
    fn new(index: usize, name: &'static str, spelled: Option<&'static str>) -> Self {
        Self { name, index: u16::try_from(index).unwrap(), spelled }
    }

    /// The name of its host.
    pub(super) fn host(&self) -> String {
        match self.spelled {
            Some(spelled) => format!("{spelled}:{}", self.port()),
            None => format!("{}.{FORBIDDEN}", self.name),
        }
    }

    /// The address of its host.
    pub(super) fn address(&self) -> Ipv4Addr {
        let [high, low] = (self.index + 256).to_be_bytes();
        Ipv4Addr::new(11, 7, high, low)
    }

    /// The port that it has at this machine.
    pub(super) fn port(&self) -> u16 {
        FIRST_PORT + self.index
    }

    /// A text in which its host is named.
    pub(super) fn fill(&self, text: &str) -> String {
        let host = self.host();
        text.replace("$URL", &format!("http://{host}/"))
            .replace("$TLS", &format!("https://{host}/"))
            .replace("$HOST", &host)
            .replace("$ADDRESS", &self.address().to_string())
            .replace("$PORT", &self.port().to_string())
            .replace("$LISTED", LISTED.0)
            .replace("$NAME", self.name)
    }

    /// The address of its host over HTTP.
    pub(super) fn url(&self) -> String {
        self.fill("$URL")
    }
}

/// All ways, and where each leads.
#[derive(Debug)]
pub(super) struct Ways {
    all: Vec<Way>,
    by_name: BTreeMap<&'static str, usize>,
}

impl Ways {
    pub(super) fn new() -> Self {
        let of_extension = [extension::OF_WORKER, extension::SCRIPTS];
        let plain = [elements::ELEMENTS, scripts::SCRIPTS, peers::PEERS];
        let plain = plain.into_iter().chain(of_extension);
        let plain = plain.flatten().map(|(name, _)| *name);
        let documents = documents::DOCUMENTS.iter().map(|(name, ..)| *name);
        let of_tls = tls::OF_TLS.iter().map(|(name, ..)| *name);
        let named = plain.chain(documents).chain(of_tls).chain(calls::names());
        let named = named.map(|name| (name, None));
        let spelled = spellings::SPELLINGS.iter().map(|(name, spelled)| (*name, Some(*spelled)));
        let all = named.chain(spelled).enumerate();
        let all: Vec<_> =
            all.map(|(index, (name, spelled))| Way::new(index, name, spelled)).collect();
        let by_name: BTreeMap<_, _> =
            all.iter().enumerate().map(|(at, way)| (way.name, at)).collect();
        assert_eq!(by_name.len(), all.len(), "each way has a name of its own");
        Self { all, by_name }
    }

    pub(super) fn all(&self) -> &[Way] {
        &self.all
    }

    pub(super) fn of(&self, name: &str) -> Way {
        self.all[*self.by_name.get(name).unwrap_or_else(|| panic!("no way is called {name}"))]
    }

    /// The way to whose host an address belongs.
    pub(super) fn at(&self, address: SocketAddr) -> Option<Way> {
        let index = match address.ip().to_canonical() {
            IpAddr::V4(ip) if ip.octets()[..2] == [11, 7] => {
                let [.., high, low] = ip.octets();
                u16::from_be_bytes([high, low]).checked_sub(256)
            }
            _ if INSPECTED.contains(&address.port()) => return Some(self.of("node-inspect")),
            _ => address.port().checked_sub(FIRST_PORT),
        };
        self.all.get(usize::from(index?)).copied()
    }

    /// The way whose host a text names: `HOST`, or `HOST:PORT`.
    pub(super) fn named(&self, text: &str) -> Option<Way> {
        let host = text.rsplit_once(':').map_or(text, |(host, _)| host);
        let below = host.trim_end_matches('.').strip_suffix(FORBIDDEN);
        if let Some(name) = below.and_then(|name| name.strip_suffix('.')) {
            return self.by_name.get(name.rsplit('.').next()?).map(|at| self.all[*at]);
        }
        // `localhost` and its like have the ports of this machine.
        let port = || text.rsplit_once(':')?.1.parse().ok();
        let spelled = || Some(SocketAddr::from((Ipv4Addr::LOCALHOST, port()?)));
        self.at(text.parse().ok().or_else(spelled)?)
    }

    /// The address to which a name leads.
    pub(super) fn lookup(&self, name: &str) -> Option<Ipv4Addr> {
        if name == LISTED.0 {
            return Some(LISTED.1);
        }
        let way = self.named(name)?;
        Some(if way.spelled.is_some() { Ipv4Addr::LOCALHOST } else { way.address() })
    }
}
