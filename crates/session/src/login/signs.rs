//! What a cookie's or an entry's name and kind say of whether it is a login.
//!
//! The one idea: only the site knows, so nothing here is certain. What is known by its name to measure
//! visitors, to note a consent or a taste, to tell robots, or to balance load is no login. What a page's
//! own scripts cannot read, what names itself after a login, and a token that is signed are likely ones.
//! All else may be one.

use crate::cookie::Cookie;
use crate::stored::Database;
use crate::text::Text;
use crate::value::Node;

/// How likely it is that something is a login.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sign {
    /// It does something else.
    Else,
    /// It may.
    Possible,
    /// It is, as far as that shows from outside.
    Likely,
}

/// Beginnings of names that do something else, in lower case: those of analytics and advertising, of
/// consents, of guards against robots and forged requests, of load balancers, and of tastes. A letter follows
/// only where there is a star, or a mark at the end.
const ELSE: &[&str] = &[
    "_ga",
    "_gid",
    "_gat*",
    "_gcl_",
    "_gac_",
    "__utm*",
    "_fbp",
    "_fbc",
    "_uet*",
    "_hj*",
    "_clck",
    "_clsk",
    "_pk_",
    "_pin_unauth",
    "_scid*",
    "_sctr",
    "_ttp",
    "_tt_",
    "_rdt_",
    "_twclid",
    "_mkto*",
    "_vwo*",
    "_vis_opt*",
    "__hs*",
    "hubspotutk",
    "ajs_",
    "mp_",
    "amplitude*",
    "amp_",
    "optimizely*",
    "intercom-id*",
    "intercom-device*",
    "ide",
    "test_cookie",
    "anid",
    "1p_jar",
    "nid",
    "muid",
    "mr",
    "personalization_id",
    "guest_id",
    "optanon*",
    "cookieconsent*",
    "cookie_consent*",
    "cookie-consent*",
    "cookieyes*",
    "euconsent*",
    "consent*",
    "gdpr*",
    "usprivacy",
    "didomi*",
    "usercentrics*",
    "uc_",
    "tarteaucitron*",
    "cmplz_",
    "borlabs*",
    "socs",
    "__cf",
    "cf_",
    "_cfuvid",
    "_abck",
    "bm_",
    "ak_bmsc",
    "datadome*",
    "_px*",
    "incap_ses*",
    "visid_incap*",
    "reese84",
    "awsalb*",
    "aws-waf*",
    "arraffinity*",
    "bigipserver*",
    "route",
    "serverid",
    "lb_",
    "csrf*",
    "_csrf*",
    "xsrf*",
    "__requestverificationtoken*",
    "lang",
    "language",
    "locale",
    "i18n*",
    "theme",
    "tz",
    "timezone",
    "darkmode",
    "dark_mode",
    "color-mode",
    "color_mode",
    "currency",
    "country",
    "recently_viewed",
    "loglevel",
    "posthog*",
    "ph_",
    "sentry*",
    "_dd_",
    "dd_",
    "statsig*",
    "launchdarkly*",
    "ld:",
];

/// Parts of names by which logins call themselves, in lower case.
const LOGIN: &[&str] = &[
    "sess",
    "sid",
    "auth",
    "token",
    "jwt",
    "login",
    "logged",
    "signin",
    "user",
    "account",
    "remember",
    "identity",
    "credential",
    "oidc",
    "msal",
    "saml",
    "sso",
    "passport",
    "refresh",
    "access",
    "c_user",
    "li_at",
    "ct0",
    "persist:root",
];

/// What a cookie's name, and who may read it, say.
pub(super) fn of_cookie(cookie: &Cookie) -> Sign {
    match of_name(&cookie.name) {
        Sign::Possible if cookie.http_only => Sign::Likely,
        sign => sign,
    }
}

/// What an entry of localStorage says.
pub(super) fn of_entry(key: &Text, value: &Text) -> Sign {
    match of_name(&key.to_lossy()) {
        Sign::Possible if is_signed_token(&value.to_lossy()) => Sign::Likely,
        sign => sign,
    }
}

/// How many records of a database are looked at.
const RECORDS: usize = 200;

/// What a database says, by its own name and by what its records are called. One without a record says
/// nothing: whoever signs out leaves it there.
pub(super) fn of_database(database: &Database) -> Sign {
    let mut records =
        database.stores.iter().flat_map(|store| &store.records).take(RECORDS).peekable();
    if records.peek().is_none() {
        return Sign::Else;
    }
    let keys = records.filter_map(|record| match &record.key.root {
        Node::String(key) => Some(of_name(&key.to_lossy())),
        _ => None,
    });
    keys.chain([of_name(&database.name.to_lossy())]).max().unwrap_or(Sign::Possible)
}

