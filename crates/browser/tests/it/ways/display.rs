//! A display of the story's own, at an address of its own network: for browsers that show windows.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// The program, which draws to no screen.
const PROGRAM: &str = "Xvnc";

/// An X server; it ends with this.
pub(super) struct Display {
    server: Child,
    /// How it is called, such as `:0`.
    pub(super) name: String,
}

/// Whether there is one to be had.
pub(super) fn is_there() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(PROGRAM).is_file())
}

impl Display {
    /// Starts one that writes no file but in this folder, and waits until it is ready.
    pub(super) fn start(folder: &Path) -> Self {
        let mut server = Command::new(PROGRAM)
            .args(["-displayfd", "1", "-nolock", "-nolisten", "tcp", "-nolisten", "unix"])
            .args(["-SecurityTypes", "None", "-geometry", "1280x800", "-depth", "24"])
            .arg("-rfbunixpath")
            .arg(folder.join("viewers"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut name = ":".to_owned();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut name).unwrap();
        Self { server, name: name.trim().to_owned() }
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
