//! Addresses: userinfo, and what is secret in path, query and fragment.
//!
//! The one idea: each segment of a path and each value of query and fragment is judged as a value, the
//! segment by the one before it: `/reset-password/…`.

use crate::HIDDEN;
use crate::form;
use crate::kind::Kind;
use crate::look::Look;
use crate::names::Weight;
use crate::ranges::Ranges;
use crate::work::Work;
use std::borrow::Cow;
use std::ops::Range;

/// The URL without its secrets. Of a URL that is all content, such as `data:`, the scheme stays.
pub(crate) fn redact(work: &mut Work<'_>, url: &str) -> String {
    let (before, fragment) = cut(url, '#');
    let (path, query) = cut(before, '?');
    let mut redacted = redact_path(work, &without_user(path)).into_owned();
    if let Some(query) = query {
        redacted.push('?');
        redacted.push_str(&form::redact(work, query));
    }
    if let Some(fragment) = fragment {
        redacted.push('#');
        redacted.push_str(&redact_fragment(work, fragment));
    }
    redacted
}

/// The URL as anybody may see it: without any value of its query, and without its fragment.
pub(crate) fn shown(work: &mut Work<'_>, url: &str) -> String {
    let (before, fragment) = cut(url, '#');
    let (path, query) = cut(before, '?');
    let mut shown = redact_path(work, &without_user(path)).into_owned();
    if let Some(query) = query {
        shown.push('?');
        shown.push_str(&without_values(query));
    }
    if let Some(fragment) = fragment {
        shown.push('#');
        shown.push_str(if fragment.is_empty() { "" } else { HIDDEN });
    }
    shown
}

/// A part without `=` may be a token by itself.
fn without_values(query: &str) -> String {
    let pair = |pair: &str| match pair.split_once('=') {
        Some((_, "")) => pair.to_owned(),
        Some((name, _)) => format!("{name}={HIDDEN}"),
        None if pair.is_empty() => String::new(),
        None => HIDDEN.to_owned(),
    };
    query.split('&').map(pair).collect::<Vec<_>>().join("&")
}

fn cut(text: &str, at: char) -> (&str, Option<&str>) {
    text.split_once(at).map_or((text, None), |(before, after)| (before, Some(after)))
}

fn redact_path<'t>(work: &mut Work<'_>, path: &'t str) -> Cow<'t, str> {
    work.text(path, Kind::Data)
}

/// A fragment is a path within the page, pairs, or both; or the name of a place, or a secret.
fn redact_fragment(work: &mut Work<'_>, fragment: &str) -> String {
    match fragment.split_once('?') {
        Some((path, query)) => {
            let path = redact_path(work, path).into_owned();
            format!("{path}?{}", form::redact(work, query))
        }
        None if fragment.starts_with(['/', '!']) => redact_path(work, fragment).into_owned(),
        None if fragment.contains('=') => form::redact(work, fragment),
        None if work.hides(Weight::Telling, fragment) => HIDDEN.to_owned(),
        None => form::redact(work, fragment),
    }
}

/// The longest segment that names the next one, in bytes.
const MAX_SEGMENT: usize = 64;
/// How many segments behind a telling one are judged by it: `/services/T0/B0/…`.
const REACH: usize = 3;
/// Words of segments behind which all that looks like a secret is one.
const TELLING: [&str; 46] = [
    "access",
    "activate",
    "activation",
    "auth",
    "bot",
    "capability",
    "code",
    "confirm",
    "confirmation",
    "feed",
    "grant",
    "hook",
    "hooks",
    "ical",
    "invitation",
    "invitations",
    "invite",
    "invites",
    "join",
    "key",
    "l",
    "license",
    "login",
    "magic",
    "nonce",
    "optout",
    "private",
    "published",
    "r",
    "recovery",
    "reset",
    "s",
    "send",
    "session",
    "share",
    "shared",
    "sharing",
    "signed",
    "t",
    "unlock",
    "unsubscribe",
    "verification",
    "verify",
    "webhook",
    "webhooks",
    "x",
];
/// Segments behind which several are judged: `/services/T0/B0/…`.
const HOOKS: [&str; 6] = ["actions", "hooks", "services", "webhook", "webhooks", "workflows"];

