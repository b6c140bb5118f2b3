//! What of CDP is not for clients: the files of the machine, the browser's own pages, and methods that
//! lead out of the browser.
//!
//! The rules of the kernel hold whatever is said here. Here it is said in words, and what cannot be a file of
//! the session is not asked for at all. Browsers without rules keep what they had: the person who chose that
//! wants their files.
//!
//! Of files it says which ones a client may name to a confined browser. The kernel decides what the
//! browser reads; this says it in words before the browser is asked, for a file that it may not read
//! comes to a page empty, without an error. It is the one thing here that looks at a disk, and it looks
//! only below the folders that the browser sees.

use crate::keeper::mux;
use crate::launch::{Folder, LaunchOptions};
use baton_session::SessionId;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::path::{Component, Path, PathBuf};
use url::Url;

/// Methods that lead out of the browser, or past us; a name that ends with a dot is a whole domain.
const REFUSED: &[(&str, &str)] = &[
    ("Browser.crash", "it ends the session's browser; `baton sessions close` does so gently"),
    ("Browser.executeBrowserCommand", "it acts on the browser itself, not on a page"),
    ("Cast.", "it sends what a page shows to devices of the network"),
    ("Extensions.loadUnpacked", "it loads a program from a folder of this machine"),
    ("Extensions.uninstall", "it takes extensions from the session"),
    ("PWA.", "it installs programs on this machine and starts them"),
    ("Target.exposeDevToolsProtocol", "it gives pages the rights of whoever drives the browser"),
    ("Target.sendMessageToTarget", "it hides calls in a text; attach with `flatten: true`"),
    ("Target.setRemoteLocations", "it connects the browser to debuggers elsewhere"),
    ("Tethering.", "it opens ports of this machine"),
];

/// Methods whose parameter `url` the browser goes to.
const GOES_TO: &[&str] = &[
    "Fetch.continueRequest",
    "Network.loadNetworkResource",
    "Page.navigate",
    "Target.createTarget",
];

/// Methods that name a folder for downloads, and methods that name files for a page.
const DOWNLOADS: &[&str] = &["Browser.setDownloadBehavior", "Page.setDownloadBehavior"];
const UPLOADS: &[&str] = &["DOM.setFileInputFiles"];
const DRAGS: &str = "Input.dispatchDragEvent";

/// What becomes of a client's call.
pub(super) enum Verdict<'a> {
    /// It goes on, with these parameters.
    Passes(Cow<'a, str>),
    /// It does not; the client hears this.
    Refused(String),
}

/// Looks at a call of a client. `files` are the browser's, if it is confined.
pub(super) fn judge<'a>(
    method: &str,
    params: Option<&'a RawValue>,
    files: Option<&BrowserFolders>,
) -> Verdict<'a> {
    let text = Verdict::Passes(mux::given(params));
    let refused = REFUSED.iter().find(|(name, _)| match name.strip_suffix('.') {
        Some(domain) => method.split_once('.').is_some_and(|(found, _)| found == domain),
        None => method == *name,
    });
    if let Some((_, why)) = refused {
        return Verdict::Refused(format!("{method} is not for clients: {why}"));
    }
    let guarded = GOES_TO.contains(&method)
        || DOWNLOADS.contains(&method)
        || UPLOADS.contains(&method)
        || method == DRAGS;
    let (true, Some(params)) = (guarded, params) else { return text };
    // What cannot be read as an object the browser refuses itself. What can goes on as it was read
    // here, so that of two fields with one name the browser sees the one that was looked at.
    let Ok(mut params) = serde_json::from_str::<Map<String, Value>>(params.get()) else {
        return text;
    };
    let looked = if GOES_TO.contains(&method) {
        params.get_mut("url").map_or(Ok(()), |url| lead_to(url, files))
    } else if DOWNLOADS.contains(&method) {
        lead(&mut params, files);
        Ok(())
    } else {
        let named = if method == DRAGS {
            params.get_mut("data").and_then(|data| data.get_mut("files"))
        } else {
            params.get_mut("files")
        };
        uploads(named, files)
    };
    match looked {
        Ok(()) => Verdict::Passes(Cow::Owned(Value::from(params).to_string())),
        Err(why) => Verdict::Refused(why),
    }
}

/// A folder for downloads that the browser may not write to becomes the session's own.
fn lead(params: &mut Map<String, Value>, files: Option<&BrowserFolders>) {
    let Some((files, folder)) = files.zip(params.get_mut("downloadPath")) else { return };
    let wanted = folder.as_str().and_then(|path| files.writable(Path::new(path)));
    *folder = wanted.unwrap_or_else(|| files.own().to_owned()).to_string_lossy().into();
}

