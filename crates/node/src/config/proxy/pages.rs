//! `browser_debug`: which pages of a cocoon get a token, and how much of a body is kept.

use crate::config::error::ConfigError;
use crate::config::settings::BrowserDebugTexts;
use crate::config::values::{invalid, number};
use crate::proxy::BrowserDebug;

/// What one source chose of the pages that get a token.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageChoices {
    enabled: Option<bool>,
    content_types: Option<Vec<String>>,
    response_body_max_size: Option<u64>,
    exclude_paths: Option<Vec<String>>,
    without_fetch_metadata: Option<bool>,
}

impl PageChoices {
    pub(super) fn check(origin: &str, texts: BrowserDebugTexts) -> Result<Self, ConfigError> {
        let lower = |types: Vec<String>| types.iter().map(|one| one.to_ascii_lowercase()).collect();
        let excluded = texts.exclude_paths.map(|paths| exclude(origin, paths)).transpose()?;
        Ok(Self {
            enabled: texts.enabled,
            content_types: texts.content_types.map(lower),
            response_body_max_size: number(
                origin,
                "browser_debug.response_body_max_size",
                texts.response_body_max_size,
                0..=10 << 20,
            )?,
            exclude_paths: excluded,
            without_fetch_metadata: texts.without_fetch_metadata,
        })
    }

    pub(super) fn or(self, other: Self) -> Self {
        Self {
            enabled: self.enabled.or(other.enabled),
            content_types: self.content_types.or(other.content_types),
            response_body_max_size: self.response_body_max_size.or(other.response_body_max_size),
            exclude_paths: self.exclude_paths.or(other.exclude_paths),
            without_fetch_metadata: self.without_fetch_metadata.or(other.without_fetch_metadata),
        }
    }

    pub(super) fn settle(self) -> BrowserDebug {
        let usual = BrowserDebug::default();
        BrowserDebug {
            enabled: self.enabled.unwrap_or(usual.enabled),
            content_types: self.content_types.unwrap_or(usual.content_types),
            response_body_max_size: self
                .response_body_max_size
                .unwrap_or(usual.response_body_max_size),
            exclude_paths: self.exclude_paths.unwrap_or(usual.exclude_paths),
            without_fetch_metadata: self
                .without_fetch_metadata
                .unwrap_or(usual.without_fetch_metadata),
        }
    }
}

fn exclude(origin: &str, paths: Vec<String>) -> Result<Vec<String>, ConfigError> {
    match paths.iter().find(|path| !path.starts_with('/')) {
        Some(path) => {
            let expected = "paths such as /health";
            Err(invalid(origin, "browser_debug.exclude_paths", expected, format!("{path:?}")))
        }
        None => Ok(paths),
    }
}
