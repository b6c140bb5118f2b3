//! Where the page lives: under a host name that no other program of this machine has.
//!
//! Browsers lead every name below `localhost` to their own machine (RFC 6761, section 6.3). At another address the
//! name is that under which the node is called there, by a proxy or by its certificate.

use baton_session::NodeId;
use url::{Host, Url};

/// The name of a node's page on its own machine, such as `baton-8f3a52c1d9e0.localhost`.
pub(crate) fn host_of(node: NodeId) -> String {
    let id = node.to_string().replace('-', "");
    // The end of an id is what is random, or a hash.
    format!("baton-{}.localhost", &id[id.len() - 12..])
}

/// Where the page of a node is.
#[derive(Debug, Clone)]
pub(crate) struct PagePlace {
    /// Its name on this machine.
    host: String,
    /// Where others reach the node, as its settings say.
    public: Option<Url>,
    /// Its port on the machine that shows it, where that is another than this one.
    published: Option<u16>,
}

impl PagePlace {
    pub(crate) fn new(node: NodeId, public: Option<Url>, published: Option<u16>) -> Self {
        Self { host: host_of(node), public, published }
    }

    /// Whether the page may be served, and signed in to, at this address: a name of its own.
    pub(crate) fn is_at(here: &Url) -> bool {
        matches!(here.host(), Some(Host::Domain(name)) if name != "localhost")
    }

    /// The page's address for a caller that reached the node at `here`; none where it has no name there.
    pub(crate) fn address(&self, here: &Url) -> Option<Url> {
        let is_this_machine = match here.host()? {
            Host::Domain(name) => name == "localhost",
            Host::Ipv4(address) => address.is_loopback(),
            Host::Ipv6(address) => address.is_loopback(),
        };
        let mut address = here.clone();
        if is_this_machine {
            address.set_host(Some(&self.host)).ok()?;
            // Who asks from within a container opens the page outside of it.
            if self.published.is_some() {
                address.set_port(self.published).ok()?;
            }
        } else if !Self::is_at(here) {
            address = self.public.clone()?;
        }
        address.set_path("/");
        Some(address)
    }
}

/// Where a link leads that is given to somebody else.
#[derive(Debug, Clone)]
pub(crate) struct LinkPlace {
    /// The page.
    pub(crate) url: Url,
    /// Whether only a browser of the node's machine gets there.
    pub(crate) this_machine_only: bool,
}

impl PagePlace {
    /// Where links to the page lead: to where the world asks the node, or else to where the caller does.
    pub(crate) fn link(&self, here: &Url) -> Option<LinkPlace> {
        if let Some(public) = &self.public {
            let mut url = public.clone();
            url.set_path("/");
            return Some(LinkPlace { url, this_machine_only: false });
        }
        let url = self.address(here)?;
        let this_machine_only = url.host_str() == Some(self.host.as_str());
        Some(LinkPlace { url, this_machine_only })
    }
}

impl LinkPlace {
    /// What to type so that another machine opens such a link.
    pub(crate) fn hint(&self) -> Option<String> {
        let port = self.url.port_or_known_default().filter(|_| self.this_machine_only)?;
        Some(format!(
            "on another machine type: ssh -L {port}:127.0.0.1:{port} USER@THIS-MACHINE, and open the link there; \
             or set node.publicUrl to where others reach this node"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_has_a_name_of_its_own_wherever_it_is_reached() {
        let node: NodeId = "0197c0de-0000-7000-8000-8f3a52c1d9e0".parse().unwrap();
        let public = Some("https://baton.example.org/".parse().unwrap());
        let place = PagePlace::new(node, public, None);
        let here = |text: &str| text.parse::<Url>().unwrap();
        let at = |text: &str| place.address(&here(text)).map(String::from);
        let local = Some("http://baton-8f3a52c1d9e0.localhost:7420/".to_owned());
        for loopback in ["http://127.0.0.1:7420/", "http://localhost:7420/", "http://[::1]:7420/"] {
            assert_eq!(at(loopback), local);
            assert!(!PagePlace::is_at(&here(loopback)), "{loopback}");
        }
        assert_eq!(at("https://10.0.0.7:7420/"), Some("https://baton.example.org/".to_owned()));
        assert_eq!(at("https://other.test/x"), Some("https://other.test/".to_owned()));
        assert!(PagePlace::is_at(&here("http://baton-8f3a52c1d9e0.localhost:7420/")));
        let published = PagePlace::new(node, None, Some(8420));
        assert_eq!(
            published.address(&here("http://127.0.0.1:7420/")).map(String::from),
            Some("http://baton-8f3a52c1d9e0.localhost:8420/".to_owned())
        );
        let link = |place: &PagePlace, text: &str| place.link(&here(text));
        let public = link(&place, "http://127.0.0.1:7420/").unwrap();
        assert_eq!(
            (public.url.as_str(), public.this_machine_only),
            ("https://baton.example.org/", false)
        );
        assert_eq!(public.hint(), None);
        let alone = PagePlace::new(node, None, None);
        let here_only = link(&alone, "http://127.0.0.1:7420/").unwrap();
        assert!(here_only.this_machine_only && here_only.hint().unwrap().contains("ssh -L 7420:"));
        assert!(!link(&alone, "https://node.example.org/").unwrap().this_machine_only);
        assert!(link(&alone, "https://10.0.0.7/").is_none());
        assert_eq!(PagePlace::new(node, None, None).address(&here("https://10.0.0.7/")), None);
    }
}
