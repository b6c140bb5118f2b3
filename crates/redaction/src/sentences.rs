//! Sentences: a value a few words behind the word for it, or before it.
//!
//! The one idea: values are found first, by their look, for most words are none; then the words before one
//! are asked whether they name it.

use crate::classes::is_alnum;
use crate::letters::lower_text;
use crate::look::Look;
use crate::names::Weight;
use crate::search::{Search, count, end_of_tag};
use std::collections::VecDeque;
use std::ops::Range;

/// A word of a sentence, and what stands behind it.
struct SentenceWord {
    range: Range<usize>,
    /// A comma, the end of a sentence, and a colon part more or less.
    mark: Mark,
    /// Whether it is in parentheses.
    is_aside: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Mark {
    Nothing,
    Line,
    Colon,
    End,
}

/// Words that say that the next one is it.
const IS: [&str; 24] = [
    "is",
    "was",
    "are",
    "lautet",
    "ist",
    "es",
    "est",
    "è",
    "é",
    "to",
    "be",
    "equals",
    "jest",
    "är",
    "er",
    "now",
    "هو",
    "هي",
    "sono",
    "je",
    "este",
    "είναι",
    "adalah",
    "olan",
];
/// Words for whose it is, and for how long, behind the name.
const YOURS: [&str; 17] = [
    "الخاص",
    "الخاصة",
    "بك",
    "المؤقتة",
    "المؤقت",
    "الجديدة",
    "temporaire",
    "provisoire",
    "temporal",
    "provisional",
    "temporánea",
    "temporanea",
    "provvisoria",
    "temporária",
    "temporară",
    "временный",
    "موقت",
];
/// What marks the name before it as what is told (Japanese, Korean).
const TOPICS: [char; 3] = ['は', '는', '은'];
/// Words that may stand between a name and its value.
const BETWEEN: [&str; 20] = [
    "for", "the", "a", "set", "changed", "with", "equal", "has", "been", "of", "new", "your",
    "für", "pour", "para", "per", "value", "using", "as", "this",
];
/// What tells about a secret, and ends what its name says.
const APART: [&str; 20] = [
    "expired", "mismatch", "reset", "request", "failed", "missing", "length", "id", "type",
    "endpoint", "policy", "not", "and", "or", "by", "from", "in", "at", "must", "error",
];
/// Words of letters and digits that are no passwords.
const TERMS: [&str; 22] = [
    "sha", "oauth", "base64", "base32", "argon", "pbkdf", "utf", "hs256", "rs256", "es256", "md5",
    "bcrypt", "ed25519", "x25519", "rsa", "aes", "web3", "ipv", "html5", "http", "oidc", "level",
];
/// So many words before a value may hold its name.
const MAX_BACK: usize = 6;

impl Search<'_, '_> {
    /// `The password is x`.
    pub(crate) fn sentences(&mut self) {
        let mut said: VecDeque<SentenceWord> = VecDeque::with_capacity(MAX_BACK + 1);
        let (mut start, mut at, mut is_aside, mut told) = (None, 0, false, None);
        while at < self.bytes.len() {
            // Most of a text are letters of words.
            if is_alnum(self.bytes[at]) {
                start.get_or_insert(at);
                at += count(self.bytes, at, is_alnum);
                if at < self.bytes.len() {
                    continue;
                }
            }
            let c = self.text[at..].chars().next();
            let is_end = c.is_none_or(ends_word);
            if !is_end {
                start.get_or_insert(at);
            }
            let next = at + c.map_or(0, char::len_utf8);
            let end = if is_end { at } else { next };
            if (is_end || next == self.text.len())
                && let Some(start) = start.take()
            {
                let value = ValueWord::of(self.text, start..end);
                self.word(start..end, &value, is_aside, &mut said);
                self.say_before(start..end, &value, &mut told);
            }
            let Some(c) = c else { break };
            let before = at;
            at = next;
            match c {
                '(' => is_aside = true,
                ')' => is_aside = false,
                '<' => at = end_of_tag(self.bytes, before).max(next),
                ',' | ';' | '，' | '。' | '、' | '|' => {
                    mark(&mut said, Mark::End);
                    told = None;
                }
                '：' => mark(&mut said, Mark::Colon),
                '\n' => mark(&mut said, Mark::Line),
                _ => {}
            }
        }
    }