/// Notes segments of paths, wherever they stand in a text, that are secrets by what is before them.
/// `/token/new` is none.
pub(crate) fn find_segments(work: &mut Work<'_>, text: &str, found: &mut Ranges) {
    let bytes = text.as_bytes();
    let fits = |c: u8| c.is_ascii_alphanumeric() || b"_-.~+=%:!@".contains(&c);
    let (mut at, mut reach, mut place) = (0, 0, Place::default());
    while let Some(slash) = bytes[at..].iter().position(|c| *c == b'/').map(|found| at + found) {
        let start = slash + 1;
        let length = bytes[start..].iter().take_while(|c| fits(**c)).count();
        if slash > at || at == 0 {
            // It is not behind the segment before: another path begins.
            reach = reach_of(work, segment_before(text, slash));
        }
        at = start + length;
        let segment = &text[start..at];
        if let Some(secret) = place.next(text, start..at) {
            work.note(&text[secret.clone()]);
            found.add(secret);
        }
        // `…/verify/CODE`: the parts of a matrix parameter or a name with its ending are not judged apart.
        let is_one = reach > 0 && !segment.is_empty() && is_secret_segment(segment);
        if is_one || is_key_of_pad(&text[..slash], segment) {
            work.note(segment);
            found.add(start..at);
        } else if let Some(inner) = inner_secret(segment) {
            found.add(start + inner.start..start + inner.end);
        }
        reach = reach_of(work, segment).max(reach.saturating_sub(1));
        if length == 0 {
            at = start;
        }
    }
}

/// Where in a path a segment stands, behind the name of a host.
#[derive(Default)]
struct Place {
    /// The segments so far, the host first; none outside of an address.
    segments: Vec<Range<usize>>,
    /// Whether it is the address of a stream that is sent, whose last segment is its key.
    is_stream: bool,
}

impl Place {
    /// The next segment; answers which one is a secret by its place.
    fn next(&mut self, text: &str, segment: Range<usize>) -> Option<Range<usize>> {
        let goes_on = self.segments.last().is_some_and(|last| last.end + 1 == segment.start);
        if segment.is_empty() {
            // Two slashes: the host comes.
            let before = &text[..segment.start];
            self.is_stream = before.ends_with("rtmp:/") || before.ends_with("rtmps:/");
            self.segments.clear();
            self.segments.push(segment);
            return None;
        }
        if !goes_on {
            self.segments.clear();
            return None;
        }
        self.segments.push(segment.clone());
        let rest = text[segment.end..].strip_prefix('/').unwrap_or(&text[segment.end..]);
        let is_last = !rest.starts_with(|c: char| c.is_alphanumeric());
        let is_opaque = |range: &Range<usize>, least| Look::of(&text[range.clone()]) >= least;
        let at = |number: usize| self.segments.get(number).map_or("", |one| &text[one.clone()]);
        match self.segments.as_slice() {
            [_, _, _, one] | [_, _, _, _, one] if self.is_stream && is_last => {
                let has_digit = text[one.clone()].bytes().any(|c| c.is_ascii_digit());
                (one.len() >= 12 && has_digit || is_opaque(one, Look::Opaque)).then(|| one.clone())
            }
            // `/rest/1/x/…`: the number of a user, and the key of a hook.
            [.., rest, user, one]
                if &text[rest.clone()] == "rest"
                    && !is_last
                    && text[user.clone()].bytes().all(|c| c.is_ascii_digit()) =>
            {
                is_opaque(one, Look::Opaque).then(|| one.clone())
            }
            // `/v3/…`: where a version stands, what is asked for has a name; a key has none.
            [_, _, version, one] if is_last && is_version(&text[version.clone()]) => {
                is_opaque(one, Look::Random).then(|| one.clone())
            }
            // `/user/password/7.ts`: television.
            [_, _, _, one, channel] if is_channel(&text[channel.clone()]) => {
                is_opaque(one, Look::Opaque).then(|| one.clone())
            }
            [_, _, kind, _, one, channel] if is_channel(&text[channel.clone()]) => {
                let is_kind = matches!(&text[kind.clone()], "live" | "movie" | "series");
                (is_kind && is_opaque(one, Look::Opaque)).then(|| one.clone())
            }
            // `hooks.…/hooks/catch/1/x`: all of the last segment, whatever it looks like.
            [_, _, .., one] if is_last && self.segments.len() >= 5 => {
                let is_hook = ["hook.", "hooks.", "webhook.", "webhooks."];
                let is_host = is_hook.iter().any(|begin| at(1).starts_with(begin));
                let is_told = (2..5).any(|number| HOOKS.contains(&at(number)));
                (is_host && is_told && one.len() >= 5).then(|| one.clone())
            }
            _ => None,
        }
    }
}

/// `#/2/pad/edit/x`: the key of a text that its server cannot read.
fn is_key_of_pad(before: &str, segment: &str) -> bool {
    let is_mode = segment.len() >= 20 && (before.ends_with("/edit") || before.ends_with("/view"));
    let mut parts = before.rsplitn(4, '/').skip(2);
    let is_version = |part: &str| part.len() == 1 && part.bytes().all(|c| c.is_ascii_digit());
    is_mode
        && parts.next().is_some_and(is_version)
        && parts.next().is_some_and(|rest| rest.is_empty() || rest.ends_with('#'))
        && Look::of(segment) >= Look::Opaque
}