/// Each file that is named becomes where it really is: the browser may not see the links that lead there.
fn uploads(named: Option<&mut Value>, files: Option<&BrowserFolders>) -> Result<(), String> {
    let (Some(files), Some(Value::Array(named))) = (files, named) else { return Ok(()) };
    for named in named {
        if let Some(path) = named.as_str() {
            *named = files.readable(Path::new(path))?.to_string_lossy().into();
        }
    }
    Ok(())
}

/// Where a client sends the browser. From the page of a new tab, which is the browser's own, a script goes on to all
/// others of these: an empty page takes its place.
fn lead_to(url: &mut Value, files: Option<&BrowserFolders>) -> Result<(), String> {
    let Some(text) = url.as_str() else { return Ok(()) };
    address(text, files)?;
    let text = as_browsers_read(text);
    if text.split_once(':').is_some_and(|(scheme, _)| scheme.eq_ignore_ascii_case("chrome")) {
        *url = "about:blank".into();
    }
    Ok(())
}

/// An address without what browsers leave out of it (<https://url.spec.whatwg.org>, section 4.4).
fn as_browsers_read(text: &str) -> String {
    let text = text.trim_matches(|c: char| c <= ' ');
    text.chars().filter(|c| !matches!(c, '\t' | '\n' | '\r')).collect()
}

/// Whether a client may send the browser to this address.
fn address(text: &str, files: Option<&BrowserFolders>) -> Result<(), String> {
    let text = as_browsers_read(text);
    let Some((scheme, rest)) = text.split_once(':') else { return Ok(()) };
    let scheme = scheme.to_ascii_lowercase();
    let page = rest.split(['?', '#']).next().unwrap_or_default();
    let refused = |what: &str| {
        let shown: String = page.chars().take(200).collect();
        Err(format!("expected an address of the web, found {what}: {scheme}:{shown}"))
    };
    match scheme.as_str() {
        "http" | "https" | "ws" | "wss" | "data" | "javascript" | "chrome-error"
        | "chrome-extension" => Ok(()),
        "about" if matches!(page.to_ascii_lowercase().as_str(), "blank" | "srcdoc") => Ok(()),
        "chrome" if is_new_tab(page) => Ok(()),
        "blob" | "filesystem" | "view-source" => address(rest, files),
        "file" => match files {
            None => Ok(()),
            Some(files) => {
                let path = Url::parse(&text).ok().and_then(|url| url.to_file_path().ok());
                let none = || "expected the address of a file of this machine".to_owned();
                files.readable(&path.ok_or_else(none)?).map(drop)
            }
        },
        "about" | "chrome" | "chrome-search" | "chrome-untrusted" | "devtools" => {
            refused("a page of the browser's own")
        }
        _ => refused("what other programs open"),
    }
}

fn is_new_tab(page: &str) -> bool {
    let page = page.trim_matches('/').to_ascii_lowercase();
    matches!(page.as_str(), "newtab" | "new-tab-page" | "new-tab-page-third-party")
}

/// The folders of one browser.
#[derive(Debug, Clone)]
pub(in crate::keeper) struct BrowserFolders {
    session: SessionId,
    /// The session's own files.
    own: PathBuf,
    folders: Vec<Folder>,
}

impl BrowserFolders {
    /// Those of the browser that `options` started.
    pub(in crate::keeper) fn of(session: SessionId, options: &LaunchOptions) -> Self {
        Self { session, own: options.files.clone(), folders: options.folders.clone() }
    }

    /// The session's own files.
    pub(super) fn own(&self) -> &Path {
        &self.own
    }

    /// Where a file or folder really is that the browser reads; else what to tell the client.
    pub(super) fn readable(&self, path: &Path) -> Result<PathBuf, String> {
        self.below(path, self.folders.iter()).ok_or_else(|| self.refusal(path))
    }

    /// Where a folder really is to which the browser writes.
    pub(super) fn writable(&self, path: &Path) -> Option<PathBuf> {
        self.below(path, self.folders.iter().filter(|folder| folder.writable))
    }

