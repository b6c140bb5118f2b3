//! The index of Chrome for Testing: which versions there are, and where their files lie.
//!
//! It is three documents beside each other, as <https://github.com/GoogleChromeLabs/chrome-for-testing>
//! describes them: the last good version of each channel, of each milestone, and all good versions. None has
//! a checksum; where the server of the files tells one, `download` looks at it.

use super::error::{InstallError, cause};
use crate::launch::BrowserVersion;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;
use url::{Host, Url};

/// Where the index is.
pub const INDEX: &str = "https://googlechromelabs.github.io/chrome-for-testing/";

/// The largest document of the index, in bytes: that of all versions had some megabytes after three years.
const DOCUMENT_LIMIT: usize = 64 << 20;
/// How long a document may take.
const DOCUMENT_TIME: Duration = Duration::from_mins(2);

/// Which version is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WantedVersion {
    /// The last good one of a channel, as the index calls it: `Stable`.
    Channel(&'static str),
    /// The last good one of a major version.
    Milestone(u32),
    /// This one.
    Exact(BrowserVersion),
}

/// A text that names no version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected stable, beta, dev, canary, a number such as 156, or a whole version")]
pub struct NotWanted;

impl FromStr for WantedVersion {
    type Err = NotWanted;

    fn from_str(text: &str) -> Result<Self, NotWanted> {
        let channel = ["Stable", "Beta", "Dev", "Canary"]
            .into_iter()
            .find(|channel| channel.eq_ignore_ascii_case(text));
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        match channel {
            Some(channel) => Ok(Self::Channel(channel)),
            None if is_number => text.parse().map(Self::Milestone).map_err(|_| NotWanted),
            None => text.parse().map(Self::Exact).map_err(|_| NotWanted),
        }
    }
}

impl fmt::Display for WantedVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Channel(channel) => f.write_str(&channel.to_lowercase()),
            Self::Milestone(number) => write!(f, "{number}"),
            Self::Exact(version) => write!(f, "{version}"),
        }
    }
}

/// A version, and where its file for this machine lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Release {
    pub(super) version: BrowserVersion,
    pub(super) url: Url,
}

/// A version in the index.
#[derive(Deserialize)]
struct Entry {
    version: String,
    #[serde(default)]
    downloads: BTreeMap<String, Vec<PlatformBuild>>,
}

#[derive(Deserialize)]
struct PlatformBuild {
    platform: String,
    url: Url,
}

/// `last-known-good-versions-with-downloads.json`
#[derive(Deserialize)]
struct Channels {
    channels: BTreeMap<String, Entry>,
}

/// `latest-versions-per-milestone-with-downloads.json`
#[derive(Deserialize)]
struct Milestones {
    milestones: BTreeMap<String, Entry>,
}

/// `known-good-versions-with-downloads.json`
#[derive(Deserialize)]
struct Versions {
    versions: Vec<Entry>,
}

/// Asks the index at `base` for a version for `platform`, such as `linux64`.
pub(super) async fn find(
    client: &reqwest::Client,
    base: &Url,
    wanted: &WantedVersion,
    platform: &str,
) -> Result<Release, InstallError> {
    let document = match wanted {
        WantedVersion::Channel(_) => "last-known-good-versions-with-downloads.json",
        WantedVersion::Milestone(_) => "latest-versions-per-milestone-with-downloads.json",
        WantedVersion::Exact(_) => "known-good-versions-with-downloads.json",
    };
    let mut url = expect_asked(base.clone())?;
    if let Ok(mut segments) = url.path_segments_mut() {
        segments.pop_if_empty().push(document);
    }
    let bytes = fetch(client, &url).await?;
    let no_index = |error: serde_json::Error| InstallError::NotAnIndex {
        url: url.clone(),
        why: error.to_string(),
    };
    let entry = match wanted {
        WantedVersion::Channel(channel) => {
            serde_json::from_slice::<Channels>(&bytes).map_err(no_index)?.channels.remove(*channel)
        }
        WantedVersion::Milestone(number) => {
            let mut read: Milestones = serde_json::from_slice(&bytes).map_err(no_index)?;
            read.milestones.remove(&number.to_string())
        }
        WantedVersion::Exact(version) => {
            let read: Versions = serde_json::from_slice(&bytes).map_err(no_index)?;
            let is_it = |entry: &Entry| entry.version.parse() == Ok(*version);
            read.versions.into_iter().find(is_it)
        }
    };
    let missing = || InstallError::NoSuchVersion { wanted: wanted.to_string() };
    let Entry { version, mut downloads } = entry.ok_or_else(missing)?;
    let version = version.parse().map_err(|error: crate::launch::NotVersion| {
        InstallError::NotAnIndex { url: url.clone(), why: error.to_string() }
    })?;
    let of_here = |download: &PlatformBuild| download.platform == platform;
    let file =
        downloads.remove("chrome").into_iter().flatten().find(of_here).ok_or_else(missing)?;
    Ok(Release { version, url: expect_asked(file.url)? })
}

async fn fetch(client: &reqwest::Client, url: &Url) -> Result<Vec<u8>, InstallError> {
    let request = client.get(url.clone()).timeout(DOCUMENT_TIME);
    let mut response =
        request.send().await.map_err(|error| InstallError::unreachable(url, error))?;
    if !response.status().is_success() {
        return Err(InstallError::Answer { url: url.clone(), status: response.status().as_u16() });
    }
    let mut body = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) if body.len() + chunk.len() > DOCUMENT_LIMIT => {
                let why = format!("it is longer than {DOCUMENT_LIMIT} bytes");
                return Err(InstallError::NotAnIndex { url: url.clone(), why });
            }
            Ok(Some(chunk)) => body.extend_from_slice(&chunk),
            Ok(None) => return Ok(body),
            Err(error) => {
                return Err(InstallError::Unreachable { url: url.clone(), why: cause(error) });
            }
        }
    }
}

/// Whether an address may be asked: nobody on the way may put another file in the place of one.
pub fn may_ask(url: &Url) -> bool {
    let is_loopback = match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(_)) | None => false,
    };
    url.scheme() == "https" || (url.scheme() == "http" && is_loopback)
}

fn expect_asked(url: Url) -> Result<Url, InstallError> {
    if may_ask(&url) { Ok(url) } else { Err(InstallError::NotAsked(url)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_a_channel_a_number_or_whole() {
        for (text, expected) in [
            ("stable", Some("stable")),
            ("Canary", Some("canary")),
            ("156", Some("156")),
            ("156.0.8078.79", Some("156.0.8078.79")),
            ("156.0", None),
            ("latest", None),
            ("", None),
            ("99999999999", None),
        ] {
            let read = text.parse::<WantedVersion>().ok().map(|wanted| wanted.to_string());
            assert_eq!(read.as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn only_what_nobody_can_change_on_the_way_is_asked() {
        for (url, expected) in [
            ("https://example.org/x", true),
            ("http://127.0.0.1:8000/", true),
            ("http://[::1]:8000/", true),
            ("http://localhost:8000/", false),
            ("http://example.org/x", false),
            ("file:///etc/passwd", false),
        ] {
            assert_eq!(may_ask(&url.parse().unwrap()), expected, "{url}");
        }
    }
}
