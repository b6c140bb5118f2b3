//! Names of secrets: the only list of such words.

use regex::Regex;
use std::sync::LazyLock;

/// Words that make a name a secret's, wherever they stand in it: in `X-Api-Key`, `accessToken` and
/// `PHPSESSID` alike.
static PARTS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let parts = "password|passwd|passphrase|passcode|secret|token|apikey|credential|authorization\
        |authkey|accesskey|privatekey|signingkey|encryptionkey|masterkey|subscriptionkey|sharedkey\
        |sessionkey|sessionid|sessid|connectsid|sessioncookie|assertion|samlresponse|signature\
        |connectionstring|authcode|authorizationcode|verificationcode|recoverycode|backupcode\
        |securitycode|onetimecode|cardnumber|creditcard|codeverifier|clientdata|idtoken";
    Regex::new(parts).ok()
});

/// Words that make a name a secret's when they stand by themselves in it.
const WORDS: [&str; 26] = [
    "auth",
    "authentication",
    "bearer",
    "cookie",
    "cookies",
    "credential",
    "csrf",
    "cvc",
    "cvv",
    "hmac",
    "jwt",
    "mfa",
    "otp",
    "pass",
    "pin",
    "psw",
    "pw",
    "pwd",
    "sid",
    "sig",
    "sso",
    "ticket",
    "totp",
    "tkn",
    "xauth",
    "xsrf",
];

/// Names that mean a secret in an address or a form, and something else in JSON or in prose.
const IN_ADDRESSES: [&str; 7] = ["code", "key", "k", "nonce", "session", "sign", "state"];

/// Last words of names that tell *about* a secret.
const ABOUT: [&str; 38] = [
    "age",
    "at",
    "attempts",
    "count",
    "disabled",
    "enabled",
    "endpoint",
    "error",
    "errors",
    "exists",
    "expired",
    "expires",
    "expiration",
    "expiry",
    "field",
    "hint",
    "in",
    "label",
    "length",
    "limit",
    "max",
    "message",
    "method",
    "methods",
    "min",
    "mode",
    "name",
    "names",
    "placeholder",
    "policy",
    "required",
    "size",
    "status",
    "strength",
    "ttl",
    "type",
    "uri",
    "url",
];

/// Words beside which tokens are counted, not told.
const COUNTED: [&str; 14] = [
    "max",
    "min",
    "total",
    "prompt",
    "completion",
    "input",
    "output",
    "num",
    "cached",
    "reasoning",
    "used",
    "remaining",
    "count",
    "per",
];

/// Names whose value is a name, of what stands beside it: `{"name": "password", "value": "…"}`.
const NAMING: [&str; 6] = ["name", "key", "id", "field", "header", "property"];

/// Names of what stands there.
const NAMED: [&str; 3] = ["value", "content", "values"];

/// The longest name that is looked at, in bytes.
const MAX_NAME: usize = 128;

/// Whether what stands under this name is a secret.
pub fn is_secret(name: &str) -> bool {
    let spaced = spaced(end_of(name));
    let words = || spaced.split(' ').filter(|word| !word.is_empty());
    let (first, last) = (words().next(), words().next_back());
    if last.is_some_and(|last| ABOUT.contains(&last)) && spaced.trim().contains(' ') {
        return false;
    }
    if words().any(|word| word == "tokens") && words().any(|word| COUNTED.contains(&word)) {
        return false;
    }
    if first.is_none() || words().any(|word| WORDS.contains(&word)) {
        return first.is_some();
    }
    let joined = spaced.replace(' ', "").replace("tokeniz", "");
    PARTS.as_ref().is_none_or(|parts| parts.is_match(&joined))
}

/// Whether what stands under this name in an address or a form is a secret.
pub fn is_secret_in_address(name: &str) -> bool {
    IN_ADDRESSES.iter().any(|word| name.eq_ignore_ascii_case(word)) || is_secret(name)
}

/// Whether what stands under this name is the name of what stands beside it.
pub(super) fn names_another(name: &str) -> bool {
    NAMING.iter().any(|one| name.eq_ignore_ascii_case(one))
}

/// Whether this is what stands beside such a name.
pub(super) fn is_named_beside(name: &str) -> bool {
    NAMED.iter().any(|one| name.eq_ignore_ascii_case(one))
}

/// Lower-case words, cut at what is no letter and no digit, and where a new hump begins: `accessToken`
/// is `access token`.
fn spaced(name: &str) -> String {
    let mut spaced = String::with_capacity(2 * name.len());
    let mut before_lower = false;
    for letter in name.chars() {
        if before_lower && letter.is_uppercase() {
            spaced.push(' ');
        }
        if letter.is_alphanumeric() {
            spaced.extend(letter.to_lowercase());
        } else {
            spaced.push(' ');
        }
        before_lower = letter.is_lowercase();
    }
    spaced
}

/// The end of a name that is too long.
fn end_of(name: &str) -> &str {
    let mut from = name.len().saturating_sub(MAX_NAME);
    while !name.is_char_boundary(from) {
        from += 1;
    }
    &name[from..]
}
