//! A file from elsewhere: what has come stays, and is gone on from where the same file is still there.
//!
//! The one idea: the part lies beside a note with the address and the validator (RFC 9110, section 8.8.1) of
//! what it is a part of. A request names the validator (`If-Range`), so a server that has another file by now
//! sends that one whole, and never the rest of it.

use super::InstallStep;
use super::checksums::Checksums;
use super::error::{Bytes, InstallError, cause};
use super::space::expect_free;
use reqwest::header::{CONTENT_RANGE, ETAG, IF_RANGE, RANGE};
use reqwest::{Response, StatusCode};
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::time::sleep;
use url::Url;

/// The largest file that is loaded, in bytes; that of a browser has some hundred megabytes.
pub(super) const FILE_LIMIT: u64 = 1 << 30;
/// How often in a row a connection may bring nothing new.
const FAILURES: u32 = 3;
/// How long it takes to the next attempt after one that brought nothing.
const PAUSE: Duration = Duration::from_secs(1);

/// What the part that lies here is a part of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct PartialDownload {
    url: Url,
    /// The strong validator of the file; without one nothing is gone on with.
    etag: Option<String>,
    /// How long the whole file is, where the server says it.
    length: Option<u64>,
    /// What the server says of its contents.
    #[serde(default)]
    checksums: Checksums,
}

/// A file that is being loaded.
pub(super) struct Download<'d> {
    client: &'d reqwest::Client,
    url: &'d Url,
    part: PathBuf,
    note: PathBuf,
    progress: &'d (dyn Fn(InstallStep) + Sync),
}

impl<'d> Download<'d> {
    /// The file at `url`, which will lie at `part`.
    pub(super) fn new(
        client: &'d reqwest::Client,
        url: &'d Url,
        part: PathBuf,
        progress: &'d (dyn Fn(InstallStep) + Sync),
    ) -> Self {
        let note = part.with_extension("note");
        Self { client, url, part, note, progress }
    }

    /// Loads what is not there yet, and checks the whole by what the server said of it.
    pub(super) async fn run(&self) -> Result<(), InstallError> {
        // A server that begins anew each time brings nothing new before it is past where it was cut before.
        let (mut failures, mut most) = (0, self.length());
        loop {
            match self.attempt().await {
                Ok(note) => return self.check(&note),
                Err(Attempt::Failed(error)) => return Err(error),
                Err(Attempt::Cut(why)) => {
                    failures = if self.length() > most { 0 } else { failures + 1 };
                    most = most.max(self.length());
                    if failures == FAILURES {
                        return Err(self.cut_off(why));
                    }
                    if failures > 0 {
                        sleep(PAUSE).await;
                    }
                }
            }
        }
    }

