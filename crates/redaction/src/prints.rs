//! What a program prints: a secret alone in a line, below the command that makes or shows it.
//!
//! The one idea: the line of a shell with such a command says what the next line is.

use crate::look::is_like_password;
use crate::names::Weight;
use crate::ranges::Ranges;
use crate::work::Work;

/// Commands that print a secret and nothing else, by their beginning.
const PRINTING: [&str; 31] = [
    "age-keygen",
    "az account get-access-token",
    "bw get password",
    "bw unlock --raw",
    "doctl auth token",
    "flyctl auth token",
    "gcloud auth print-access-token",
    "gcloud auth print-identity-token",
    "gh auth token",
    "gopass show",
    "heroku auth:token",
    "kubectl create token",
    "kubectl get secret",
    "lpass show --password",
    "mkpasswd",
    "oathtool",
    "oc whoami -t",
    "op item get",
    "op read",
    "openssl passwd",
    "openssl rand",
    "pass show",
    "php artisan key:generate --show",
    "pwgen",
    "rails secret",
    "secret-tool lookup",
    "security find-generic-password",
    "vault print token",
    "wg genkey",
    "wg genpsk",
    "ykman oath accounts code",
];
/// How far from the beginning of its line a shell says that a command comes, in bytes.
const MAX_PROMPT: usize = 48;

/// Notes the lines below such commands.
pub(crate) fn find(work: &mut Work<'_>, text: &str, found: &mut Ranges) {
    if !["$ ", "# ", "> ", "% "].iter().any(|prompt| text.contains(prompt)) {
        return;
    }
    let (mut at, mut prints) = (0, false);
    for line in text.split_inclusive('\n') {
        let bare = line.trim();
        if prints && is_printed(bare) && work.hides(Weight::Secret, bare) {
            let start = at + line.len() - line.trim_start().len();
            found.add(start..start + bare.len());
        }
        prints = prints_secret(bare);
        at += line.len();
    }
}

/// Whether a line of a shell has a command that prints a secret.
pub(crate) fn prints_secret(line: &str) -> bool {
    let mut near = line.as_bytes().iter().take(MAX_PROMPT);
    let Some(prompt) = near.position(|c| matches!(c, b'$' | b'#' | b'>' | b'%')) else {
        return false;
    };
    let command =
        line.get(prompt + 1..).and_then(|rest| rest.strip_prefix(' ')).map(str::trim_start);
    command.is_some_and(|command| {
        PRINTING.iter().any(|one| {
            command.strip_prefix(one).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        })
    })
}

/// A word that may be what a program made.
pub(crate) fn is_printed(line: &str) -> bool {
    let is_code = line.len() >= 4 && line.bytes().all(|c| c.is_ascii_digit());
    let is_key =
        line.len() >= 16 && !line.contains(char::is_whitespace) && !line.starts_with(['/', '-']);
    is_code || is_key || is_like_password(line)
}
