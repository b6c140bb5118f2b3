//! What somebody says of a cocoon, and of its pages; what they leave out is as others say, or as usual.

use super::cocoon::{Access, BrowserDebug, Cocoon, InvalidUpstream, Upstream};
use baton_api::{CocoonId, Invalid};
use baton_session::Owner;

/// How much of a body may be kept at most, in bytes.
const MOST_BYTES: u64 = 10 << 20;

/// What somebody says of a cocoon.
#[derive(Debug, Clone)]
pub struct CocoonChoices {
    /// Which one.
    pub id: CocoonId,
    /// What people call it; its id when left out.
    pub name: Option<String>,
    /// Where it answers.
    pub upstream: Upstream,
    /// To whom it belongs.
    pub owner: Option<Owner>,
    /// Who may reach it.
    pub access: Access,
    /// Which of its pages may be looked into.
    pub browser_debug: PageChoices,
}

impl CocoonChoices {
    /// What it and the defaults say together. `pages` holds where it says nothing, and without an owner it
    /// belongs to `owner`.
    pub fn settle(self, pages: &PageChoices, owner: &Owner) -> Cocoon {
        Cocoon {
            name: self.name.unwrap_or_else(|| self.id.to_string()),
            id: self.id,
            upstream: self.upstream,
            owner: self.owner.unwrap_or_else(|| owner.clone()),
            access: self.access,
            browser_debug: self.browser_debug.or(pages.clone()).settle(),
        }
    }
}

impl From<InvalidUpstream> for Invalid {
    fn from(_: InvalidUpstream) -> Self {
        Self {
            field: "cocoons.upstream",
            expected: "an address such as http://127.0.0.1:3000, without a path or a user",
            found: "another text".to_owned(),
        }
    }
}

/// What was said of the pages that get a token, before anybody looked at it.
#[derive(Debug, Clone, Default)]
pub struct PageTexts {
    /// Whether any do.
    pub enabled: Option<bool>,
    /// The media types that count as pages.
    pub content_types: Option<Vec<String>>,
    /// How much of a response's body is kept, in bytes.
    pub response_body_max_size: Option<i64>,
    /// Paths that get none, with what is below them.
    pub exclude_paths: Option<Vec<String>>,
    /// Whether navigations are guessed where a browser does not mark them.
    pub without_fetch_metadata: Option<bool>,
}

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
    /// Checks what was said.
    pub fn check(texts: PageTexts) -> Result<Self, Invalid> {
        let lower = |types: Vec<String>| types.iter().map(|one| one.to_ascii_lowercase()).collect();
        let excluded = texts.exclude_paths.map(exclude).transpose()?;
        Ok(Self {
            enabled: texts.enabled,
            content_types: texts.content_types.map(lower),
            response_body_max_size: texts.response_body_max_size.map(size).transpose()?,
            exclude_paths: excluded,
            without_fetch_metadata: texts.without_fetch_metadata,
        })
    }

    /// These choices, and `other`'s where these say nothing.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            enabled: self.enabled.or(other.enabled),
            content_types: self.content_types.or(other.content_types),
            response_body_max_size: self.response_body_max_size.or(other.response_body_max_size),
            exclude_paths: self.exclude_paths.or(other.exclude_paths),
            without_fetch_metadata: self.without_fetch_metadata.or(other.without_fetch_metadata),
        }
    }

    /// What they and the defaults say together.
    pub fn settle(self) -> BrowserDebug {
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

fn size(found: i64) -> Result<u64, Invalid> {
    let fits = u64::try_from(found).ok().filter(|size| *size <= MOST_BYTES);
    fits.ok_or_else(|| Invalid {
        field: "browser_debug.response_body_max_size",
        expected: "a number from 0 to 10485760",
        found: found.to_string(),
    })
}

fn exclude(paths: Vec<String>) -> Result<Vec<String>, Invalid> {
    match paths.iter().find(|path| !path.starts_with('/')) {
        Some(path) => Err(Invalid {
            field: "browser_debug.exclude_paths",
            expected: "paths such as /health",
            found: format!("{path:?}"),
        }),
        None => Ok(paths),
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST_BYTES, PageChoices, PageTexts};

    #[test]
    fn as_much_is_kept_of_a_body_as_is_said_at_most() {
        let check = |size| {
            let texts = PageTexts { response_body_max_size: Some(size), ..PageTexts::default() };
            PageChoices::check(texts).map(|pages| pages.settle().response_body_max_size)
        };
        let most = i64::try_from(MOST_BYTES).unwrap();
        assert_eq!((check(0), check(most)), (Ok(0), Ok(MOST_BYTES)));
        for bad in [-1, most + 1] {
            let expected = format!(
                "expected browser_debug.response_body_max_size to be a number from 0 to {most}, found {bad}"
            );
            assert_eq!(check(bad).unwrap_err().to_string(), expected);
        }
    }
}
