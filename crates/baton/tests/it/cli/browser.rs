//! `baton browser`: a ZIP file becomes a browser that is listed and started, or nothing.

use super::fixture::{Folder, stderr, stdout};
use assert_cmd::assert::Assert;
use baton_testing::skip;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

const LIMIT: Duration = Duration::from_secs(30);

/// Where browsers are installed in a test.
fn cache(folder: &Folder) -> PathBuf {
    folder.data().with_file_name("cache")
}

/// Runs a command where the installed browser is meant.
fn run(folder: &Folder, args: &[&str]) -> Assert {
    let cache = cache(folder);
    let variables =
        [("BATON_BROWSER", "chrome-for-testing"), ("XDG_CACHE_HOME", cache.to_str().unwrap())];
    folder.run_with(args, &variables)
}

/// What a run wrote, without the folder's own path.
fn told(text: &str, folder: &Folder) -> String {
    text.replace(cache(folder).to_str().unwrap(), "CACHE")
}

/// A ZIP file with a script as its browser, and so many bytes beside it.
fn zip_of(script: &str, more: usize) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chrome-linux64.zip");
    let mut zip = ZipWriter::new(std::fs::File::create(&path).unwrap());
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    zip.start_file("chrome-linux64/chrome", stored.unix_permissions(0o755)).unwrap();
    write!(zip, "#!/bin/sh\n{script}\n").unwrap();
    zip.start_file("chrome-linux64/resources.pak", stored.unix_permissions(0o644)).unwrap();
    zip.write_all(&vec![7; more]).unwrap();
    zip.finish().unwrap();
    (folder, path)
}

fn install(folder: &Folder, zip: &Path) -> Assert {
    run(folder, &["browser", "install", "--from-file", zip.to_str().unwrap()])
}

/// The row of the installed browser in a list of `--json`.
fn listed(folder: &Folder, command: &[&str], key: &str) -> Option<Value> {
    let run = run(folder, &[&["--json"], command].concat());
    let document: Value = serde_json::from_slice(&run.get_output().stdout).unwrap();
    let mut rows = document[key].as_array().unwrap().iter();
    rows.find(|row| row["name"] == "chrome-for-testing").cloned()
}

