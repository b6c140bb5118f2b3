//! A permission: what a person, or the browser in their place, decided about the wish of a site.
//!
//! The one idea: what a browser keeps of such decisions has a name of its own in its settings; the
//! names here are those of the web (the Permissions API), where the web has one.

use crate::text_form::words;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use url::{Host, Url};

/// The most permissions that a state holds.
pub const MAX_PERMISSIONS: usize = 1000;

/// The longest origin, in bytes: a host name has at most 253.
const LONGEST_ORIGIN: usize = 300;

/// Every name with the one that Chromium gives to it in its settings
/// (`components/content_settings/core/common/content_settings_types.mojom`).
pub const NAMES: [(&str, &str); 19] = [
    ("automatic-downloads", "automatic_downloads"),
    ("background-sync", "background_sync"),
    ("camera", "media_stream_camera"),
    ("camera-pan-tilt-zoom", "camera_pan_tilt_zoom"),
    ("captured-surface-control", "captured_surface_control"),
    ("clipboard-read", "clipboard"),
    ("geolocation", "geolocation"),
    ("idle-detection", "idle_detection"),
    ("local-fonts", "local_fonts"),
    ("local-network", "local_network"),
    ("loopback-network", "loopback_network"),
    ("microphone", "media_stream_mic"),
    ("midi", "midi"),
    ("midi-sysex", "midi_sysex"),
    ("notifications", "notifications"),
    ("payment-handler", "payment_handler"),
    ("persistent-storage", "durable_storage"),
    ("popups", "popups"),
    ("window-management", "window_placement"),
];

/// What was decided about one wish of one site.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Permission {
    /// What the site wished for: `notifications`, `geolocation`, `camera` and so on.
    pub name: String,
    /// The `http` or `https` origin of the site, such as `https://app.test:8443`.
    pub origin: String,
    /// What was decided.
    pub setting: Setting,
    /// When it was decided, in microseconds since 1970; left out when only a page told of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<i64>,
}

words! {
    /// What was decided about a wish.
    Setting, else UnknownSetting ("decision"):
    /// The site may.
    Allow "allow",
    /// The site may not, and asks in vain.
    Deny "deny",
}

/// Why a permission is none that a browser could be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadPermission {
    /// Its name is not among [`NAMES`].
    #[error("expected a permission that can be carried, such as notifications or geolocation")]
    Name,
    /// Its origin is none of the web.
    #[error("expected an http or https origin such as https://app.test")]
    Origin,
}

impl Permission {
    /// What tells one permission from another.
    pub fn key(&self) -> (&str, &str) {
        (&self.name, &self.origin)
    }

    /// Whether a browser can be given it.
    pub fn validate(&self) -> Result<(), BadPermission> {
        if chromium_name(&self.name).is_none() {
            return Err(BadPermission::Name);
        }
        let is_short = self.origin.len() <= LONGEST_ORIGIN;
        if !is_short || origin_of(&self.origin).as_deref() != Some(&self.origin) {
            return Err(BadPermission::Origin);
        }
        Ok(())
    }

    /// Where it lives, for receipts: its name and its origin.
    pub fn place(&self) -> String {
        format!("{} {}", self.name, self.origin)
    }
}

/// What Chromium calls the permission of this name.
pub fn chromium_name(name: &str) -> Option<&'static str> {
    NAMES.iter().find(|(known, _)| *known == name).map(|(_, chromium)| *chromium)
}

/// The web origin of an address, written as this crate writes it; none when it has none, or one that
/// is too long. The address itself may be as long as it likes.
pub fn origin_of(address: &str) -> Option<String> {
    // An address of another scheme can be a whole document, which need not be looked through.
    if !address.get(..4)?.eq_ignore_ascii_case("http") {
        return None;
    }
    let url = Url::parse(address).ok()?;
    let is_web = matches!(url.scheme(), "http" | "https") && is_host(&url.host()?);
    let origin = is_web.then(|| url.origin().ascii_serialization());
    origin.filter(|origin| origin.len() <= LONGEST_ORIGIN)
}

/// Whether it names one host: in the browser's settings `*` would stand for all of them.
fn is_host(host: &Host<&str>) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
    !matches!(host, Host::Domain(name) if !name.chars().all(is_plain))
}

/// Sorts permissions; of those that are the same, the last one stays.
pub(crate) fn normalize(permissions: &mut Vec<Permission>) {
    let all = std::mem::take(permissions);
    let last: BTreeMap<(String, String), Permission> = all
        .into_iter()
        .map(|permission| ((permission.name.clone(), permission.origin.clone()), permission))
        .collect();
    permissions.extend(last.into_values());
}

/// Keeps the newest of too many, and returns how many had to go.
pub fn bound(permissions: &mut Vec<Permission>) -> usize {
    let too_many = permissions.len().saturating_sub(MAX_PERMISSIONS);
    if too_many > 0 {
        // What only a page reported is of now.
        let newest_first = |a: &Permission, b: &Permission| match (a.changed, b.changed) {
            (None, None) => Ordering::Equal,
            (None, _) => Ordering::Less,
            (_, None) => Ordering::Greater,
            (a, b) => b.cmp(&a),
        };
        permissions.sort_by(newest_first);
        permissions.truncate(MAX_PERMISSIONS);
        normalize(permissions);
    }
    too_many
}