/// `v3`.
fn is_version(segment: &str) -> bool {
    let digits = segment.strip_prefix('v').unwrap_or_default();
    (1..=2).contains(&digits.len()) && digits.bytes().all(|c| c.is_ascii_digit())
}

/// `1001.ts`.
fn is_channel(segment: &str) -> bool {
    segment.split_once('.').is_some_and(|(number, ending)| {
        number.bytes().all(|c| c.is_ascii_digit())
            && matches!(ending, "ts" | "m3u8" | "mp4" | "mkv")
    })
}

fn segment_before(text: &str, slash: usize) -> &str {
    let bytes = text.as_bytes();
    let fits = |c: u8| c.is_ascii_alphanumeric() || b"_-.~".contains(&c);
    let length = bytes[..slash].iter().rev().take(MAX_SEGMENT).take_while(|c| fits(**c)).count();
    &text[slash - length..slash]
}

fn reach_of(work: &mut Work<'_>, segment: &str) -> usize {
    if segment.is_empty() || segment.len() > MAX_SEGMENT {
        return 0;
    }
    if let Some((name, ending)) = segment.split_once('.') {
        // What stands behind a script is given to it: `/tokenfile.php/…`.
        let is_script = matches!(ending, "php" | "aspx" | "ashx" | "jsp" | "cgi" | "pl" | "do");
        return if is_script && work.weigh(name) == Weight::Secret { 2 } else { 0 };
    }
    if is_one_of(&HOOKS, segment) {
        return REACH;
    }
    let is_telling = segment.split(['-', '_']).any(|word| is_one_of(&TELLING, word));
    let is_camel = segment.bytes().any(|c| c.is_ascii_uppercase());
    // Names of assets are many, and none of them is a word.
    if segment.len() > 24 || segment.bytes().filter(u8::is_ascii_digit).count() > 2 {
        return if is_telling { 2 } else { 0 };
    }
    match work.weigh(segment) {
        Weight::Secret => 2,
        Weight::Telling if is_camel || is_telling => 2,
        _ if is_telling => 2,
        _ => 0,
    }
}

/// Whether a word in any case is one of some in order.
fn is_one_of(words: &[&str], word: &str) -> bool {
    let folded = || word.bytes().map(|c| c.to_ascii_lowercase());
    words.binary_search_by(|one| one.bytes().cmp(folded())).is_ok()
}

/// What is secret within a segment: `private-…`, `s--…--` (Cloudinary), `(S(…))` (ASP.NET).
fn inner_secret(segment: &str) -> Option<Range<usize>> {
    let end = segment.len();
    if segment.starts_with("s--") && segment.ends_with("--") && end > 8 {
        return Some(3..end - 2);
    }
    let rest = segment.strip_prefix("private-")?;
    (Look::of(rest) >= Look::Random).then_some(8..end)
}

fn is_secret_segment(segment: &str) -> bool {
    let plain = form::decoded(segment);
    !plain.contains(':') && Look::of(&plain) >= Look::Opaque
}

/// The address without its user and, when it is all content, without that.
pub(crate) fn without_user(address: &str) -> String {
    let (scheme, rest) = match address.split_once(':') {
        Some((scheme, rest)) => (format!("{scheme}:"), rest),
        None => (String::new(), address),
    };
    if let Some(rest) = rest.strip_prefix("//") {
        let (authority, path) = rest.split_at(rest.find(['/', '\\']).unwrap_or(rest.len()));
        return match authority.rsplit_once('@') {
            Some((_, host)) => format!("{scheme}//{HIDDEN}@{host}{path}"),
            None => format!("{scheme}//{rest}"),
        };
    }
    match scheme.as_str() {
        "" | "about:" => format!("{scheme}{rest}"),
        "blob:" | "view-source:" => format!("{scheme}{}", without_user(rest)),
        _ if address.starts_with('/') => address.to_owned(),
        _ => format!("{scheme}{HIDDEN}"),
    }
}

/// Whether a value is one address from its first to its last character.
pub(crate) fn is_address(value: &str) -> bool {
    let has_scheme = || {
        value.split_once(':').is_some_and(|(scheme, rest)| {
            let fits = |c: u8| c.is_ascii_alphanumeric() || b"+-.".contains(&c);
            (rest.starts_with("//") || matches!(scheme, "otpauth" | "data" | "blob" | "magnet"))
                && (2..=24).contains(&scheme.len())
                && scheme.bytes().all(fits)
        })
    };
    let ends = |c: char| c.is_whitespace() || matches!(c, '"' | '<' | '>');
    (value.starts_with('/') || has_scheme()) && !value.trim_end().contains(ends)
}
