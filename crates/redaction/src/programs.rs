//! Programs: secrets among their arguments, by their manuals.
//!
//! The one idea: a program says by a short flag, or by a place, which of its arguments is one.

use crate::search::{Arguments, Search, count, each, is_in_name, position};
use Given::{After, Behind, Between, Glued, Last, Next, Place};
use std::sync::LazyLock;

/// Where the secret is that belongs to a flag.
#[derive(Clone, Copy, PartialEq)]
enum Given {
    /// The next argument.
    Next,
    /// The rest of the same argument.
    Glued,
    /// The next argument behind its first colon, or another sign.
    Behind(char),
    /// The last argument of all.
    Last,
    /// The argument of this number, behind a word that is the first one; of any first one where there is no word.
    Place(usize),
    /// The argument behind one that begins so.
    After,
    /// The first argument, between these signs.
    Between(char, char),
}

/// Programs, what they name a secret by, and where it is.
const PROGRAMS: [(&str, &str, Given); 76] = [
    ("7z", "-p", Glued),
    ("7za", "-p", Glued),
    ("7zr", "-p", Glued),
    ("7zz", "-p", Glued),
    ("aescrypt", "-p", Next),
    ("clickhouse-client", "-p", Next),
    ("cmdkey", "/pass:", Glued),
    ("cqlsh", "-p", Next),
    ("crackmapexec", "-p", Next),
    ("curl", "-u", Behind(':')),
    ("curl", "--user", Behind(':')),
    ("curl", "--proxy-user", Behind(':')),
    ("evil-winrm", "-p", Next),
    ("expdp", "", Between('/', '@')),
    ("htpasswd", "-b", Last),
    ("http", "-a", Behind(':')),
    ("https", "-a", Behind(':')),
    ("impdp", "", Between('/', '@')),
    ("ipmitool", "-P", Next),
    ("ldapadd", "-w", Next),
    ("ldapmodify", "-w", Next),
    ("ldappasswd", "-w", Next),
    ("ldappasswd", "-s", Next),
    ("ldapsearch", "-w", Next),
    ("ldapwhoami", "-w", Next),
    ("lftp", "-u", Behind(',')),
    ("login", "-p", Next),
    ("mariadb", "-p", Glued),
    ("mariadb-dump", "-p", Glued),
    ("mongo", "-p", Next),
    ("mongodump", "-p", Next),
    ("mongoexport", "-p", Next),
    ("mongoimport", "-p", Next),
    ("mongorestore", "-p", Next),
    ("mongosh", "-p", Next),
    ("mosquitto_pub", "-P", Next),
    ("mosquitto_sub", "-P", Next),
    ("mysql", "-p", Glued),
    ("mysqladmin", "-p", Glued),
    ("mysqladmin", "password", Next),
    ("mysqldump", "-p", Glued),
    ("mysqlimport", "-p", Glued),
    ("ncftp", "-p", Next),
    ("net", "/user:", After),
    ("net", "\\\\", After),
    ("net", "user", Place(2)),
    ("nmcli", "password", Next),
    ("openssl", "-k", Next),
    ("psexec", "-p", Next),
    ("rabbitmqctl", "add_user", Place(2)),
    ("rabbitmqctl", "change_password", Place(2)),
    ("rar", "-hp", Glued),
    ("rar", "-p", Glued),
    ("rclone", "obscure", Place(1)),
    ("rdesktop", "-p", Next),
    ("redis-cli", "-a", Next),
    ("rman", "", Between('/', '@')),
    ("schtasks", "/rp", Next),
    ("smbclient", "-U", Behind('%')),
    ("smbclient", "//", After),
    ("snmpwalk", "-A", Next),
    ("snmpwalk", "-X", Next),
    ("sqlcmd", "-P", Next),
    ("sqlldr", "", Between('/', '@')),
    ("sqlplus", "", Between('/', '@')),
    ("ssh-keygen", "-N", Next),
    ("ssh-keygen", "-P", Next),
    ("sshpass", "-p", Glued),
    ("sshpass", "-p", Next),
    ("unrar", "-p", Glued),
    ("unzip", "-P", Next),
    ("vault", "login", Place(1)),
    ("wpa_passphrase", "", Place(1)),
    ("xfreerdp", "/p:", Glued),
    ("xfreerdp3", "/p:", Glued),
    ("zip", "-P", Next),
];

/// A program, what it names a secret by, and where it is.
type Program = (&'static str, &'static str, Given);
/// The same by their first letter: few of them are compared.
static BY_LETTER: LazyLock<[Vec<Program>; 128]> = LazyLock::new(|| {
    let mut by_letter = [const { Vec::new() }; 128];
    for program in PROGRAMS {
        if let Some(alike) = by_letter.get_mut(usize::from(program.0.as_bytes()[0])) {
            alike.push(program);
        }
    }
    by_letter
});
/// The longest name of a program, in bytes.
const LONGEST: usize = 20;

