//! Browsers that are installed: from a stand-in of where they are published, and of ZIP files that are whole,
//! damaged or hostile. Whatever goes wrong, nothing is left that is taken for a browser.

mod hostile;
mod stand_in;

use baton_browser::install::{
    FileHash, InstallError, InstalledBrowser, Installer, PublishedBrowser, WantedVersion,
};
use baton_browser::launch::{self, BrowserChoice, BrowserKind, BrowserPlaces};
use stand_in::{StandIn, VERSION, Zip};
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A folder for browsers.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("baton/browsers")
    }

    async fn install(&self, from: &StandIn) -> Result<InstalledBrowser, InstallError> {
        self.install_version(from, "stable").await
    }

    async fn install_version(
        &self,
        from: &StandIn,
        version: &str,
    ) -> Result<InstalledBrowser, InstallError> {
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let version: WantedVersion = version.parse().unwrap();
        let wanted =
            PublishedBrowser { client: &client, index: &from.url, version: &version, sha256: None };
        Installer::open(&self.path()).unwrap().install(wanted, &|_| {}).await
    }

    async fn install_file(&self, zip: Vec<u8>) -> Result<InstalledBrowser, InstallError> {
        self.install_file_as(zip, None, None).await
    }

    async fn install_file_as(
        &self,
        zip: Vec<u8>,
        version: Option<&str>,
        sha256: Option<FileHash>,
    ) -> Result<InstalledBrowser, InstallError> {
        let path = self.0.path().join("browser.zip");
        std::fs::write(&path, zip).unwrap();
        let version = version.map(|version| version.parse().unwrap());
        let installer = Installer::open(&self.path()).unwrap();
        installer.install_file(&path, version, sha256, &|_| {}).await
    }

    /// What lies in the folder.
    fn left(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.path()).unwrap().map(|entry| entry.unwrap());
        let mut names: Vec<_> =
            entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// What the finder takes.
    fn found(&self) -> Option<PathBuf> {
        let cache = self.0.path().to_str().unwrap().to_owned();
        let places = BrowserPlaces::of(&BTreeMap::from([("XDG_CACHE_HOME".to_owned(), cache)]));
        let choice = BrowserChoice::Kind(BrowserKind::ChromeForTesting);
        launch::find_browser(Some(&choice), &places).ok()
    }
}

fn text(refused: Result<InstalledBrowser, InstallError>) -> String {
    refused.unwrap_err().to_string()
}

/// What may be there after a failure.
const NOTHING: [&str; 1] = [".lock"];

#[tokio::test]
async fn what_is_published_is_installed_found_and_not_loaded_twice() {
    let (folder, stand_in) = (Folder::new(), StandIn::start().await);
    let installed = folder.install(&stand_in).await.unwrap();
    assert!(!installed.was_there && installed.missing.is_none());
    assert_eq!(installed.version.to_string(), VERSION);
    assert_eq!(folder.found().as_ref(), Some(&installed.program));
    let version = launch::version(&installed.program).await.unwrap();
    assert_eq!(version, format!("Google Chrome for Testing {VERSION}"));
    let beside = installed.program.with_file_name("locales").join("en-US.pak");
    assert_eq!(std::fs::read(&beside).unwrap(), b"words");
    assert_eq!(std::fs::metadata(&beside).unwrap().permissions().mode() & 0o111, 0);
    assert_eq!(folder.left(), [".lock", "chrome-156.0.1.2"]);
    for version in ["stable", "156", VERSION] {
        assert!(folder.install_version(&stand_in, version).await.unwrap().was_there, "{version}");
    }
    assert_eq!(stand_in.with(|published| published.asked.clone()), ["whole"]);
}

#[tokio::test]
async fn a_download_that_is_cut_goes_on_in_the_middle() {
    let (folder, stand_in) = (Folder::new(), StandIn::start().await);
    stand_in.with(|published| published.cuts = [100_000, 50_000].into());
    folder.install(&stand_in).await.unwrap();
    let asked = stand_in.with(|published| published.asked.clone());
    assert_eq!(asked, ["whole", "bytes=100000-", "bytes=150000-"]);
}

