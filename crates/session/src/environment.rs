//! The environment that a page sees: window, clock, language, place, what it may do and whom it trusts.

use crate::certificate::Certificate;
use crate::permission::Permission;
use serde::{Deserialize, Serialize};

/// What a session was opened with, and what was decided about the wishes of sites since; a field left
/// out is the browser's own.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Environment {
    /// Inner size of the window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub viewport: Option<Viewport>,
    /// The `User-Agent` header and `navigator.userAgent`. A session is not opened with one that names
    /// another browser, version or system than the one that runs: its client hints would say so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_agent: Option<String>,
    /// An IANA time zone such as `Asia/Tokyo`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
    /// A BCP 47 tag such as `ja-JP`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locale: Option<String>,
    /// Where the browser says it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub geolocation: Option<Geolocation>,
    /// What sites may do and may not; about all else they ask.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub permissions: Vec<Permission>,
    /// Whom the browser trusts beside those that its maker does: authorities of one's own, and servers
    /// that signed their certificates themselves. Each is one certificate in PEM; at most 20.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub certificates: Vec<Certificate>,
}

/// Inner size of a window, in CSS pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Viewport {
    /// Pixels from left to right.
    pub width: u32,
    /// Pixels from top to bottom.
    pub height: u32,
}

/// A place on Earth, WGS 84.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Geolocation {
    /// Degrees north, −90 to 90.
    pub latitude: f64,
    /// Degrees east, −180 to 180.
    pub longitude: f64,
    /// Radius of certainty in metres.
    #[serde(default = "one_metre")]
    pub accuracy: f64,
}

fn one_metre() -> f64 {
    1.0
}
