//! What the other server writes to standard error: passed on to ours, line by line, without the secret.
//!
//! A thread of its own writes, because nobody may be reading: then lines are left out, and neither
//! server waits.

use super::secret::Secret;
use baton_session::printable::Printable;
use std::io::Write as _;
use std::sync::OnceLock;
use std::sync::mpsc::{SyncSender, sync_channel};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, BufReader};

/// The longest line, in bytes; a longer one comes in pieces.
const LINE_BYTES: usize = 2048;
/// How many lines wait for whoever reads.
const WAITING: usize = 256;

/// Passes on what a server writes, until it ends.
pub(super) async fn pass_on(name: String, errors: impl AsyncRead + Unpin, secret: Secret) {
    let mut pieces = Pieces { errors: BufReader::new(errors), secret, held: Vec::new() };
    while let Some(piece) = pieces.next().await {
        say(format!("{name}: {}", String::from_utf8_lossy(piece.trim_ascii_end())));
    }
}

/// What a server writes, line by line, or in pieces of long lines.
struct Pieces<R> {
    errors: BufReader<R>,
    secret: Secret,
    /// The end of the piece before, in which the secret may begin.
    held: Vec<u8>,
}

impl<R: AsyncRead + Unpin> Pieces<R> {
    /// The next one; none at the end.
    async fn next(&mut self) -> Option<Vec<u8>> {
        let mut line = std::mem::take(&mut self.held);
        let room = u64::try_from(LINE_BYTES.saturating_sub(line.len())).unwrap_or(u64::MAX);
        // What was read before an error is passed on.
        let _ = (&mut self.errors).take(room).read_until(b'\n', &mut line).await;
        if line.is_empty() {
            return None;
        }
        let goes_on = line.len() == LINE_BYTES && line.last() != Some(&b'\n');
        let mut line = self.secret.hide(line);
        if goes_on {
            self.held = line.split_off(line.len().saturating_sub(self.secret.len() - 1));
        }
        Some(line)
    }
}

/// Writes a line to standard error, now or soon.
pub(super) fn say(line: String) {
    static WRITER: OnceLock<SyncSender<String>> = OnceLock::new();
    let writer = WRITER.get_or_init(|| {
        let (lines, waiting) = sync_channel::<String>(WAITING);
        std::thread::spawn(move || {
            for line in waiting {
                // A reader that is gone misses it.
                let _ = writeln!(std::io::stderr(), "{}", Printable::for_terminal(&line));
            }
        });
        lines
    });
    // Nobody reads: it is left out.
    let _ = writer.try_send(line);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_secret_is_passed_on_nowhere_not_even_in_two_pieces() {
        let secret = "5ec4e7".repeat(11);
        for before in LINE_BYTES - 200..LINE_BYTES + 10 {
            let text = format!("{}{secret}\n{secret}", "x".repeat(before));
            let (errors, held) = (BufReader::new(text.as_bytes()), Vec::new());
            let mut pieces = Pieces { errors, secret: Secret::new(&secret), held };
            let mut passed = Vec::new();
            while let Some(piece) = pieces.next().await {
                passed.extend(piece);
            }
            let expected = format!("{}[redacted]\n[redacted]", "x".repeat(before));
            assert_eq!(String::from_utf8(passed).unwrap(), expected);
        }
    }
}