#[tokio::test]
async fn one_that_is_cut_again_and_again_says_so_and_the_next_command_goes_on() {
    let (folder, stand_in) = (Folder::new(), StandIn::start().await);
    stand_in.with(|published| published.cuts = [150_000, 0, 0, 0].into());
    let told = text(folder.install(&stand_in).await).replace(stand_in.url.as_str(), "HERE/");
    let [first, hint] = told.lines().collect::<Vec<_>>()[..] else { panic!("{told}") };
    let cut = "found the connection cut after 147 KiB: ";
    assert!(first.starts_with("expected 294 KiB of HERE/chrome-linux64.zip, "), "{first}");
    assert!(first.contains(cut), "{first}");
    assert_eq!(hint, "type the same again: the download goes on from there");
    assert_eq!(folder.found(), None);
    stand_in.with(|published| published.asked.clear());
    folder.install(&stand_in).await.unwrap();
    assert_eq!(stand_in.with(|published| published.asked.clone()), ["bytes=150000-"]);
}

#[tokio::test]
async fn another_file_under_the_same_address_is_loaded_whole() {
    let (folder, stand_in) = (Folder::new(), StandIn::start().await);
    stand_in.with(|published| published.cuts = [150_000, 0, 0, 0].into());
    folder.install(&stand_in).await.unwrap_err();
    let other = Zip::of_browser(VERSION).file("chrome-linux64/ABOUT", 0o644, b"another").bytes();
    stand_in.with(|published| {
        published.asked.clear();
        published.file = other;
        published.etag = Some("\"two\"");
    });
    let installed = folder.install(&stand_in).await.unwrap();
    assert!(installed.program.with_file_name("ABOUT").exists());
    assert_eq!(stand_in.with(|published| published.asked.clone()), ["bytes=150000-"]);
}

#[tokio::test]
async fn without_a_validator_nothing_is_gone_on_with() {
    let (folder, stand_in) = (Folder::new(), StandIn::start().await);
    stand_in.with(|published| {
        published.cuts = [150_000].into();
        published.etag = None;
    });
    folder.install(&stand_in).await.unwrap();
    assert_eq!(stand_in.with(|published| published.asked.clone()), ["whole", "whole"]);

    let folder = Folder::new();
    stand_in.with(|published| published.cuts = [150_000, 0, 0, 0].into());
    let told = text(folder.install(&stand_in).await);
    assert!(told.ends_with("begins anew, for the server does not let it go on"), "{told}");
    assert_eq!(folder.left(), NOTHING);
}

#[tokio::test]
async fn the_rest_says_how_long_the_whole_is_where_chunks_did_not() {
    let (folder, stand_in) = (Folder::new(), StandIn::start().await);
    stand_in.with(|published| {
        published.in_chunks = true;
        published.cuts = [100_000, 50_000].into();
    });
    folder.install(&stand_in).await.unwrap();
    let asked = stand_in.with(|published| published.asked.clone());
    assert_eq!(asked, ["whole", "bytes=100000-", "bytes=150000-"]);
}

#[tokio::test]
async fn what_is_cut_at_the_same_place_again_and_again_ends() {
    let (folder, stand_in) = (Folder::new(), StandIn::start().await);
    stand_in.with(|published| {
        published.in_chunks = true;
        published.says_total = false;
        // As often as this: what went on for ever would load the whole in the end.
        published.cuts = vec![150_000; 12].into();
    });
    let told = text(folder.install(&stand_in).await);
    assert!(told.starts_with("expected all of http://127.0.0.1:"), "{told}");
    let asked = stand_in.with(|published| published.asked.clone());
    assert_eq!(asked, ["whole", "bytes=150000-", "whole", "bytes=150000-"]);
    assert_eq!(folder.found(), None);
}