fn of_name(name: &str) -> Sign {
    let name = name.to_ascii_lowercase();
    let bare = ["__host-", "__secure-"].iter().find_map(|prefix| name.strip_prefix(prefix));
    let bare = bare.unwrap_or(&name);
    if ELSE.iter().any(|known| is_of(&name, known) || is_of(bare, known)) {
        Sign::Else
    } else if LOGIN.iter().any(|part| bare.contains(part)) {
        Sign::Likely
    } else {
        Sign::Possible
    }
}

/// Whether a name is a known one, or begins with it.
fn is_of(name: &str, known: &str) -> bool {
    let (known, has_star) = known.strip_suffix('*').map_or((known, false), |known| (known, true));
    let Some(rest) = name.strip_prefix(known) else { return false };
    let is_open = has_star || !known.ends_with(|c: char| c.is_ascii_alphanumeric());
    is_open || !rest.starts_with(|c: char| c.is_ascii_alphabetic())
}

/// Whether a text holds a JSON Web Token (RFC 7519): a header in base64url that begins `{"`, and two dots.
fn is_signed_token(text: &str) -> bool {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-')))
        .any(|word| word.starts_with("eyJ") && word.split('.').count() == 3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn cookie(name: &str, is_http_only: bool) -> Sign {
        let json = json!({"name": name, "value": "1", "domain": "a.test", "path": "/", "expires": null, "httpOnly": is_http_only});
        of_cookie(&serde_json::from_value(json).unwrap())
    }

    #[test]
    fn what_measures_visitors_or_notes_a_taste_is_no_login() {
        for name in [
            "_ga",
            "_ga_4X2",
            "_gid",
            "_fbp",
            "IDE",
            "__cf_bm",
            "cf_clearance",
            "OptanonConsent",
            "theme",
            "lang",
            "csrftoken",
            "XSRF-TOKEN",
            "AWSALBCORS",
            "__utmz",
            "_hjSessionUser_1",
            "__Host-csrf",
        ] {
            assert_eq!(cookie(name, true), Sign::Else, "{name}");
        }
    }

    #[test]
    fn what_calls_itself_a_login_is_likely_one() {
        for name in [
            "sid",
            "connect.sid",
            "PHPSESSID",
            "JSESSIONID",
            "session",
            "auth_token",
            "li_at",
            "c_user",
            "refresh",
            "__Secure-next-auth.session-token",
            "wordpress_logged_in_1",
            "user_session",
            "idp_sso",
            "remember_me",
        ] {
            assert_eq!(cookie(name, false), Sign::Likely, "{name}");
        }
        assert_eq!((cookie("xs", true), cookie("xs", false)), (Sign::Likely, Sign::Possible));
        // Names that only begin like known ones.
        assert_eq!(
            (cookie("identity", false), cookie("mrs", false)),
            (Sign::Likely, Sign::Possible)
        );
    }

    #[test]
    fn a_database_says_what_its_records_are_called() {
        let database = |name: &str, keys: &[&str]| {
            let value = json!({"root": "1", "heap": []});
            let record = |key: &&str| json!({"key": {"root": key, "heap": []}, "value": value});
            let store = json!({"name": "s", "keyPath": null, "autoIncrement": false, "nextKey": null,
                "indexes": [], "records": keys.iter().map(record).collect::<Vec<_>>()});
            let json = json!({"name": name, "version": 1, "stores": [store]});
            of_database(&serde_json::from_value(json).unwrap())
        };
        assert_eq!(
            database("firebaseLocalStorageDb", &["firebase:authUser:k:[DEFAULT]"]),
            Sign::Likely
        );
        assert_eq!(database("firebaseLocalStorageDb", &[]), Sign::Else);
        assert_eq!(database("keyval-store", &["cart"]), Sign::Possible);
        assert_eq!(database("auth", &["1"]), Sign::Likely);
    }

    #[test]
    fn a_signed_token_is_likely_a_login() {
        let entry = |key: &str, value: &str| of_entry(&key.into(), &value.into());
        assert_eq!(
            entry("kept", r#"{"a":"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln"}"#),
            Sign::Likely
        );
        assert_eq!(entry("sb-abc-auth-token", "{}"), Sign::Likely);
        assert_eq!(entry("kept", "value"), Sign::Possible);
        assert_eq!(entry("theme", "dark"), Sign::Else);
        assert_eq!(entry("ajs_anonymous_id", "\"1\""), Sign::Else);
    }
}
