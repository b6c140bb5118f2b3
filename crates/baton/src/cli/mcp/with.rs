//! The command of another server, as it is typed.

use crate::bridge::PLACE;

/// The program and its arguments.
#[derive(Debug, Clone)]
pub(super) struct Words(pub(super) Vec<String>);

/// Reads a command as a shell would; no shell runs it.
pub(super) fn words(text: &str) -> Result<Words, String> {
    let words = shell_words::split(text)
        .map_err(|_| "expected a command, found a quote that does not end".to_owned())?;
    let has_place = words.iter().skip(1).any(|word| word.contains(PLACE));
    if !has_place {
        return Err(format!(
            "expected {PLACE} where the command takes the address of the browser, found none; such as \
             'npx @playwright/mcp@latest --cdp-endpoint {PLACE}'"
        ));
    }
    Ok(Words(words))
}
