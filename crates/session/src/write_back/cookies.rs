//! Cookies, after a browser somewhere else had the profile.
//!
//! The one idea: what was not in the profile cannot have been deleted there. A page can set cookies that no store of a
//! profile keeps as they are; those stay in the session, unless the site set the same ones anew.

use crate::cookie::{Cookie, CookieIdentity, Expiry};
use std::collections::BTreeSet;

/// Before the end of any cookie: one that is over is refused by no store for what it is.
const BEFORE_ALL: Expiry = Expiry(i64::MIN);

/// The cookies of a profile that holds `after`, and those `before` that were never in it.
pub(super) fn merged(before: &[Cookie], mut after: Vec<Cookie>) -> Vec<Cookie> {
    let there: BTreeSet<CookieIdentity<'_>> = after.iter().map(Cookie::identity).collect();
    let is_left = |cookie: &&Cookie| {
        cookie.validate_in_store(BEFORE_ALL).is_err() && !there.contains(&cookie.identity())
    };
    let left: Vec<Cookie> = before.iter().filter(is_left).cloned().collect();
    after.extend(left);
    after
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn cookie(name: &str, value: &str, partition: Option<&str>) -> Cookie {
        let partition =
            partition.map(|site| json!({ "topLevelSite": site, "hasCrossSiteAncestor": true }));
        let cookie = json!({
            "name": name, "value": value, "domain": "shop.test", "secure": true, "partitionKey": partition,
        });
        serde_json::from_value(cookie).unwrap()
    }

    #[test]
    fn what_no_profile_could_be_given_is_as_before_and_all_else_as_it_is_there() {
        let over = Cookie { expires: Some(Expiry(1)), ..cookie("over", "1", None) };
        let before = vec![
            cookie("sid", "1", None),
            over,
            cookie("layout", "a\tb", None),
            cookie("layout", "a", Some("https://news.test")),
            cookie("note", " a", Some("https://news.test")),
            cookie("seen", "a\tb", None),
        ];
        // Who signed out there is signed out.
        let after = vec![cookie("seen", "new", None)];
        let expected = vec![after[0].clone(), before[2].clone(), before[4].clone()];
        assert_eq!(merged(&before, after), expected);
    }
}
