//! What a program still reaches that was started by a thread which gave things up.
//!
//! Each story runs in a thread of its own, because what is given up stays given up, and asks a real
//! Python, which makes calls by their numbers.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

mod calls;
mod keyring;

use std::process::Command;

/// Gives things up in a new thread, runs a Python program from there, and returns what that printed.
fn seen_by_a_child(give_up: impl FnOnce() + Send + 'static, program: String) -> String {
    let asked = std::thread::spawn(move || {
        give_up();
        let program = format!("{PREFACE}\n{program}");
        Command::new("python3").args(["-I", "-c", &program]).output().unwrap()
    });
    let output = asked.join().unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {complaint}", output.status);
    String::from_utf8(output.stdout).unwrap()
}

/// `call` returns what a call of the kernel answers, or the negative number of its error.
const PREFACE: &str = "
import ctypes, errno, mmap, os
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def call(number, *arguments):
    answer = libc.syscall(ctypes.c_long(number), *arguments)
    return -ctypes.get_errno() if answer == -1 else answer
";