impl Search<'_, '_> {
    /// Programs and their arguments.
    pub(crate) fn programs(&mut self) {
        let mut at = 0;
        while let Some(blank) = position(self.bytes, at, |c| matches!(c, b' ' | b'\t')) {
            at = blank + 1;
            let before = self.bytes[..blank].iter().rev().take(LONGEST);
            let length = before.take_while(|c| is_in_name(**c)).count();
            let Some(first) = self.bytes.get(blank - length).filter(|_| length > 1) else {
                continue;
            };
            let name = &self.text[blank - length..blank];
            let alike = BY_LETTER.get(usize::from(*first)).map_or(&[][..], Vec::as_slice);
            for (_, flag, given) in alike.iter().filter(|(program, ..)| *program == name) {
                at = at.max(self.program(blank, flag, *given));
            }
        }
        self.literals();
        self.piped();
    }

    /// `kubectl create secret … --from-literal=name=x`.
    fn literals(&mut self) {
        let (flag, mut from) = ("--from-literal=", 0);
        if !self.text.contains(flag) {
            return;
        }
        while let Some(at) = self.text[from..].find(flag).map(|at| from + at + flag.len()) {
            let mut arguments = Arguments { text: self.text, at };
            let pair = arguments.next();
            from = arguments.at.max(at);
            if let Some(pair) = pair
                && let Some(name) = self.text[pair.clone()].find('=')
            {
                self.judge_argument(pair.start + name + 1..pair.end);
            }
        }
    }

    /// `echo x | docker login --password-stdin`, `echo al:x | chpasswd`.
    fn piped(&mut self) {
        for asked in ["-stdin", "sudo -S", "chpasswd", "vncpasswd"] {
            for (at, _) in each(self.text, asked) {
                let start = self.text.ceil_char_boundary(at.saturating_sub(256));
                let before = &self.text[start..at];
                let line = before.rfind('\n').map_or(0, |line| line + 1);
                let Some(echo) = before[line..].rfind("echo ") else { continue };
                if before[line + echo..].contains('|') {
                    let at = start + line + echo + 5;
                    let Some(value) = (Arguments { text: self.text, at }).next() else { continue };
                    let user = self.text[value.clone()].find(':').filter(|_| asked == "chpasswd");
                    self.judge_argument(value.start + user.map_or(0, |colon| colon + 1)..value.end);
                }
            }
        }
    }

    /// The arguments of one program; answers where they end.
    fn program(&mut self, start: usize, flag: &str, given: Given) -> usize {
        let mut arguments = Arguments { text: self.text, at: start };
        let (mut is_asked, mut last, mut number) = (false, None, 0);
        while let Some(argument) = arguments.next() {
            let word = &self.text[argument.clone()];
            let is_glued =
                word.len() > flag.len() && word.starts_with(flag) && !flag.starts_with("--");
            let value = match given {
                Glued if is_glued => Some(argument.start + flag.len()..argument.end),
                Next if word == flag => arguments.next(),
                After if is_glued => arguments.next().filter(|next| self.is_place(next.start)),
                Behind(sign) if word == flag || is_glued => {
                    let value = if is_glued { Some(argument.clone()) } else { arguments.next() };
                    value.and_then(|value| {
                        let at = self.text[value.clone()].find(sign)?;
                        Some(value.start + at + 1..value.end)
                    })
                }
                Last => {
                    is_asked |= word.starts_with('-') && word.contains('b');
                    None
                }
                Place(_) if number == 0 && !flag.is_empty() && word != flag => break,
                Place(place) if number == place && self.is_place(argument.start) => {
                    Some(argument.clone())
                }
                Between(open, close) if number == 0 => {
                    word.split_once(open).and_then(|(user, rest)| {
                        let length = rest.find(close).unwrap_or(rest.len());
                        let at = argument.start + user.len() + 1;
                        (!user.is_empty() && !user.contains(['.', ':'])).then_some(at..at + length)
                    })
                }
                _ => None,
            };
            if let Some(value) = value {
                self.judge_argument(value);
            }
            number += usize::from(!matches!(given, Between(..)) || !word.starts_with('-'));
            last = Some(argument);
        }
        if let Some(last) = last.filter(|_| is_asked) {
            self.judge_argument(last);
        }
        arguments.at
    }

    /// Whether an argument is no flag, and no word for asking.
    fn is_place(&self, at: usize) -> bool {
        count(self.bytes, at, |c| matches!(c, b'/' | b'*' | b'-' | b'\\')) == 0
    }
}
