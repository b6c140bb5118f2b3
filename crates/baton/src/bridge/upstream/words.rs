//! What the other server writes to standard error: passed on to ours, line by line.
//!
//! A thread of its own writes, because nobody may be reading: then lines are left out, and neither
//! server waits.

use std::io::Write as _;
use std::sync::OnceLock;
use std::sync::mpsc::{SyncSender, sync_channel};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::process::ChildStderr;

/// The longest line, in bytes; a longer one comes in pieces.
const LINE_BYTES: u64 = 2048;
/// How many lines wait for whoever reads.
const WAITING: usize = 256;

/// Passes on what a server writes, until it ends.
pub(super) async fn pass_on(name: String, errors: ChildStderr) {
    let mut errors = BufReader::new(errors);
    loop {
        let mut line = Vec::new();
        match (&mut errors).take(LINE_BYTES).read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => say(format!("{name}: {}", String::from_utf8_lossy(line.trim_ascii_end()))),
        }
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
                let _ = writeln!(std::io::stderr(), "{line}");
            }
        });
        lines
    });
    // Nobody reads: it is left out.
    let _ = writer.try_send(line);
}
