//! A story in JavaScript, which Playwright tells in a real Chromium, line by line: what it saw, and what it asks of the
//! test.

#![expect(clippy::print_stdout, reason = "a long story says how it goes")]

use baton_browser::launch;
use baton_playground::tools::Npm;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::time::timeout;

/// What is told, and to whom.
pub(crate) struct Story<'a> {
    /// Its text.
    pub(crate) text: &'a str,
    /// The variables that it knows, beside Baton's program and a browser.
    pub(crate) variables: &'a [(&'a str, &'a OsStr)],
    /// Where its pictures go; none where it makes none.
    pub(crate) shots: Option<PathBuf>,
    /// How long all of it may take.
    pub(crate) limit: Duration,
}

/// Where whoever wants to look at the pictures of stories has them put, if anybody does.
pub(crate) fn wanted_shots() -> Option<PathBuf> {
    std::env::var_os("BATON_PAGE_SHOTS").map(PathBuf::from)
}

/// The pictures that are in the guide are made by stories, when `BATON_UPDATE_DOCS` is set: those that a story left, and
/// how they are called below the guide.
pub(crate) fn keep_pictures(shots: &Path, pictures: &[(&str, &str)]) {
    let made: Vec<_> = pictures.iter().map(|(from, to)| (shots.join(from), to)).collect();
    assert!(made.iter().any(|(from, _)| from.is_file()), "the story has made a picture");
    if std::env::var_os("BATON_UPDATE_DOCS").is_some() {
        let guide = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide"));
        for (from, to) in made.iter().filter(|(from, _)| from.is_file()) {
            std::fs::copy(from, guide.join(to)).unwrap();
        }
    }
}

/// Tells a story; `answer` does what it asks for. What it saw, a line each.
pub(crate) async fn tell(story: Story<'_>, mut answer: impl AsyncFnMut(&str) -> String) -> String {
    let room = Npm::install().await.unwrap().room().unwrap();
    let path = room.path().join("story.mjs");
    std::fs::write(&path, story.text).unwrap();
    std::fs::write(room.path().join("visitor.mjs"), include_str!("page/visitor.mjs")).unwrap();
    let on_path = std::env::var_os("PATH");
    let places = launch::BrowserPlaces::on_path(on_path.as_deref());
    let mut command = room.command("node").unwrap();
    command
        .arg(&path)
        .env("BATON", env!("CARGO_BIN_EXE_baton"))
        .env("CHROMIUM", launch::find_browser(None, &places).unwrap())
        .envs(story.variables.iter().copied())
        .envs(story.shots.as_deref().map(|shots: &Path| ("SHOTS", shots)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    let mut process = command.spawn().unwrap();
    let mut answers = process.stdin.take().unwrap();
    let mut said = BufReader::new(process.stdout.take().unwrap()).lines();
    let mut complaints = String::new();
    let mut complained = process.stderr.take().unwrap();
    let mut seen = Vec::new();
    let told = async {
        while let Some(line) = said.next_line().await.unwrap() {
            println!("{line}");
            if let Some(what) = line.strip_prefix("ask: ") {
                let answer = answer(what).await;
                answers.write_all(format!("{answer}\n").as_bytes()).await.unwrap();
            } else if let Some(what) = line.strip_prefix("saw: ") {
                seen.push(what.to_owned());
            }
        }
        process.wait().await.unwrap()
    };
    let complaining = complained.read_to_string(&mut complaints);
    let both = timeout(story.limit, async { tokio::join!(told, complaining) }).await;
    let (end, heard) = both.unwrap_or_else(|_| panic!("the story hangs after {seen:#?}"));
    heard.unwrap();
    assert!(end.success(), "the story ended after {seen:#?}\n{complaints}");
    room.clear().await.unwrap();
    seen.join("\n")
}