#[tokio::test]
async fn a_wrong_checksum_installs_nothing_and_keeps_nothing() {
    let (folder, stand_in) = (Folder::new(), StandIn::start().await);
    for (hash, what) in [("crc32c=AAAAAA==", "CRC-32C"), ("md5=AAAA", "MD5")] {
        stand_in.with(|published| published.hash = Some(hash));
        let told = text(folder.install(&stand_in).await);
        assert!(told.starts_with(&format!("expected a file with the {what} AAAA")), "{told}");
        assert!(told.ends_with("type the same again to load it anew"), "{told}");
        assert_eq!(folder.left(), NOTHING);
    }
    let hash: FileHash = "0".repeat(64).parse().unwrap();
    let told =
        text(folder.install_file_as(Zip::of_browser(VERSION).bytes(), None, Some(hash)).await);
    assert!(told.starts_with("expected a file with the SHA-256 0000"), "{told}");
    assert_eq!(folder.left(), NOTHING);
}

#[tokio::test]
async fn what_the_index_has_not_is_told() {
    let (folder, stand_in) = (Folder::new(), StandIn::start().await);
    let mut told = Vec::new();
    for version in ["beta", "150", "156.0.1.3"] {
        told.push(text(folder.install_version(&stand_in, version).await));
    }
    stand_in.with(|published| published.version = "129.0.1.2");
    told.push(text(folder.install(&stand_in).await));
    stand_in.with(|published| {
        published.version = VERSION;
        published.elsewhere = Some("http://example.org/chrome-linux64.zip");
    });
    told.push(text(folder.install(&stand_in).await));
    let broken = StandIn { url: stand_in.url.join("broken/").unwrap(), ..StandIn::start().await };
    told.push(text(folder.install(&broken).await));
    let away = StandIn { url: stand_in.url.join("away/").unwrap(), ..StandIn::start().await };
    told.push(text(folder.install(&away).await));
    let told = told.join("\n").replace(stand_in.url.as_str(), "HERE/");
    insta::assert_snapshot!(told, @r#"
    expected version beta in the index of Chrome for Testing, found none for this machine
    baton browser install takes the stable one
    expected version 150 in the index of Chrome for Testing, found none for this machine
    baton browser install takes the stable one
    expected version 156.0.1.3 in the index of Chrome for Testing, found none for this machine
    baton browser install takes the stable one
    expected version 130 or newer, found 129.0.1.2: Baton does not work with older ones
    baton browser install takes the stable one
    expected an address with https, or with http one of this machine such as http://127.0.0.1:8000/, found http://example.org/chrome-linux64.zip
    expected an index of Chrome for Testing at HERE/broken/last-known-good-versions-with-downloads.json, found something else: invalid type: string "no index", expected a map at line 1 column 11
    expected HERE/away/last-known-good-versions-with-downloads.json to be there, found the answer 404
    a ZIP file that is here is installed with: baton browser install --from-file ZIP
    "#);
    assert_eq!(folder.left(), NOTHING);
}

#[tokio::test]
async fn where_nobody_answers_a_way_without_a_network_is_named() {
    let folder = Folder::new();
    let nobody = baton_testing::Nobody::listens();
    let url = format!("http://{}/", nobody.address()).parse().unwrap();
    let away = StandIn { url, ..StandIn::start().await };
    let told = text(folder.install(&away).await);
    assert!(told.starts_with("expected an answer of 127.0.0.1, found: "), "{told}");
    assert!(told.ends_with("baton browser install --from-file ZIP"), "{told}");
    assert_eq!(folder.left(), NOTHING);
}

#[tokio::test]
async fn a_file_says_itself_which_version_it_is() {
    let folder = Folder::new();
    let installed = folder.install_file(Zip::of_browser("157.0.1.2").bytes()).await.unwrap();
    assert_eq!(installed.version.to_string(), "157.0.1.2");
    assert!(folder.install_file(Zip::of_browser("157.0.1.2").bytes()).await.unwrap().was_there);
    let old = folder.install_file(Zip::of_browser("129.0.1.2").bytes()).await;
    let other =
        folder.install_file_as(Zip::of_browser(VERSION).bytes(), Some("156.0.1.3"), None).await;
    let mute = Zip::new().file("chrome-linux64/chrome", 0o755, b"#!/bin/sh\nexit 3\n").bytes();
    let mute = folder.install_file(mute).await;
    let else_ =
        Zip::new().file("chrome-linux64/chrome", 0o755, b"#!/bin/sh\necho a shell\n").bytes();
    let else_ = folder.install_file(else_).await;
    let told = [old, other, mute, else_].map(text).join("\n");
    insta::assert_snapshot!(without_programs(&told), @r#"
    expected version 130 or newer, found 129.0.1.2: Baton does not work with older ones
    baton browser install takes the stable one
    expected version 156.0.1.3, found a program that says Google Chrome for Testing 156.0.1.2
    nothing was installed
    expected a Chromium program at PROGRAM, found no version (exit status: 3)
    nothing was installed: it does not run here
    expected a ZIP with one folder and the program chrome in it, found a program that says "a shell"
    the one for this machine is called chrome-linux64.zip
    "#);
    assert_eq!(folder.left(), [".lock", "chrome-157.0.1.2"]);
    assert!(folder.found().unwrap().ends_with("chrome-157.0.1.2/chrome"));
}

/// A text without the folder that a browser was unpacked in, whose name is never the same.
fn without_programs(text: &str) -> String {
    let mut lines = Vec::new();
    for line in text.lines() {
        let words = line.split(' ').map(|word| {
            if Path::new(word.trim_end_matches(',')).is_absolute() { "PROGRAM," } else { word }
        });
        lines.push(words.collect::<Vec<_>>().join(" "));
    }
    lines.join("\n")
}

#[tokio::test]
async fn two_at_once_are_told_apart_and_what_one_left_is_removed() {
    let folder = Folder::new();
    let first = Installer::open(&folder.path()).unwrap();
    let left = folder.path().join(".unpacking-x");
    std::fs::create_dir(&left).unwrap();
    std::fs::write(left.join("chrome"), "half").unwrap();
    let second = Installer::open(&folder.path()).err().unwrap();
    assert!(matches!(second, InstallError::UnderWay(_)), "{second}");
    assert!(left.exists() && folder.found().is_none());
    drop(first);
    Installer::open(&folder.path()).unwrap();
    assert_eq!(folder.left(), NOTHING);
}

#[tokio::test]
async fn a_place_with_half_a_browser_is_filled_anew() {
    let folder = Folder::new();
    let place = folder.path().join(format!("chrome-{VERSION}"));
    std::fs::create_dir_all(place.join("locales")).unwrap();
    assert_eq!(folder.found(), None);
    folder.install_file(Zip::of_browser(VERSION).bytes()).await.unwrap();
    assert_eq!(folder.found(), Some(place.join("chrome")));
}

#[tokio::test]
async fn what_is_there_and_does_not_answer_is_installed_anew() {
    let (folder, stand_in) = (Folder::new(), StandIn::start().await);
    let program = folder.install(&stand_in).await.unwrap().program;
    let broken = ["", "#!/bin/sh\nexit 3\n", "#!/bin/sh\necho Google Chrome 156.0.1.3\n"];
    for broken in broken {
        std::fs::write(&program, broken).unwrap();
        assert!(!folder.install(&stand_in).await.unwrap().was_there, "{broken:?}");
        let version = launch::version(&program).await.unwrap();
        assert_eq!(version, format!("Google Chrome for Testing {VERSION}"));
    }
    std::fs::write(&program, "").unwrap();
    let installed = folder.install_file(Zip::of_browser(VERSION).bytes()).await.unwrap();
    assert!(!installed.was_there);
}