#[test]
fn a_zip_file_is_installed_listed_and_told_by_the_doctor() {
    let folder = Folder::new();
    assert_eq!(listed(&folder, &["browser", "list"], "items"), None);
    let (_kept, zip) = zip_of("echo Google Chrome for Testing 156.0.1.2", 10);
    let installed = stdout(&install(&folder, &zip).success(), &folder.data());
    insta::assert_snapshot!(told(&installed, &folder), @r"
    Chrome for Testing 156.0.1.2 is installed
    CACHE/baton/browsers/chrome-156.0.1.2/chrome
    ");
    let row = listed(&folder, &["browser", "list"], "items").unwrap();
    assert_eq!((row["version"].as_str(), row["used"].as_bool()), (Some("156.0.1.2"), Some(true)));
    let program = cache(&folder).join("baton/browsers/chrome-156.0.1.2/chrome");
    assert_eq!(row["program"].as_str(), program.to_str());
    assert_eq!(listed(&folder, &["doctor"], "browsers"), Some(row));
    let again = install(&folder, &zip).success();
    assert!(
        stdout(&again, &folder.data())
            .starts_with("Chrome for Testing 156.0.1.2 is installed already")
    );

    let told = stdout(&run(&folder, &["browser", "list"]).success(), &folder.data());
    assert!(told.lines().all(|line| line.chars().count() <= 80), "{told}");
}

#[test]
fn what_makes_no_sense_is_told_with_what_would() {
    let folder = Folder::new();
    let told = |args: &[&str], code: i32| {
        let run = run(&folder, &[&["browser", "install"], args].concat()).code(code);
        stderr(&run, &folder.data())
    };
    let all = [
        told(&["--from-file", "/nowhere/chrome.zip"], 3),
        told(&["--from-file", "/nowhere/chrome.zip", "--version", "156"], 2),
        told(&["--index", "http://example.org/"], 2),
        told(&["--version", "newest"], 2).lines().next().unwrap().to_owned(),
        told(&["--sha256", "abc"], 2).lines().next().unwrap().to_owned(),
    ];
    insta::assert_snapshot!(all.join("\n"), @r"
    error: could not open /nowhere/chrome.zip: No such file or directory (os error 2)

    error: expected a whole version such as 156.0.0.0 beside --from-file, found 156

    error: expected an address with https, or with http one of this machine such as http://127.0.0.1:8000/, found http://example.org/

    error: invalid value 'newest' for '--version <VERSION>': expected stable, beta, dev, canary, a number such as 156, or a whole version
    error: invalid value 'abc' for '--sha256 <HASH>': expected a SHA-256: 64 digits from 0 to f
    ");
}

#[test]
fn one_that_lacks_nothing_but_is_no_browser_is_not_installed() {
    let folder = Folder::new();
    let (_kept, zip) = zip_of("exit 1", 10);
    let told = stderr(&install(&folder, &zip).code(1), &folder.data());
    assert!(told.contains("nothing was installed"), "{told}");
    assert_eq!(listed(&folder, &["browser", "list"], "items"), None);
}

/// Waits for what a process writes into a file.
fn wait_for(path: &Path) -> String {
    let end = Instant::now() + LIMIT;
    loop {
        match std::fs::read_to_string(path) {
            Ok(text) if text.ends_with('\n') => return text,
            _ => assert!(Instant::now() < end, "expected {} within {LIMIT:?}", path.display()),
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn one_that_is_killed_in_the_middle_leaves_nothing_that_is_taken_for_a_browser() {
    let folder = Folder::new();
    let marks = tempfile::tempdir().unwrap();
    let (begun, done) = (marks.path().join("begun"), marks.path().join("done"));
    let script = format!(
        "[ -e {} ] && echo Chromium 156.0.1.2 && exit 0\necho $$ > {}\nexec sleep 60",
        done.display(),
        begun.display()
    );
    let (_kept, zip) = zip_of(&script, 10);
    let mut child = Command::new(env!("CARGO_BIN_EXE_baton"))
        .env("XDG_CACHE_HOME", cache(&folder))
        .args(["browser", "install", "--from-file"])
        .arg(&zip)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let asked: i32 = wait_for(&begun).trim().parse().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    kill_process(Pid::from_raw(asked).unwrap(), Signal::KILL).unwrap();
    let left = || std::fs::read_dir(cache(&folder).join("baton/browsers")).unwrap().count();
    assert_eq!(left(), 2, "expected the lock and what was unpacked");
    assert_eq!(listed(&folder, &["browser", "list"], "items"), None);

    std::fs::write(&done, "").unwrap();
    install(&folder, &zip).success();
    assert_eq!(left(), 2, "expected the lock and the browser");
    assert!(listed(&folder, &["browser", "list"], "items").is_some());
}

#[test]
fn a_disk_without_room_is_told_with_its_numbers() {
    let folder = Folder::new();
    let (_kept, zip) = zip_of("echo Chromium 156.0.1.2", 2 << 20);
    std::fs::create_dir_all(cache(&folder)).unwrap();
    let mount = "mount -t tmpfs -o size=1m,mode=700 tmpfs \"$1\" || exit 77; shift; exec \"$@\"";
    let run = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", mount, "sh"])
        .arg(cache(&folder))
        .arg(env!("CARGO_BIN_EXE_baton"))
        .env("XDG_CACHE_HOME", cache(&folder))
        .args(["browser", "install", "--from-file"])
        .arg(&zip)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let told = String::from_utf8(run.stderr).unwrap();
    match run.status.code() {
        Some(1) if told.starts_with("error: ") => {}
        _ => skip!("no disk could be mounted: {told}"),
    }
    insta::assert_snapshot!(self::told(&told, &folder), @r"
    error: expected 3 MiB free for the unpacked browser in CACHE/baton/browsers, found 1 MiB
      make room there, or name another cache in XDG_CACHE_HOME
    ");
}

/// Nothing leaves the machine: the proxy says no.
#[test]
fn the_proxy_of_the_machine_is_asked_for_the_published_index() {
    let folder = Folder::new();
    let proxy = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", proxy.local_addr().unwrap());
    let asked = std::thread::spawn(move || {
        let (connection, _) = proxy.accept().unwrap();
        let mut lines = BufReader::new(&connection).lines().map_while(Result::ok);
        let first = lines.next().unwrap();
        assert!(lines.any(|line| line.is_empty()));
        write!(&connection, "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n").unwrap();
        first
    });
    let cache = cache(&folder);
    let cache = cache.to_str().unwrap();
    let variables = [("HTTPS_PROXY", address.as_str()), ("XDG_CACHE_HOME", cache)];
    let run = folder.run_with(&["browser", "install"], &variables).code(1);
    assert_eq!(asked.join().unwrap(), "CONNECT googlechromelabs.github.io:443 HTTP/1.1");
    insta::assert_snapshot!(stderr(&run, &folder.data()), @r"
    error: expected an answer of googlechromelabs.github.io, found: tunnel error: unsuccessful
      HTTPS_PROXY names a proxy; for a machine without a network, load the ZIP of Chrome for Testing elsewhere and type: baton browser install --from-file ZIP
    ");
}
