//! What the proxy is told: where it stands, and what it stands in front of.

use super::choices::PageChoices;
use super::cocoon::Cocoon;
use baton_api::CocoonId;
use std::net::SocketAddr;
use std::time::Duration;

/// What stands in front of cocoons.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProxySettings {
    /// Where it listens; none means that the node has no proxy.
    pub listen: Option<SocketAddr>,
    /// The name whose subdomains are cocoons, beside `localhost`.
    pub host: Option<String>,
    /// How long a cocoon may take until its answer begins.
    pub first_byte: Duration,
    /// The cocoons of the settings.
    pub cocoons: Vec<Cocoon>,
    /// What holds for every cocoon that does not say otherwise.
    pub pages: PageChoices,
}

impl ProxySettings {
    /// How much of a body is kept of the tabs of sessions, in bytes: what holds for every cocoon that does not
    /// say otherwise.
    pub fn body_bytes(&self) -> usize {
        usize::try_from(self.pages.clone().settle().response_body_max_size).unwrap_or(usize::MAX)
    }

    /// The same of whatever keeps most.
    pub fn most_body_bytes(&self) -> usize {
        let asked = self.cocoons.iter().map(|cocoon| cocoon.browser_debug.response_body_max_size);
        let asked = asked.filter_map(|asked| usize::try_from(asked).ok());
        asked.fold(self.body_bytes(), usize::max)
    }

    /// Whether the settings name this cocoon.
    pub fn names(&self, id: &CocoonId) -> bool {
        self.cocoons.iter().any(|cocoon| cocoon.id == *id)
    }
}
