//! The way to the network of a sandbox whose session or flavor has one of its own.
//!
//! The one idea: such a sandbox has no network at all. What its programs connect to at one port of its own
//! loopback is handed to the node, which is a proxy there and says what is reached. So whatever runs in the
//! sandbox, and whatever it ignores, this is its only way out; and credentials of a further proxy stay outside.

use crate::Agents;
use crate::error::AgentsError;
use crate::registry::Served;
use baton_api::EgressView;
use baton_browser::keeper::{BadEgress, EgressSpec};
use baton_egress::{Egress, Fence, HostRule, Limits, Others, Target};
use baton_runtime::live::LiveError;
use baton_sandbox::{Allowed, Connections, Destination, Network};
use baton_session::egress::Egress as Asked;
use baton_session::{Certificate, Owner};
use futures_util::StreamExt as _;
use std::collections::BTreeMap;
use tokio_util::task::AbortOnDropHandle;

/// Where a sandbox finds its proxy: the port that Squid made usual, or the next one that is free there.
const PORT: u16 = 3128;
/// How many connections of a sandbox are served at once; others wait. Each may hold 128 KiB of the node's memory.
const PLACES: usize = 256;
/// By which variables programs learn of it: those of `curl(1)`, in both spellings, as some know one only.
const VARIABLES: [&str; 3] = ["http_proxy", "https_proxy", "all_proxy"];
/// What a sandbox has itself, and what of this machine it finds at its own loopback.
const EXCEPT: &str = "localhost,127.0.0.1,::1,host";

/// What is listed where two lists have no host in common: a name that nobody has (RFC 6761, section 6.4). None at all
/// would mean every host.
const NOTHING: &str = "nothing.invalid";

/// A way to the network, and what is told of it.
pub(super) struct WayOut {
    egress: Egress,
    port: u16,
    /// Ports of this machine that are found at the loopback of the sandbox, too.
    host_ports: Vec<u16>,
    pub(super) view: EgressView,
}

impl WayOut {
    /// The way out of a sandbox of this owner; none when neither a session that is handed in asks for one, nor
    /// the flavor. What no sandbox of this node may reach is not reached by it either.
    pub(super) fn of(
        context: &Agents,
        owner: &Owner,
        session: Option<SessionEgress<'_>>,
        flavor: Option<&Asked>,
    ) -> Result<Option<Self>, AgentsError> {
        let network = &context.sandboxes.settings().network;
        if *network == Network::None {
            return Ok(None);
        }
        let supervisor = &context.supervisor;
        let trusted = session.map(|session| session.trusted).unwrap_or_default();
        let own = match session {
            Some(SessionEgress { asked, .. }) => supervisor.sandbox_way_out(owner, asked)?,
            None => None,
        };
        let flavored = flavor.map(|asked| supervisor.own_way_out(asked)).transpose()?;
        if own.is_none() && flavored.is_none() {
            return Ok(None);
        }
        let internet_only = own.as_ref().is_some_and(|spec| spec.fence.lent.is_some());
        let asks = [session.and_then(|session| session.asked), flavor];
        let [listed, also] = asks.map(|asked| asked.map(|asked| &asked.only[..]));
        let only = in_both(listed.unwrap_or_default(), also.unwrap_or_default());
        let proxy = asks.into_iter().flatten().find_map(|asked| asked.proxy.clone());
        let view = EgressView { only, proxy, internet_only, ..EgressView::default() };

        let specs: Vec<EgressSpec> = own.into_iter().chain(flavored).collect();
        let through = specs.iter().find(|spec| spec.proxy.is_some());
        let route = through.map(|spec| spec.route(trusted)).transpose();
        let route = route.map_err(|error| LiveError::from(BadEgress::from(error)))?;
        let fences = specs.into_iter().map(|spec| spec.fence).chain([fence_of(network)]);
        let host_ports = network.host_ports();
        let mut free = (PORT..).filter(|port| !host_ports.contains(port));
        let limits = Limits { places: PLACES, ..Limits::default() };
        Ok(Some(Self {
            egress: Egress::new(fences.collect(), route.unwrap_or_default()).within(limits),
            port: free.next().unwrap_or(PORT),
            host_ports,
            view,
        }))
    }

