//! The way out of one session: a proxy beside its keeper, through which its browser reaches the web.
//!
//! The one idea: a browser is given a proxy under a name that is the only one it can resolve, so that
//! whatever it does comes here; and here one place says what it may reach ([`Fence`]), by which further proxy
//! ([`Route`]), for whom ([`Guests`]), and keeps what was asked for ([`Ledger`]).

mod addresses;
mod blocking;
mod counted;
mod exit;
mod fence;
mod guests;
mod hosts;
mod join;
mod ledger;
mod lookup;
mod proxy;
mod route;
mod stream;
mod tunnel;
mod upstream;

pub use addresses::{Elsewhere, NOT_PUBLIC, is_public, is_within};
pub use blocking::blocking;
pub use exit::ExitError;
pub use fence::{Fence, Others, Refusal};
pub use guests::{BrowserProcesses, group_of};
pub use hosts::{HostRule, InvalidRule, NotHost, Target};
pub use join::{HALF_CLOSED, join};
pub use ledger::{HostTally, Ledger};
pub use lookup::{NoAddress, look_up};
pub use proxy::{Egress, Guests, Limits, Place};
pub use route::{MachineRoute, Route};
pub use upstream::{Credentials, NotProxyUrl, ProxyUrl, Scheme, Upstream};
