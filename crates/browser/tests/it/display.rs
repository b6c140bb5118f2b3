//! A display of the story's own, at an address of its own network: for browsers that show windows.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The program, which draws to no screen.
const PROGRAM: &str = "Xvnc";

/// An X server; it ends with this.
pub(crate) struct Display {
    server: Child,
    /// How it is called, such as `:0`.
    pub(crate) name: String,
}

/// Whether there is one to be had.
pub(crate) fn is_there() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(PROGRAM).is_file())
}

impl Display {
    /// Starts one that writes no file but in this folder, and waits until it is ready.
    pub(crate) fn start(folder: &Path) -> Self {
        Self::start_with(folder, &["-nolisten", "unix"])
    }

    /// The same, at a socket with a path, for those who show a cookie; and the file in which that is.
    pub(crate) fn locked(folder: &Path) -> (Self, PathBuf) {
        let cookies = folder.join("cookies");
        fs::write(&cookies, cookie(&rand::random())).unwrap();
        let auth = ["-auth", cookies.to_str().unwrap(), "-nolisten", "local"];
        (Self::start_with(folder, &auth), cookies)
    }

    fn start_with(folder: &Path, more: &[&str]) -> Self {
        let mut server = Command::new(PROGRAM)
            .args(["-displayfd", "1", "-nolock", "-nolisten", "tcp"])
            .args(more)
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

/// A file with a cookie for every display (`Xau(3)`): the family of all hosts, no address, no number.
fn cookie(secret: &[u8; 16]) -> Vec<u8> {
    const WILD: [u8; 2] = [0xff, 0xff];
    const NAME: &[u8] = b"MIT-MAGIC-COOKIE-1";
    [&WILD, &[0, 0][..], &[0, 0], &[0, 18], NAME, &[0, 16], secret].concat()
}

impl Drop for Display {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