    /// The same, which says that the login of these sites does not get out there.
    pub(super) fn shutting_out(mut self, sites: Vec<String>) -> Self {
        self.view.shut_out = sites;
        self
    }

    /// The network of its sandbox.
    pub(super) fn network(&self) -> Network {
        Network::Handed([self.port].into_iter().chain(self.host_ports.iter().copied()).collect())
    }

    /// The variables by which programs there find it.
    pub(super) fn env(&self) -> BTreeMap<String, String> {
        let proxy = format!("http://127.0.0.1:{}", self.port);
        let named = VARIABLES.map(|name| (name, proxy.as_str()));
        let all = named.into_iter().chain([("no_proxy", EXCEPT)]);
        let spelt = all.flat_map(|(name, value)| {
            [name.to_owned(), name.to_uppercase()].map(|name| (name, value.to_owned()))
        });
        spelt.collect()
    }

    /// Serves what the programs of its sandbox connect to. All of it ends with the sandbox: a tunnel has two
    /// sockets and some memory of the node.
    pub(super) fn serve(self, connections: Option<Connections>) -> Served {
        let ledger = self.egress.ledger().clone();
        let serving = tokio::spawn(async move {
            let Some(mut connections) = connections else { return };
            let _all = self.egress.until_dropped();
            loop {
                let Some((port, stream)) = connections.next().await else { return };
                let place = self.egress.place().await;
                let egress = self.egress.clone();
                if port == self.port {
                    tokio::spawn(async move { egress.serve_one(stream, place).await });
                } else if let Ok(target) = Target::new("localhost", port) {
                    tokio::spawn(async move { egress.lead(stream, target, place).await });
                }
            }
        });
        Served { ledger, _serving: AbortOnDropHandle::new(serving) }
    }
}

/// What a session that is handed in says of its way out.
#[derive(Clone, Copy)]
pub(super) struct SessionEgress<'a> {
    /// The one that it asks for.
    pub(super) asked: Option<&'a Asked>,
    /// Whom it trusts; the certificate of a further proxy may be among them.
    pub(super) trusted: &'a [Certificate],
}

/// The hosts that both lists let through; one that is empty lets all through.
fn in_both(one: &[String], other: &[String]) -> Vec<String> {
    if one.is_empty() || other.is_empty() {
        return [one, other].concat();
    }
    let rules = |list: &[String]| -> Vec<HostRule> {
        list.iter().filter_map(|rule| rule.parse().ok()).collect()
    };
    let (one, other) = (rules(one), rules(other));
    let met = one.iter().flat_map(|rule| other.iter().filter_map(move |other| rule.meet(other)));
    let mut both: Vec<String> = Vec::new();
    for rule in met.map(String::from) {
        if !both.contains(&rule) {
            both.push(rule);
        }
    }
    if both.is_empty() { vec![NOTHING.to_owned()] } else { both }
}

/// What sandboxes of this node may reach, a further proxy among it: otherwise whoever names one says what a
/// sandbox reaches.
fn fence_of(network: &Network) -> Fence {
    let hosts = network.allowed().iter().filter_map(rule).collect();
    if let Network::Public(_) = network {
        Fence { lent: Some(hosts), ..Fence::default() }
    } else {
        Fence { hosts, others: Others::Listed, lent: None }
    }
}

