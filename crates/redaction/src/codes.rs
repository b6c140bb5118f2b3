//! Codes of one use, in what is said to people in their languages: `Your code is 482 913`, `验证码为295471`.
//!
//! The one idea: numbers are found first, also in groups and digit by digit; then the words before and behind one are
//! asked whether they speak of a code, what for, and whether they say that it is this one.

use crate::look::is_strange;
use crate::names::{Weight, fold};
use crate::purposes::{Beginnings, ends_code, has_purpose, is_code, speaks_of_code, speaks_to_you};
use crate::ranges::Ranges;
use crate::search::{count, each, position};
use crate::work::Work;
use std::ops::{Range, RangeInclusive};
use std::sync::LazyLock;

/// How far words are looked at before a number and behind it, and how far tags, in bytes.
const BEFORE: usize = 140;
const BEHIND: usize = 80;
const TAGS: usize = 480;
/// Words that say that what comes next is it.
static IS: LazyLock<Beginnings> = LazyLock::new(|| {
    Beginnings::of(
        "is was are be ist lautet est es e sono to je jest on er ar olan adalah ialah la este eu now equals это є \
     είναι هو هي است ہے הוא है হল হলো कोड",
        ' ',
    )
});
/// The same where no blank parts words.
const IS_BESIDE: &str = "は 는 은 为 為 是 คือ が";
/// Words that ask to give what comes next.
static ASKING: LazyLock<Beginnings> = LazyLock::new(|| {
    Beginnings::of(
        "use enter type provide usa utilice ingrese ingresa introduce introduzca digite insira informe inserisci \
     usez utilisez entrez saisissez nutze benutze verwende wpisz podaj uzyj zadejte pouzijte zadajte gebruik voer anvand ange \
     brug bruk indtast skriv kayta syota masukkan gunakan nhap dung utilizati introduceti adja введите используйте введіть \
     используй въведете",
        ' ',
    )
});
/// Numbers that are given as such, whatever is said beside them.
static NUMBERS: LazyLock<Beginnings> =
    LazyLock::new(|| Beginnings::of("pin otp totp tan cvv cvc пин ओटीपी ওটিপি", ' '));
/// The least groups of a key in groups, and how long those are.
const LEAST_GROUPS: usize = 4;
const GROUP: RangeInclusive<usize> = 4..=6;

/// Notes the codes in a text.
pub(crate) fn find(work: &mut Work<'_>, text: &str, found: &mut Ranges) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(digit) = position(bytes, at, |c| c.is_ascii_digit()) {
        let before = bytes[at..digit].iter().rev();
        let start = digit - before.take_while(|c| c.is_ascii_alphanumeric()).count();
        let end = digit + count(bytes, digit, |c| c.is_ascii_alphanumeric());
        at = end;
        let told = match code_at(bytes, start..end) {
            Some(code) => is_told(text, &code).then_some(code),
            None => key_at(text, start..end).filter(|key| is_named(work, text, key)),
        };
        let Some(value) = told else { continue };
        at = value.end;
        // What is told twice is hidden twice.
        for (again, it) in each(&text[at..], &text[value.clone()]).take(4) {
            found.add(at + again..at + again + it.len());
        }
        found.add(value);
    }
}

/// All of the code that begins with a word.
fn code_at(bytes: &[u8], word: Range<usize>) -> Option<Range<usize>> {
    let (first, length) = (&bytes[word.clone()], word.len());
    let before = word.start.checked_sub(1).map_or(b' ', |at| bytes[at]);
    if b"./_@&=%+#\\$".contains(&before) {
        return None;
    }
    let code = if first.iter().all(u8::is_ascii_digit) {
        let (count, end) = groups(bytes, &word, |c| c.is_ascii_digit());
        let fits = match length {
            1 => (4..=8).contains(&count),
            2..=4 if count > 1 => count <= 4 && (4..=9).contains(&(count * length)),
            _ => count == 1 && (4..=8).contains(&length),
        };
        // `G-482913`.
        let is_marked = before == b'-'
            && word.start >= 2
            && bytes[word.start - 2].is_ascii_uppercase()
            && !word.start.checked_sub(3).is_some_and(|at| bytes[at].is_ascii_alphanumeric());
        if before == b'-' && !is_marked {
            return None;
        }
        fits.then_some(if is_marked { word.start - 2 } else { word.start }..end)
    } else if first.iter().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit()) {
        let fits = |c: u8| c.is_ascii_uppercase() || c.is_ascii_digit();
        let (count, end) = groups(bytes, &word, fits);
        // A name may end with a digit: `UINT8`.
        let has_digits = first.iter().filter(|c| c.is_ascii_digit()).count() >= 2;
        let is_one = if count == 1 {
            (5..=10).contains(&length) && has_digits
        } else {
            (3..=6).contains(&length)
        };
        // Its first group may have no digit.
        let back = word.start.saturating_sub(length + 1);
        let is_behind = before == b'-'
            && word.start > length
            && bytes[back..word.start - 1].iter().all(|c| fits(*c));
        let start = if is_behind { back } else { word.start };
        (is_one && (is_behind || before != b'-')).then_some(start..end)
    } else {
        None
    }?;
    let behind = &bytes[code.end..];
    let goes_on = |c: &u8| c.is_ascii_alphanumeric();
    let is_part = match behind.first() {
        Some(b'.' | b':' | b',' | b'/' | b'-') => behind.get(1).is_some_and(goes_on),
        Some(c) => goes_on(c) || b"_@%\\=&".contains(c),
        None => false,
    };
    (!is_part).then_some(code)
}

