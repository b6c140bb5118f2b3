//! A look at the cookies. No event tells of cookies without slowing every request down, so somebody has
//! to look; a look costs about a millisecond.

use super::Live;
use crate::cookies;
use baton_session::{Cookie, cookie};
use std::collections::HashSet;

/// What a look at the cookies found, beside those of the last capture.
#[derive(Debug, PartialEq, Eq)]
pub enum Jar {
    /// They are the same; or the browser did not answer, and nothing is known.
    Same,
    /// Some are new, or have another value or end, and none is gone: these are there now, in the order
    /// in which they are sent.
    Grown(Vec<Cookie>),
    /// Some are gone, whatever else.
    Shrunk,
}

impl Jar {
    fn between(known: &[Cookie], found: Vec<Cookie>) -> Self {
        if known == found {
            return Self::Same;
        }
        let there: HashSet<_> = found.iter().map(Cookie::key).collect();
        let is_gone = known.iter().any(|one| !there.contains(&one.key()));
        if is_gone { Self::Shrunk } else { Self::Grown(found) }
    }

    /// Whether anything is not as it was.
    pub fn is_change(&self) -> bool {
        *self != Self::Same
    }
}

impl Live {
    /// Looks at the cookies, and takes no note of them.
    pub async fn look_at_cookies(&self) -> Jar {
        let Ok(mut found) = cookies::fetch(&self.browser(), self.context()).await else {
            return Jar::Same;
        };
        cookie::order(&mut found.cookies);
        Jar::between(self.shared.mirror().cookies(), found.cookies)
    }

    /// These cookies are captured.
    pub fn note_cookies(&self, cookies: Vec<Cookie>) {
        self.shared.mirror().set_cookies(cookies);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn jar(cookies: &[(&str, &str)]) -> Vec<Cookie> {
        let cookie = |(name, value): &(&str, &str)| json!({ "name": name, "value": value, "domain": "shop.test", "path": "/" });
        cookies.iter().map(|one| serde_json::from_value(cookie(one)).unwrap()).collect()
    }

    #[test]
    fn a_jar_grows_by_what_is_new_or_another_and_shrinks_by_what_is_gone() {
        let known = jar(&[("sid", "1"), ("theme", "dark")]);
        let look = |found: &[(&str, &str)]| Jar::between(&known, jar(found));
        assert_eq!(look(&[("sid", "1"), ("theme", "dark")]), Jar::Same);
        for grown in [
            &[("sid", "2"), ("theme", "dark")][..],
            &[("theme", "dark"), ("sid", "1")],
            &[("sid", "1"), ("theme", "dark"), ("new", "1")],
        ] {
            assert_eq!(look(grown), Jar::Grown(jar(grown)));
        }
        for shrunk in [&[("sid", "2")][..], &[("sid", "1"), ("new", "1")], &[]] {
            assert_eq!(look(shrunk), Jar::Shrunk);
        }
    }
}
