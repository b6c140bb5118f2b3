//! Prefixes: beginnings that the makers of keys gave them, by which leaks are found.

use std::sync::LazyLock;

/// A beginning, how many characters follow at least, and whether those are of base64url (`-`, `_`) too.
pub(crate) type Prefix = (&'static str, usize, bool);

/// Beginnings of keys, by their makers' documents and the public rules of secret scanners: behind `=16` those
/// that so many letters and digits follow at least, behind `=16-` also characters of base64url.
const PREFIXES: &str = "=8- xoxb- xoxp- xoxa- xoxc- xoxd- xoxe- xoxe. xoxo- xoxr- xoxs- xapp- ya29. =10 \
     AGE-SECRET-KEY-1 =12 AKIA ASIA ABIA =12- glcbt- GOCSPX- dckr_pat_ dckr_oat_ sq0csp- \
     sq0atp- sq0idp- whsec_ tskey- =16 ghp_ gho_ ghu_ ghs_ ghr_ npm_ hf_ dop_v1_ doo_v1_ \
     dor_v1_ shpat_ shpca_ shppa_ shpss_ shptka_ gsk_ lin_api_ lin_oauth_ sntryu_ NRAK- LTAI \
     =16- github_pat_ glpat- gldt- glrt- glptt- glsoat- gloas- glft- pypi- baton_ PMAK- glsa_ \
     hvs. hvb. hvr. ATATT3 ATCTT3 ATBB figd_ sntrys_ fo1_ CFPAT- rzp_ AVNS_ GR1348941 =20 r8_ \
     rnd_ ntn_ sbp_ pplx- xai- phc_ phx_ rubygems_ pul- =20- AIza 1//0 glc_ vercel_ nvapi- \
     pscale_ dp.st. dp.pt. dp.ct. tvly- FLWSECK CCIPAT_ CCDB1_ =24 secret_ aio_ =24- eyJ =30 \
     dapi CLOJARS_ bkua_ pnu_ napi_ =30- SK- access-production- access-sandbox- \
     access-development- A3- MDAxY2xvY2F0aW9u pat-na1- pat-eu1- dt0c01. lsv2_ ops_eyJ HRKU- \
     polar_ ory_ tgp_v1_ duffel_ shippo_ waka_ =32 key- =40 csk- EZAK EZTK =40- EAAA EAAC \
     EAAG EAAB xkeysib- xsmtpsib- dt0s pcsk_ pdl_ fm2_ tfp_ fio-u- =43 oy2 =50 nsec1 =60 xprv \
     AKCp ATTA =60- gAAAAA sl.";

/// The same by their first letter: few of them are compared.
static BY_LETTER: LazyLock<[Vec<Prefix>; 128]> = LazyLock::new(|| {
    let mut by_letter = [const { Vec::new() }; 128];
    let (mut least, mut is_url) = (0, false);
    for word in PREFIXES.split(' ') {
        if let Some(kind) = word.strip_prefix('=') {
            least = kind.trim_end_matches('-').parse().unwrap_or_default();
            is_url = kind.ends_with('-');
        } else if let Some(alike) = by_letter.get_mut(usize::from(word.as_bytes()[0])) {
            alike.push((word, least, is_url));
        }
    }
    by_letter
});

/// Those that begin with a letter.
pub(crate) fn prefixes_of(letter: u8) -> &'static [Prefix] {
    BY_LETTER.get(usize::from(letter)).map_or(&[][..], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_beginning_has_what_follows_it() {
        let all: Vec<Prefix> = BY_LETTER.iter().flatten().copied().collect();
        assert_eq!(all.len(), 143);
        assert!(all.iter().all(|(prefix, least, _)| prefix.len() >= 3 && *least >= 8), "{all:?}");
        assert!(prefixes_of(b'g').contains(&("ghp_", 16, false)));
        assert!(prefixes_of(b'g').contains(&("glpat-", 16, true)));
    }
}