/// How many groups of one length begin with a word, all parted alike, and where they end. Single characters may have
/// a comma between them, too.
fn groups(bytes: &[u8], word: &Range<usize>, fits: fn(u8) -> bool) -> (usize, usize) {
    let (mut all, mut end) = (1, word.end);
    let first = bytes.get(end).copied().unwrap_or_default();
    let mark: &[u8] = match first {
        b' ' => b" ",
        b'-' => b"-",
        b',' if word.len() == 1 => b", ",
        _ => return (all, end),
    };
    while bytes[end..].starts_with(mark) {
        let start = end + mark.len();
        let length = count(bytes, start, |c| c.is_ascii_alphanumeric());
        if length != word.len() || !bytes[start..start + length].iter().all(|c| fits(*c)) {
            break;
        }
        (all, end) = (all + 1, start + length);
    }
    // `12-34-5678` is no code of two groups.
    let is_cut = all > 1 && mark == b"-" && bytes[end..].starts_with(mark);
    if is_cut { (0, end) } else { (all, end) }
}

/// All of a key in groups in which this word is one: `jbqk y3d7 ehpv 3pxm`.
fn key_at(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    let (bytes, length) = (text.as_bytes(), word.len());
    if !GROUP.contains(&length) {
        return None;
    }
    let fits = |c: u8| c.is_ascii_alphanumeric();
    let (mut all, end) = groups(bytes, &word, fits);
    let mark = bytes[word.end..].first().copied().unwrap_or(b' ');
    let mut start = word.start;
    // The groups before have no digit, and are no words.
    while start > length && bytes[start - 1] == mark {
        let group = start - 1 - length..start - 1;
        let is_whole = group.start == 0 || !fits(bytes[group.start - 1]);
        let letters = &bytes[group.clone()];
        let is_group = is_whole && letters.iter().all(|c| fits(*c)) && is_no_word(letters);
        if !is_group {
            break;
        }
        (start, all) = (group.start, all + 1);
    }
    let key = &bytes[start..end];
    let mixed = key.split(|c| *c == mark).filter(|group| is_no_word(group)).count();
    let is_dump = key.iter().all(|c| c.is_ascii_hexdigit() || *c == mark);
    (all >= LEAST_GROUPS && mixed * 2 > all && !is_dump).then_some(start..end)
}

/// Digits among letters, capitals among small ones, or letters as in no language.
fn is_no_word(group: &[u8]) -> bool {
    let has = |fits: fn(&u8) -> bool| group.iter().any(fits);
    let capitals = group.iter().skip(1).any(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase);
    (has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic)) || capitals || is_strange(group)
}

/// Whether the words before a key have a name for one in them, and say that it is this.
fn is_named(work: &mut Work<'_>, text: &str, key: &Range<usize>) -> bool {
    let before = Before::of(&text[..key.start]);
    let is_key = |word: &str| work.weigh(word) > Weight::Plain;
    let words = fold(before.words);
    let last = words.split(' ').next_back().unwrap_or_default();
    let is_beside = matches!(last, "key" | "code" | "secret" | "token");
    (is_beside || before.says()) && words.split(' ').any(is_key)
}

