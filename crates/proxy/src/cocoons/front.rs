//! What an operation on cocoons is given: the cocoons that there are, and the proxy in front of them.

use crate::cocoon::Cocoons;
use crate::place::ProxyPlace;
use crate::settings::ProxySettings;
use baton_debug::token::DebugSecret;
use baton_store::Store;
use std::sync::Arc;

/// The surroundings of an operation on cocoons. Cheap to clone.
#[derive(Clone)]
pub struct Front {
    /// The database.
    pub store: Store,
    /// What stands behind the proxy.
    pub cocoons: Cocoons,
    /// What the settings say of the proxy.
    pub settings: Arc<ProxySettings>,
    /// Where the proxy is reached, when there is one.
    pub place: Option<ProxyPlace>,
    /// With what tickets are signed.
    pub secret: DebugSecret,
}
