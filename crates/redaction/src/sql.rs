//! SQL: passwords of users, and rows whose columns have names of secrets.

use crate::names::Weight;
use crate::search::{Search, behind_comma, call_before, count, each, quoted_at};

/// Functions with a secret among their arguments, and its number, by `ClickHouse`'s manual.
const READING: [(&str, usize); 7] = [
    ("s3", 3),
    ("gcs", 3),
    ("oss", 3),
    ("cosn", 3),
    ("mysql", 5),
    ("postgresql", 5),
    ("mongodb", 5),
];

/// Words of SQL and PowerShell with a password in quotes behind them.
const BEFORE_PASSWORDS: [&str; 5] =
    ["password", "passphrase", "identified by", "securestring", "crypt("];

impl Search<'_, '_> {
    /// `PASSWORD 'x'`, `PASSWORD = N'x'`, `IDENTIFIED … BY 'x'`, `crypt('x', …)`, `SecureString "x"`.
    pub(crate) fn passwords_in_sql(&mut self) {
        let mut from = 0;
        while let Some((at, word)) = find_folded(self.bytes, &BEFORE_PASSWORDS, from) {
            from = at + word.len();
            let mut start = from + count(self.bytes, from, |c| c.is_ascii_whitespace());
            if word == "password" && matches!(self.bytes.get(start), Some(b'=' | b'(')) {
                start += 1;
                start += count(self.bytes, start, |c| c == b' ');
            } else if start == from && !word.ends_with('(') {
                continue;
            }
            start += count(self.bytes, start, |c| matches!(c, b'N' | b'E')).min(1);
            let Some(value) = quoted_at(self.text, start) else { continue };
            let inner = &self.text[value.range.clone()];
            if !inner.contains(char::is_whitespace) && self.work.weigh(inner) < Weight::Secret {
                self.judge(Weight::Secret, value.range);
            }
        }
    }

    /// `IDENTIFIED BY x`.
    pub(crate) fn unquoted_in_sql(&mut self) {
        let mut from = 0;
        while let Some((at, word)) = find_folded(self.bytes, &["identified by "], from) {
            from = at + word.len();
            let length =
                count(self.bytes, from, |c| c.is_ascii_graphic() && !b"\"'`;,".contains(&c));
            self.judge(Weight::Secret, from..from + length);
        }
    }

    /// `s3('address', 'key', 'secret')`: functions of `ClickHouse` that read from elsewhere.
    pub(crate) fn functions_of_sql(&mut self) {
        for (at, _) in each(self.text, "('") {
            let call = call_before(self.text, at + 1).to_ascii_lowercase();
            let Some((_, number)) = READING.iter().find(|(function, _)| *function == call) else {
                continue;
            };
            let mut argument = quoted_at(self.text, at + 1);
            for _ in 1..*number {
                argument = argument.and_then(|it| behind_comma(self.text, it.end));
            }
            if let Some(argument) = argument.filter(|it| !it.is_arrow) {
                self.judge(Weight::Secret, argument.range);
            }
        }
    }

    /// `INSERT INTO t (a, password) VALUES ('…', 'x')`, `COPY t (a, password) FROM stdin`.
    pub(crate) fn rows_of_sql(&mut self) {
        let mut from = 0;
        while let Some((at, word)) = find_folded(self.bytes, &["insert into ", "copy "], from) {
            from = at + word.len();
            let Some((columns, end)) = self.columns(from) else { continue };
            let start = end + count(self.bytes, end, |c| c.is_ascii_whitespace());
            let rest = &self.bytes[start..];
            let begins = |word: &str| {
                rest.get(..word.len())
                    .is_some_and(|begin| begin.eq_ignore_ascii_case(word.as_bytes()))
            };
            if begins("values") {
                from = self.values(start + 6, &columns);
            } else if begins("from stdin") {
                from = self.copied(start, &columns);
            }
        }
    }

    /// What the columns weigh that stand in the next parentheses, if one does at all.
    fn columns(&mut self, from: usize) -> Option<(Vec<Weight>, usize)> {
        let near = &self.text[from..self.text.floor_char_boundary(from + 160)];
        let open = from + near.find('(')? + 1;
        let near = &self.text[open..self.text.floor_char_boundary(open + 4096)];
        let close = near.find([')', '(', ';', '\'']).filter(|at| near[*at..].starts_with(')'))?;
        let names =
            near[..close].split(',').map(|name| name.trim_matches(['`', '"', '[', ']', ' ', '\n']));
        let weights: Vec<Weight> = names.map(|name| self.work.weigh(name)).collect();
        weights.iter().any(|weight| *weight > Weight::Plain).then_some((weights, open + close + 1))
    }

    /// Rows of values in parentheses; answers where they end.
    fn values(&mut self, start: usize, columns: &[Weight]) -> usize {
        let (mut at, mut column, mut depth) = (start, 0, 0_usize);
        while let Some(c) = self.bytes.get(at) {
            match c {
                b'\'' | b'"' => {
                    let end = end_of_sql(self.bytes, at);
                    let weight = columns.get(column).filter(|_| depth == 1);
                    self.judge(weight.copied().unwrap_or(Weight::Plain), at + 1..end);
                    at = end;
                }
                b'(' => {
                    column = if depth == 0 { 0 } else { column };
                    depth += 1;
                }
                b')' | b';' if depth == 0 => return at,
                b')' => depth -= 1,
                b',' if depth == 1 => column += 1,
                c if depth == 0 && c.is_ascii_alphabetic() => return at,
                _ => {}
            }
            at += 1;
        }
        self.text.len()
    }

    /// Rows of cells between tabs, up to `\.`.
    fn copied(&mut self, start: usize, columns: &[Weight]) -> usize {
        let mut at = self.text[start..].find('\n').map_or(self.text.len(), |end| start + end + 1);
        for line in self.text[at..].split_inclusive('\n') {
            if line.starts_with("\\.") {
                break;
            }
            let mut cell = at;
            for (index, value) in line.trim_end().split('\t').enumerate() {
                let weight = columns.get(index).copied().unwrap_or(Weight::Plain);
                self.judge(weight, cell..cell + value.len());
                cell += value.len() + 1;
            }
            at += line.len();
        }
        at
    }
}

/// The quote that ends a text of SQL; two of them are one within it, and so is one behind a backslash.
fn end_of_sql(bytes: &[u8], open: usize) -> usize {
    let mut at = open + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            c if c == bytes[open] && bytes.get(at + 1) == Some(&c) => at += 1,
            c if c == bytes[open] => return at,
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

/// The next place of one of some words of small letters, in a text of any case.
fn find_folded<'w>(bytes: &[u8], words: &[&'w str], from: usize) -> Option<(usize, &'w str)> {
    let begins = |at: usize, word: &str| {
        let begin = bytes.get(at..at + word.len());
        begin.is_some_and(|begin| begin.eq_ignore_ascii_case(word.as_bytes()))
    };
    // Most letters begin none of them.
    let letter = |c: u8| 1_u32 << ((c | 0x20).wrapping_sub(b'a') & 31);
    let firsts = words.iter().fold(0, |all, word| all | letter(word.as_bytes()[0]));
    (from..bytes.len()).find_map(|at| {
        if letter(bytes[at]) & firsts == 0 {
            return None;
        }
        let first = bytes[at] | 0x20;
        let mut alike = words.iter().filter(|word| word.as_bytes()[0] == first);
        alike.find(|word| begins(at, word)).map(|word| (at, *word))
    })
}