    fn word(
        &mut self,
        range: Range<usize>,
        value: &ValueWord,
        is_aside: bool,
        said: &mut VecDeque<SentenceWord>,
    ) {
        let bare = &self.text[value.range.clone()];
        if !said.is_empty() && is_candidate(bare) {
            self.judge_word(value, is_aside, said);
        }
        let length = match bare.as_bytes().last() {
            Some(last) if is_alnum(*last) => bare.len(),
            _ => bare.trim_end_matches(['=', '>', '-', '→']).len(),
        };
        let tail = &self.text[range.start + length..range.end];
        let behind = match tail {
            "" => Mark::Nothing,
            _ if tail.contains([':', '=', '>', '→']) => Mark::Colon,
            _ if tail.contains(['.', '?', '…']) => Mark::End,
            _ => Mark::Nothing,
        };
        let name = range.start..range.end - tail.len();
        if name.is_empty() {
            mark(said, behind);
            return;
        }
        said.push_back(SentenceWord { range: name, mark: behind, is_aside });
        if said.len() > MAX_BACK {
            said.pop_front();
        }
    }

    /// `123456 is your code`, `use x as the password`: the value comes first.
    fn say_before(
        &mut self,
        range: Range<usize>,
        value: &ValueWord,
        told: &mut Option<UnnamedValue>,
    ) {
        let word = &self.text[value.range.clone()];
        let is_one_of = |words: &[&str]| words.iter().any(|one| word.eq_ignore_ascii_case(one));
        let is_verb = || is_one_of(&["is", "as", "ist", "est"]);
        let Some(before) = told.as_mut().filter(|before| before.words > 0 || is_verb()) else {
            let range = value.range.clone();
            let is_one = value.is_strong || is_number(word);
            *told = is_one.then_some(UnnamedValue { range, words: 0, is_yours: false });
            return;
        };
        before.words += 1;
        before.is_yours |= is_one_of(&["your", "ihr", "dein", "votre"]);
        let least = if before.is_yours { Weight::Telling } else { Weight::Secret };
        if before.words > 1 && self.work.weigh(word) >= least {
            let range = before.range.clone();
            // What is told to be one is one, also if it is a number.
            if !is_number(&self.text[range.clone()]) || before.is_yours {
                self.judge(Weight::Secret, range);
            }
            *told = None;
        } else if before.words > 6 || word.len() < range.len() {
            *told = None;
        }
    }

    fn judge_word(&mut self, word: &ValueWord, is_aside: bool, said: &VecDeque<SentenceWord>) {
        let (range, is_strong) = (word.range.clone(), word.is_strong);
        let value = &self.text[range.clone()];
        if !is_strong && !is_mixed(value) && !is_number(value) {
            return;
        }
        let Some(named) = self.name_before(said, is_aside) else { return };
        let is_near = !named.is_far && (named.is_said || !named.is_on_other_line);
        let hides = match named.weight {
            Weight::Secret if is_strong => true,
            Weight::Secret if is_number(value) => is_near && named.is_said,
            Weight::Secret => is_near,
            _ => is_strong && is_near,
        };
        if hides {
            self.judge(named.weight, range);
        }
    }

