//! `[[sandboxes.session_services]]`: who else is asked for a session that is handed in.

use super::texts::SessionServiceTexts;
use crate::config::error::ConfigError;
use crate::config::values::invalid;
use baton_agents::sandboxes::SessionService;
use baton_session::Owner;
use url::Url;

/// A service of a file. What was found may hold a password, and is not repeated.
pub(super) fn read_service(
    origin: &str,
    text: SessionServiceTexts,
) -> Result<SessionService, ConfigError> {
    let expected = "an http or https address without a user";
    let wrong = || invalid(origin, "sandboxes.session_services.url", expected, "another text");
    let url: Url = text.url.parse().map_err(|_| wrong())?;
    if !matches!(url.scheme(), "http" | "https") || !url.username().is_empty() {
        return Err(wrong());
    }
    let owner = match text.owner {
        Some(name) => name.parse().map_err(|_| {
            let key = "sandboxes.session_services.owner";
            invalid(origin, key, "an owner's name", "another text")
        })?,
        None => Owner::local(),
    };
    Ok(SessionService { url, key_file: text.key_file, owner })
}
