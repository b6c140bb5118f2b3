//! The page of a node: how a person signs in to it, and as whom the page asks.

use crate::key::Scope;
use baton_session::{NodeId, Owner};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;
use url::Url;
use utoipa::ToSchema;

/// The header in which the page shows its half of what opens the node; the other half is a cookie. Neither
/// opens anything alone.
pub const PAGE_HEADER: &str = "baton-page";

/// An address that opens the page once.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PageTicket {
    /// The page's address, with a code behind `#` that counts once: no server and no log sees it there.
    pub url: Url,
    /// Until when the code counts.
    pub expires_at: Timestamp,
}

/// The page gives a code back.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PageSignIn {
    /// A code that counts once. Left out, the request shows an API key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

/// A page that is signed in. The other half of what opens the node comes as a cookie beside it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PageSession {
    /// What goes with each request, in the header `Baton-Page`.
    pub value: String,
    /// As whom it asks.
    #[serde(flatten)]
    pub view: PageView,
}

/// As whom a page asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PageView {
    /// Whose sessions it sees.
    pub owner: Owner,
    /// What the key behind it is called; revoking that ends the page.
    pub key: String,
    /// What it may do.
    pub scopes: BTreeSet<Scope>,
    /// Which node it is.
    pub node_id: NodeId,
    /// What people call the node.
    pub node_name: String,
    /// The node's version of Baton.
    pub version: String,
    /// When the page has to sign in again.
    pub ends_at: Timestamp,
}

/// How people sign in to a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PageWays {
    /// The provider of `OpenID` Connect at which they sign in, where the node's settings name one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oidc: Option<PageProvider>,
}

/// A provider at which people sign in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PageProvider {
    /// What people call it.
    pub name: String,
}

/// Where a browser goes so that a person signs in there.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PageDeparture {
    /// The provider's address, with what comes back from there once, to the browser that has the cookie beside it.
    pub url: Url,
    /// Until when.
    pub expires_at: Timestamp,
}

/// Codes and values are secrets.
macro_rules! hides {
    ($($name:ident)*) => {$(
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(concat!(stringify!($name), "(***)"))
            }
        }
    )*};
}

hides! { PageTicket PageSignIn PageSession PageDeparture }