    /// The name in the words before, and how it stands to what comes behind them.
    fn name_before(&mut self, said: &VecDeque<SentenceWord>, is_aside: bool) -> Option<Named> {
        let mut named =
            Named { weight: Weight::Plain, is_far: false, is_said: false, is_on_other_line: false };
        let mut others = 0;
        // `login failed for al / x`: only the name of a pair of a user and a secret counts.
        let is_behind_user = said.back().is_some_and(|last| &self.text[last.range.clone()] == "/");
        if is_behind_user {
            let pairs = ["login", "credentials", "creds", "user", "password", "signin", "auth"];
            let mut words = said.iter().map(|before| &self.text[before.range.clone()]);
            let is_pair = words.any(|word| pairs.iter().any(|one| word.eq_ignore_ascii_case(one)));
            named.weight = if is_pair { Weight::Telling } else { Weight::Plain };
            return is_pair.then_some(named);
        }
        for (at, before) in said.iter().enumerate().rev() {
            if before.is_aside && !is_aside {
                continue;
            }
            match before.mark {
                Mark::End => return None,
                Mark::Colon => named.is_said = true,
                // Over a line's end only the next word belongs to a name.
                Mark::Line if named.is_far || named.is_on_other_line => return None,
                Mark::Line => named.is_on_other_line = true,
                Mark::Nothing => {}
            }
            let word = &self.text[before.range.clone()];
            let lower = lower_text(word);
            if IS.contains(&lower.as_str()) {
                named.is_said = true;
                continue;
            }
            if APART.contains(&lower.as_str()) {
                return None;
            }
            if YOURS.contains(&lower.as_str()) {
                continue;
            }
            named.is_said |= word.ends_with(TOPICS);
            if !BETWEEN.contains(&lower.as_str()) {
                named.weight = self.work.weigh(word);
                // A name may be of two words, or three.
                for first in said.range(..at).rev().take(2) {
                    let name = &self.text[first.range.start..before.range.end];
                    if first.mark != Mark::Nothing
                        || named.weight == Weight::Secret
                        || name.len() > 64
                    {
                        break;
                    }
                    named.weight = named.weight.max(self.work.weigh(name));
                }
                if named.weight > Weight::Plain {
                    return Some(named);
                }
                others += 1;
                if others > 1 {
                    return None;
                }
            }
            named.is_far = true;
        }
        None
    }
}

/// A word without the marks behind it, as a value.
struct ValueWord {
    range: Range<usize>,
    /// Whether it is long and unlike words.
    is_strong: bool,
}

impl ValueWord {
    fn of(text: &str, range: Range<usize>) -> Self {
        // Most words end with a letter.
        let word = &text[range.clone()];
        let bare = match word.as_bytes().last() {
            Some(last) if is_alnum(*last) => word,
            _ => word.trim_end_matches(['.', ':', '!', '?', '…']),
        };
        let is_strong = bare.len() >= 8 && Look::of(bare) >= Look::Opaque;
        Self { range: range.start..range.start + bare.len(), is_strong }
    }
}

/// A value whose name may come behind it.
struct UnnamedValue {
    range: Range<usize>,
    /// How many words came since.
    words: u8,
    /// Whether one of them says that it is for the reader.
    is_yours: bool,
}

struct Named {
    weight: Weight,
    /// Whether other words stand between.
    is_far: bool,
    /// Whether a colon or a word says that the value is it.
    is_said: bool,
    is_on_other_line: bool,
}

fn mark(said: &mut VecDeque<SentenceWord>, mark: Mark) {
    if let Some(last) = said.back_mut() {
        last.mark = last.mark.max(mark);
    }
}

fn ends_word(c: char) -> bool {
    match c {
        '"' | '\'' | '`' | '(' | ')' | '[' | ']' | '{' | '}' | '<' | '>' | ',' | ';' | '|'
        | '\0' => true,
        c if c.is_ascii() => c.is_ascii_whitespace(),
        c => c.is_whitespace() || "“”„‘’«»‹›，。、：│「」『』".contains(c),
    }
}

/// Whether a word may be a value at all: cheap, for most are none.
fn is_candidate(word: &str) -> bool {
    let is_pair = word.trim_end_matches('=').contains('=') || word.contains("://");
    !is_pair && word.len() >= 4 && (word.len() >= 8 || word.bytes().any(|c| c.is_ascii_digit()))
}

fn is_number(value: &str) -> bool {
    (4..=8).contains(&value.len()) && value.bytes().all(|c| c.is_ascii_digit())
}

/// `Summer2024`; no term, no count with its unit, no path.
fn is_mixed(value: &str) -> bool {
    let bytes = value.as_bytes();
    let letters = bytes.iter().filter(|c| c.is_ascii_alphabetic()).count();
    let has_digit = bytes.iter().any(u8::is_ascii_digit);
    let lower = value.to_ascii_lowercase();
    let is_unit = bytes.iter().skip_while(|c| c.is_ascii_digit()).all(u8::is_ascii_alphabetic)
        && bytes.first().is_some_and(u8::is_ascii_digit);
    // `INV-2024`.
    let is_count = value.split_once(['-', '#', '_']).is_some_and(|(word, number)| {
        word.bytes().all(|c| c.is_ascii_uppercase()) && number.bytes().all(|c| c.is_ascii_digit())
    });
    (6..=128).contains(&bytes.len())
        && !is_count
        && letters >= 2
        && has_digit
        && !is_unit
        && bytes.iter().all(u8::is_ascii_graphic)
        && !value.contains(['/', '\\', '='])
        && !TERMS.iter().any(|term| lower.starts_with(term))
}
