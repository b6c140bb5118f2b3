//! `browser_debug`: which pages of a cocoon get a token, and how much of a body is kept.

use crate::config::error::ConfigError;
use crate::config::settings::BrowserDebugTexts;
use crate::config::values::refused;
use baton_proxy::{PageChoices, PageTexts};

/// Checks what one source says.
pub(super) fn check(origin: &str, texts: BrowserDebugTexts) -> Result<PageChoices, ConfigError> {
    let texts = PageTexts {
        enabled: texts.enabled,
        content_types: texts.content_types,
        response_body_max_size: texts.response_body_max_size,
        exclude_paths: texts.exclude_paths,
        without_fetch_metadata: texts.without_fetch_metadata,
    };
    PageChoices::check(texts).map_err(|why| refused(origin, why))
}