    /// Where `path` leads, over whatever links, if that is into one of `folders` or the session's own.
    fn below<'a>(&self, path: &Path, folders: impl Iterator<Item = &'a Folder>) -> Option<PathBuf> {
        let folders: Vec<&Path> =
            folders.map(|folder| folder.path.as_path()).chain([self.own.as_path()]).collect();
        let plain =
            path.is_absolute() && !path.components().any(|part| part == Component::ParentDir);
        // Nothing else is looked at: whether other files exist is no client's business. The folder of all
        // sessions' files is, because tools have links there that lead to those of one.
        let mut places = folders.iter().copied().chain(self.own.parent());
        if !plain || !places.any(|place| path.starts_with(place)) {
            return None;
        }
        let real = path.canonicalize().ok()?;
        let mut real_folders = folders.iter().filter_map(|folder| folder.canonicalize().ok());
        real_folders.any(|folder| real.starts_with(folder)).then_some(real)
    }

    fn refusal(&self, path: &Path) -> String {
        format!(
            "expected a file that the browser of session {id} may read, found {path}: `baton sessions \
             files put {id} {path}` takes it there and says by which path",
            id = self.session,
            path = path.display(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn clients_go_to_the_web_and_nowhere_else() {
        let files = None;
        for open in [
            "https://shop.test/",
            "about:blank",
            "about:blank#a",
            "data:text/html,a",
            "chrome://newtab/",
            "chrome-extension://abc/page.html",
            "blob:https://shop.test/1",
            "view-source:https://shop.test/",
            "no address",
            "",
        ] {
            address(open, files).unwrap();
        }
        for closed in [
            "chrome://settings/",
            " CHROME://version",
            "ch\trome://version",
            "about:version",
            "view-source:chrome://version",
            "devtools://devtools/bundled/inspector.html",
            "chrome-untrusted://print/",
            "mailto:a@b.test",
            "blob:chrome://settings/1",
        ] {
            address(closed, files).unwrap_err();
        }
    }

    #[test]
    fn who_asks_for_a_new_tab_gets_an_empty_one() {
        for (asked, passed) in [
            ("chrome://newtab/", r#"{"url":"about:blank"}"#),
            (" Chrome://new-tab-page", r#"{"url":"about:blank"}"#),
            ("ch\\trome://newtab", r#"{"url":"about:blank"}"#),
            ("https://shop.test/", r#"{"url":"https://shop.test/"}"#),
            ("", r#"{"url":""}"#),
        ] {
            let params = RawValue::from_string(format!(r#"{{"url":"{asked}"}}"#)).unwrap();
            let Verdict::Passes(text) = judge("Target.createTarget", Some(&params), None) else {
                panic!("{asked} is refused");
            };
            assert_eq!(text, passed, "{asked}");
        }
    }

    #[test]
    fn a_whole_domain_is_refused_by_its_name_alone() {
        let refused = |method| matches!(judge(method, None, None), Verdict::Refused(_));
        assert!(refused("PWA.install") && refused("Tethering.bind") && refused("Browser.crash"));
        assert!(!refused("Browser.getVersion") && !refused("PWAs.install") && !refused("PWA"));
    }

    #[test]
    fn what_is_below_a_folder_is_readable_whatever_its_name_says() {
        let machine = tempfile::tempdir().unwrap();
        let own = machine.path().join("own");
        let shown = machine.path().join("shown");
        for folder in [&own, &shown] {
            fs::create_dir(folder).unwrap();
            fs::write(folder.join("a"), "a").unwrap();
        }
        fs::write(machine.path().join("secret"), "s").unwrap();
        symlink(machine.path().join("secret"), own.join("link")).unwrap();
        let options = LaunchOptions {
            files: own.clone(),
            folders: vec![Folder { path: shown.clone(), writable: false }],
            ..LaunchOptions::new("/usr/bin/chromium".into(), machine.path().join("profile"))
        };
        let files =
            BrowserFolders::of(SessionId::new(jiff::Timestamp::UNIX_EPOCH, [7; 10]), &options);
        for readable in [own.join("a"), shown.join("a"), own.clone(), own.join("./a")] {
            files.readable(&readable).unwrap();
        }
        for not in [own.join("link"), own.join("../secret"), own.join("none"), "a".into()] {
            files.readable(&not).unwrap_err();
        }
        let told = files.readable("/etc/passwd".as_ref()).unwrap_err();
        insta::assert_snapshot!(told, @"expected a file that the browser of session 00000000-0000-7707-8707-070707070707 may read, found /etc/passwd: `baton sessions files put 00000000-0000-7707-8707-070707070707 /etc/passwd` takes it there and says by which path");
        assert_eq!(files.writable(&own), own.canonicalize().ok());
        assert_eq!(files.writable(&shown), None);
        // As a tool's folder for what is there for a moment is.
        symlink(&own, machine.path().join("of-a-tool")).unwrap();
        assert!(files.readable(&machine.path().join("of-a-tool/a")).is_ok());
    }
}
