//! The route: by which further proxy a target is reached, if by any.

use crate::hosts::Target;
use crate::upstream::Upstream;
use hyper::Uri;
use hyper_util::client::proxy::matcher::Matcher;
use std::fmt;

/// By which further proxy targets are reached.
#[derive(Debug, Default)]
pub enum Route {
    /// By none.
    #[default]
    Direct,
    /// All by this one.
    Through(Box<Upstream>),
    /// As a machine says.
    Machine(Box<MachineRoute>),
}

/// What is spoken over a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Speech {
    /// Whatever the client wants: the connection leads to the target itself.
    Anything,
    /// Requests of HTTP, which a further proxy takes as well.
    Requests,
}

/// What a machine says of its proxies: `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY`, as `curl(1)` and its
/// likes read them.
pub struct MachineRoute {
    http: Option<Upstream>,
    https: Option<Upstream>,
    covered: Matcher,
}

impl MachineRoute {
    /// The proxy of requests without TLS and that of all else, but for these hosts: names, with all below
    /// them, and networks, separated by commas; `*` for all.
    pub fn new(http: Option<Upstream>, https: Option<Upstream>, except: &str) -> Self {
        // The library knows whom a list excepts only if it has a proxy to give to the others.
        let covered = Matcher::builder().all("http://covered.invalid").no(except).build();
        Self { http, https, covered }
    }
}

impl fmt::Debug for MachineRoute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MachineRoute")
            .field("http", &self.http)
            .field("https", &self.https)
            .finish_non_exhaustive()
    }
}

impl Route {
    /// The further proxy that is asked for a target.
    pub(crate) fn to(&self, target: &Target, speech: Speech) -> Option<&Upstream> {
        match self {
            Self::Direct => None,
            Self::Through(upstream) => Some(upstream),
            Self::Machine(machine) => {
                let upstream = match speech {
                    Speech::Requests => machine.http.as_ref(),
                    Speech::Anything => machine.https.as_ref(),
                };
                let uri: Uri = format!("http://{target}/").parse().ok()?;
                upstream.filter(|_| machine.covered.intercept(&uri).is_some())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{MachineRoute, Route, Speech};
    use crate::hosts::Target;
    use crate::upstream::Upstream;

    fn proxy(url: &str) -> Upstream {
        Upstream::new(url.parse().unwrap(), None, Vec::new()).unwrap()
    }

    #[test]
    fn a_machine_says_which_hosts_go_by_which_proxy() {
        let (http, https) = (proxy("http://plain.example:3128"), proxy("http://tls.example:3128"));
        let except = "corp.example, .internal, 10.0.0.0/8, ::1, localhost";
        let route = Route::Machine(Box::new(MachineRoute::new(Some(http), Some(https), except)));
        let to = |host: &str, speech| {
            let target = Target::new(host, 443).unwrap();
            route.to(&target, speech).map(ToString::to_string)
        };
        let tls = Some("http://tls.example:3128".to_owned());
        assert_eq!(to("example.org", Speech::Anything), tls);
        assert_eq!(to("notcorp.example", Speech::Anything), tls);
        assert_eq!(to("[2001:db8::1]", Speech::Anything), tls);
        let plain = Some("http://plain.example:3128".to_owned());
        assert_eq!(to("example.org", Speech::Requests), plain);
        for host in ["corp.example", "a.corp.example", "a.internal", "10.1.2.3", "[::1]"] {
            assert_eq!(to(host, Speech::Anything), None, "{host}");
        }
        let all = Route::Machine(Box::new(MachineRoute::new(Some(proxy("http://a")), None, "*")));
        let target = Target::new("example.org", 80).unwrap();
        assert!(all.to(&target, Speech::Requests).is_none());
    }
}
