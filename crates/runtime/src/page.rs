//! Pages of lists.

use crate::error::RuntimeError;
use baton_api::Invalid;

/// The size of a page when none is asked for.
const DEFAULT_LIMIT: u32 = 50;
/// The largest page.
const MAX_LIMIT: u32 = 200;

/// The size of a page that is asked for.
pub(crate) fn limit(asked: Option<u32>) -> Result<u32, RuntimeError> {
    let limit = asked.unwrap_or(DEFAULT_LIMIT);
    if (1..=MAX_LIMIT).contains(&limit) {
        return Ok(limit);
    }
    let expected = "a number from 1 to 200";
    Err(Invalid { field: "limit", expected, found: limit.to_string() }.into())
}

/// The page, and the id after which the next one begins, when there is one. Whoever fetches one
/// more than the limit knows.
pub(crate) fn cut<T, I>(
    mut found: Vec<T>,
    limit: u32,
    id: impl Fn(&T) -> I,
) -> (Vec<T>, Option<I>) {
    let more = found.len() > limit as usize;
    found.truncate(limit as usize);
    let next = found.last().filter(|_| more).map(id);
    (found, next)
}