/// The rule that lists what is allowed.
fn rule(allowed: &Allowed) -> Option<HostRule> {
    let hosts = match allowed.to {
        Destination::Host => "localhost".to_owned(),
        Destination::Addresses(network) => network.to_string(),
    };
    let port = allowed.port.map(|port| format!(":{port}")).unwrap_or_default();
    format!("{hosts}{port}").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{NOTHING, WayOut, in_both};
    use baton_api::EgressView;
    use baton_egress::{Egress, Fence, Route, Upstream};
    use futures_util::StreamExt as _;
    use futures_util::stream;
    use std::time::Duration;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::{TcpListener, TcpStream};
    use tokio::time::timeout;

    /// How long something that ends may take.
    const LIMIT: Duration = Duration::from_secs(10);

    /// A connection of a program in the sandbox: its end, and the one that is handed over.
    async fn connection() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let here = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        (here, listener.accept().await.unwrap().0)
    }

    async fn ends(stream: &mut TcpStream) {
        let mut rest = Vec::new();
        // Whether by an end or by a reset.
        let _ = timeout(LIMIT, stream.read_to_end(&mut rest)).await.expect("an end");
    }

    #[test]
    fn what_is_told_is_what_both_lists_let_through() {
        let told = |one: &[&str], other: &[&str]| {
            let list = |rules: &[&str]| rules.iter().map(ToString::to_string).collect::<Vec<_>>();
            in_both(&list(one), &list(other))
        };
        let all = ["b.example", "a.example"];
        assert_eq!(told(&all, &[]), all);
        assert_eq!(told(&[], &all), all);
        assert_eq!(told(&all, &["a.example", "c.example"]), ["a.example"]);
        let (wide, narrow) = (["*.example", "10.0.0.0/8"], ["a.example:443", "10.1.2.3", "b.test"]);
        assert_eq!(told(&wide, &narrow), ["a.example:443", "10.1.2.3"]);
        assert_eq!(told(&narrow, &wide), ["a.example:443", "10.1.2.3"]);
        assert_eq!(told(&["*.example", "a.example"], &["a.example"]), ["a.example"]);
        assert_eq!(told(&["a.example"], &["b.example"]), [NOTHING]);
        assert_eq!(told(&[], &[]), [""; 0]);
    }

    #[tokio::test]
    async fn a_port_of_this_machine_is_asked_of_no_further_proxy() {
        let site = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = site.local_addr().unwrap().port();
        let proxy = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        proxy.set_nonblocking(true).unwrap();
        let url = format!("http://{}", proxy.local_addr().unwrap());
        let further = Upstream::new(url.parse().unwrap(), None, Vec::new()).unwrap();
        let way_out = WayOut {
            egress: Egress::new(vec![Fence::default()], Route::Through(Box::new(further))),
            port: 3128,
            host_ports: vec![port],
            view: EgressView::default(),
        };
        let (mut leads, led) = connection().await;
        let handed = stream::iter([(port, led)]).chain(stream::pending());
        let _served = way_out.serve(Some(handed.boxed()));
        leads.write_all(b"a word").await.unwrap();
        let (mut heard, _) = timeout(LIMIT, site.accept()).await.expect("a connection").unwrap();
        let mut word = [0; 6];
        timeout(LIMIT, heard.read_exact(&mut word)).await.expect("a word").unwrap();
        assert_eq!(&word, b"a word");
        let asked = proxy.accept().expect_err("nobody asks it");
        assert_eq!(asked.kind(), std::io::ErrorKind::WouldBlock);
    }

    #[tokio::test]
    async fn no_connection_of_a_sandbox_outlives_it() {
        let site = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (port, proxy) = (site.local_addr().unwrap().port(), 3128);
        let way_out = WayOut {
            egress: Egress::new(vec![Fence::default()], Route::Direct),
            port: proxy,
            host_ports: vec![port],
            view: EgressView::default(),
        };
        let ((mut asks, asked), (mut leads, led)) = (connection().await, connection().await);
        let handed = stream::iter([(proxy, asked), (port, led)]).chain(stream::pending());
        let served = way_out.serve(Some(handed.boxed()));
        let request = format!("CONNECT 127.0.0.1:{port} HTTP/1.1\r\nHost: a\r\n\r\n");
        asks.write_all(request.as_bytes()).await.unwrap();
        let mut answer = [0; 12];
        asks.read_exact(&mut answer).await.unwrap();
        assert_eq!(&answer, b"HTTP/1.1 200");
        leads.write_all(b"a word").await.unwrap();
        let (mut one, _) = site.accept().await.unwrap();
        let (mut other, _) = site.accept().await.unwrap();

        // Nobody of them ends anything by itself.
        drop(served);
        for stream in [&mut asks, &mut leads, &mut one, &mut other] {
            ends(stream).await;
        }
    }
}