    /// Removes what has come.
    pub(super) fn discard(&self) -> Result<(), InstallError> {
        for path in [&self.part, &self.note] {
            match fs::remove_file(path) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(InstallError::file("remove", path)(error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// One request. It may be cut off, and then there may be more than before.
    async fn attempt(&self) -> Result<PartialDownload, Attempt> {
        let kept = self.kept()?;
        let mut request = self.client.get(self.url.clone());
        if let Some((note, length)) = &kept {
            if note.length == Some(*length) {
                return Ok(note.clone());
            }
            if let Some(etag) = &note.etag {
                request = request.header(RANGE, format!("bytes={length}-")).header(IF_RANGE, etag);
            }
        }
        let response = request.send().await.map_err(|error| match &kept {
            // With nothing here yet, there is nothing to go on with either.
            None => InstallError::unreachable(self.url, error).into(),
            Some(_) => Attempt::Cut(cause(error)),
        })?;
        let whole =
            kept.as_ref().and_then(|(note, length)| length_by_rest(&response, note, *length));
        match (response.status(), kept, whole) {
            (StatusCode::PARTIAL_CONTENT, Some((mut note, length)), Some(whole)) => {
                // A whole answer in chunks does not say how long it is; the rest of it does.
                if note.length.replace(whole).is_none() {
                    self.write_note(&note)?;
                }
                self.receive(response, note, length).await
            }
            (StatusCode::OK, ..) => {
                self.discard()?;
                let note = self.note_of(&response)?;
                self.receive(response, note, 0).await
            }
            (StatusCode::PARTIAL_CONTENT | StatusCode::RANGE_NOT_SATISFIABLE, Some(_), _) => {
                self.discard()?;
                let why = "the server has another file by now, or does not say which part it sends";
                Err(Attempt::Cut(why.to_owned()))
            }
            (status, ..) if status.is_server_error() && self.length() > 0 => {
                Err(Attempt::Cut(format!("the answer {status}")))
            }
            (status, ..) => {
                let (url, status) = (self.url.clone(), status.as_u16());
                Err(InstallError::Answer { url, status }.into())
            }
        }
    }

    /// What lies here of the same file, and how much.
    fn kept(&self) -> Result<Option<(PartialDownload, u64)>, InstallError> {
        let note = fs::read(&self.note).ok();
        let note = note.and_then(|bytes| serde_json::from_slice::<PartialDownload>(&bytes).ok());
        match (note, self.length()) {
            (Some(note), length) if note.url == *self.url && note.etag.is_some() && length > 0 => {
                Ok(Some((note, length)))
            }
            _ => {
                self.discard()?;
                Ok(None)
            }
        }
    }

    fn length(&self) -> u64 {
        fs::metadata(&self.part).map_or(0, |found| found.len())
    }

    /// Notes what a whole answer is of, before anything of it is written.
    fn note_of(&self, response: &Response) -> Result<PartialDownload, InstallError> {
        let etag = response.headers().get(ETAG).and_then(|value| value.to_str().ok());
        let note = PartialDownload {
            url: self.url.clone(),
            etag: etag.filter(|etag| !etag.starts_with("W/")).map(ToOwned::to_owned),
            length: response.content_length(),
            checksums: Checksums::of(response.headers()),
        };
        self.write_note(&note)?;
        Ok(note)
    }

    fn write_note(&self, note: &PartialDownload) -> Result<(), InstallError> {
        let text = serde_json::to_vec(note)
            .map_err(|error| InstallError::file("write", &self.note)(error.into()))?;
        private(&self.note, true)
            .and_then(|mut file| file.write_all(&text))
            .map_err(InstallError::file("write", &self.note))
    }

    /// Writes an answer behind what is there.
    async fn receive(
        &self,
        mut response: Response,
        note: PartialDownload,
        from: u64,
    ) -> Result<PartialDownload, Attempt> {
        let folder = self.part.parent().unwrap_or(Path::new("/"));
        let whole = note.length.unwrap_or_default();
        expect_small(whole)?;
        expect_free("the download", whole.saturating_sub(from), folder)?;
        let write = |what| InstallError::file(what, &self.part);
        let mut file = private(&self.part, from == 0).map_err(write("open"))?;
        let mut done = from;
        (self.progress)(InstallStep::Downloading { done, total: note.length });
        let ended = loop {
            match response.chunk().await {
                Ok(Some(chunk)) => {
                    done += chunk.len() as u64;
                    expect_small(done)?;
                    file.write_all(&chunk).map_err(|error| self.not_written(error, &note, done))?;
                    (self.progress)(InstallStep::Downloading { done, total: note.length });
                }
                Ok(None) => break None,
                Err(error) => break Some(cause(error)),
            }
        };
        file.sync_data().map_err(write("write"))?;
        match ended {
            Some(why) => Err(Attempt::Cut(why)),
            None => Ok(note),
        }
    }

    /// A disk that became full meanwhile is told with its numbers.
    fn not_written(
        &self,
        error: std::io::Error,
        note: &PartialDownload,
        done: u64,
    ) -> InstallError {
        let folder = self.part.parent().unwrap_or(Path::new("/"));
        let left = note.length.unwrap_or_default().saturating_sub(done);
        let is_full = matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded);
        match expect_free("the download", left.max(1), folder) {
            Err(full) if is_full => full,
            _ => InstallError::file("write", &self.part)(error),
        }
    }

    /// That what has come is what the server said that it is.
    fn check(&self, note: &PartialDownload) -> Result<(), InstallError> {
        (self.progress)(InstallStep::Checking);
        let mut file = File::open(&self.part).map_err(InstallError::file("read", &self.part))?;
        let length = self.length();
        let checked = match note.length {
            Some(expected) if expected != length => {
                let [expected, found] = [expected, length].map(|length| length.to_string());
                Err(InstallError::Damaged { what: "length", expected, found })
            }
            _ => note.checksums.check(&mut file, &self.part),
        };
        if checked.is_err() {
            self.discard()?;
        }
        checked
    }

    fn cut_off(&self, why: String) -> InstallError {
        let done = Bytes(self.length());
        let kept = self.kept().ok().flatten();
        let total = match &kept {
            Some((PartialDownload { length: Some(length), .. }, _)) => Bytes(*length).to_string(),
            _ => "all".to_owned(),
        };
        InstallError::CutOff {
            url: self.url.to_string(),
            done,
            total,
            goes_on: kept.is_some(),
            why,
        }
    }
}

/// How a request ended that did not bring the end of the file.
enum Attempt {
    /// The connection was cut: another one may bring more.
    Cut(String),
    /// No other one would bring more.
    Failed(InstallError),
}

impl From<InstallError> for Attempt {
    fn from(error: InstallError) -> Self {
        Self::Failed(error)
    }
}

/// How long the whole file is, where an answer is the rest of the one of which a part is here (RFC 9110, section
/// 14.4).
fn length_by_rest(response: &Response, note: &PartialDownload, length: u64) -> Option<u64> {
    let range = response.headers().get(CONTENT_RANGE)?.to_str().ok()?;
    let (part, whole) = range.strip_prefix("bytes ")?.split_once('/')?;
    let (first, last) = part.split_once('-')?;
    let number = |text: &str| text.parse::<u64>().ok();
    let (first, last, whole) = (number(first)?, number(last)?, number(whole)?);
    let is_rest = first == length
        && last.checked_add(1) == Some(whole)
        && note.length.is_none_or(|known| known == whole);
    is_rest.then_some(whole)
}

fn expect_small(length: u64) -> Result<(), InstallError> {
    if length <= FILE_LIMIT {
        return Ok(());
    }
    let (most, found) = (Bytes(FILE_LIMIT).to_string(), Bytes(length).to_string());
    Err(InstallError::TooLarge { what: "a file", most, found })
}

/// A file for its user's eyes only, to write from the start or behind what is there.
fn private(path: &Path, from_start: bool) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).mode(0o600);
    if from_start {
        options.write(true).truncate(true);
    } else {
        options.append(true);
    }
    options.open(path)
}
