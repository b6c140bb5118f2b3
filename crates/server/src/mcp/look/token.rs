//! Which tab a tool means.

use crate::mcp::answer::Failure;
use baton_api::Invalid;
use baton_api::debug::TabToken;

/// The token of a tab.
pub(super) fn parse(token: &str) -> Result<TabToken, Failure> {
    token.parse().map_err(|_| {
        // What was given is not repeated: some give the token of a page's header, which is a secret.
        Failure::from(Invalid {
            field: "token",
            expected: "the token of a tab, as browser_debug_list_tabs shows it",
            found: "another text".to_owned(),
        })
    })
}