/// Whether what stands around a code says that it is one.
fn is_told(text: &str, code: &Range<usize>) -> bool {
    let before = Before::of(&text[..code.start]);
    let behind = behind(&text[code.end..]);
    let last = fold(before.last());
    let last = last.rsplit(' ').find(|word| !word.is_empty()).unwrap_or_default();
    // Most numbers have no such words beside them.
    let (may_be_before, may_be_behind) = (may_speak(before.words), may_speak(behind));
    if !may_be_before && !may_be_behind && !ASKING.has(last) {
        return false;
    }
    if NUMBERS.has(last)
        && (before.is_marked || before.is_on_line || text[code.end..].starts_with('<'))
    {
        return true;
    }
    if before.is_beside && !ends_code(last) {
        return false;
    }
    let words = fold(before.words);
    let Some(of_code) = speaks_of_code(&words) else { return false };
    let beside = words.split(' ').rev().filter(|word| !word.is_empty()).nth(1).unwrap_or_default();
    if of_code {
        let is_beside = || ends_code(last) || (is_code(beside) && has_purpose(last));
        let is_said = before.says();
        if (has_purpose(&words) && (is_said || is_beside())) || (is_said && speaks_to_you(&words)) {
            return true;
        }
    }
    let after = fold(behind);
    let is_asked = ASKING.has(last) || (ASKING.has(beside) && is_code(last));
    if is_asked && (has_purpose(&after) || has_purpose(&words)) {
        return speaks_of_code(&after).is_some();
    }
    if !may_be_behind || speaks_of_code(&after) != Some(true) {
        return false;
    }
    let first = after.split(' ').find(|word| !word.is_empty()).unwrap_or_default();
    let is_it =
        IS.has(first) || IS_BESIDE.split(' ').any(|it| first.starts_with(it)) || is_code(first);
    let is_apart =
        text[code.end..].trim_start_matches([' ', '"', '*']).starts_with(['-', '–', '—', ':']);
    (is_it || is_apart) && (has_purpose(&after) || speaks_to_you(&after))
}

/// What stands before a code.
struct Before<'a> {
    /// As far as its sentence goes, without the marks at its end.
    words: &'a str,
    /// Whether a mark or an empty line says that it comes.
    is_marked: bool,
    /// Whether it is a colon without a blank behind it, as between a host and its port.
    is_beside: bool,
    is_on_line: bool,
}

impl<'a> Before<'a> {
    fn of(text: &'a str) -> Self {
        let mut rest = text;
        loop {
            let is_mark = |c: char| c.is_whitespace() || "\"'`“”„«»*_([【「『\\".contains(c);
            rest = rest.trim_end_matches(is_mark);
            // Tags between the words and the code say nothing.
            let Some(inner) = rest.strip_suffix('>') else { break };
            let near = &inner[inner.ceil_char_boundary(inner.len().saturating_sub(TAGS))..];
            match near.rfind('<') {
                Some(open) => rest = &inner[..inner.len() - near.len() + open],
                None => break,
            }
        }
        let bare = rest.trim_end_matches([':', '：', '=', '–', '—', '-', '→', '>', ' ']);
        // A mark at the beginning of a line begins one of a list; one beside a name belongs to that.
        let marks = &rest[bare.len()..];
        let is_mark = !marks.is_empty() && !bare.ends_with('\n');
        let is_beside = marks == ":" && text.len() == rest.len();
        let is_marked = is_mark || text[rest.len()..].contains("\n\n");
        let near = &bare[bare.ceil_char_boundary(bare.len().saturating_sub(BEFORE))..];
        let ends = ["。", "！", "？", ". ", "! ", "? ", "\n\n", ".\n"];
        let start = ends.iter().filter_map(|end| near.rfind(end).map(|at| at + end.len())).max();
        let is_on_line = !text[bare.len()..].contains('\n');
        Self { words: &near[start.unwrap_or(0)..], is_marked, is_beside, is_on_line }
    }

    fn last(&self) -> &'a str {
        self.words.rsplit(char::is_whitespace).next().unwrap_or_default()
    }

    /// Whether it says that what comes next is it.
    fn says(&self) -> bool {
        self.is_marked
            || IS.has(&fold(self.last()))
            || IS_BESIDE.split(' ').any(|it| self.words.ends_with(it))
    }
}

/// The words behind a code, as far as its sentence goes.
fn behind(text: &str) -> &str {
    let near = &text[..text.floor_char_boundary(BEHIND)];
    let ends = ["。", "！", ". ", "! ", "\n", "<"];
    let end = ends.iter().filter_map(|end| near.find(end)).min();
    &near[..end.unwrap_or(near.len())]
}

/// Whether words of a code may stand there: cheap, for beside most numbers none do.
fn may_speak(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_one = |(at, three): (usize, &[u8])| {
        let begins = || at == 0 || !bytes[at - 1].is_ascii_alphanumeric();
        match [three[0] | 0x20, three[1] | 0x20, three[2] | 0x20] {
            [b'c' | b'k', b'o', b'd'] | [b'k', b'o', b'o'] => true,
            [b'p', b'i', b'n']
            | [b'o', b't', b'p']
            | [b't', b'a', b'n']
            | [b'p', b'a', b's' | b'r']
            | [b's', b'e' | b'a', b'n']
            | [b'c', b'l', b'a']
            | [b'h', b'e', b's'] => begins(),
            _ => false,
        }
    };
    !text.is_ascii() || bytes.windows(3).enumerate().any(is_one)
}
