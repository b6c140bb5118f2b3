//! ZIP files that would write elsewhere, never end, or are not what they say: each is refused whole.

use super::stand_in::{VERSION, Zip};
use super::{Folder, NOTHING, text};

const SCRIPT: &[u8] = b"#!/bin/sh\necho Chromium 156.0.1.2\n";

fn browser() -> Zip {
    Zip::new().file("chrome-linux64/chrome", 0o755, SCRIPT)
}

#[tokio::test]
async fn what_would_lead_elsewhere_is_refused_whole() {
    let folder = Folder::new();
    let mut told = Vec::new();
    for zip in [
        browser().file("chrome-linux64/../../../escaped", 0o644, b"x").bytes(),
        browser().file("/tmp/escaped-from-a-zip", 0o644, b"x").bytes(),
        browser().file("chrome-linux64\\..\\escaped", 0o644, b"x").bytes(),
        browser().link("chrome-linux64/link", "/etc/passwd").bytes(),
        browser().file("other/chrome", 0o755, SCRIPT).bytes(),
        browser().file("beside", 0o644, b"x").bytes(),
        Zip::new().file("chrome-linux64/chrome", 0o644, SCRIPT).bytes(),
        Zip::new().file("chrome-win64/chrome.exe", 0o755, b"MZ").bytes(),
        Zip::new().bytes(),
    ] {
        told.push(text(folder.install_file(zip).await));
        assert_eq!(folder.left(), NOTHING, "{told:?}");
    }
    let first_lines = told.iter().map(|told| told.lines().next().unwrap());
    insta::assert_snapshot!(first_lines.collect::<Vec<_>>().join("\n"), @r#"
    expected files and folders in one folder, found "chrome-linux64/../../../escaped": its path leads elsewhere
    expected files and folders in one folder, found "/tmp/escaped-from-a-zip": its path leads elsewhere
    expected files and folders in one folder, found "chrome-linux64\\..\\escaped": its path leads elsewhere
    expected files and folders in one folder, found "chrome-linux64/link": it is a link, or no plain file
    expected a ZIP with one folder and the program chrome in it, found one with chrome-linux64, other at its top
    expected files and folders in one folder, found "beside": it lies in no folder
    expected a ZIP with one folder and the program chrome in it, found one with chrome-linux64 at its top
    expected a ZIP with one folder and the program chrome in it, found one with chrome-win64 at its top
    expected a ZIP with one folder and the program chrome in it, found an empty one
    "#);
    assert!(!folder.0.path().join("escaped").exists());
    assert!(!std::path::Path::new("/tmp/escaped-from-a-zip").exists());
}

/// Where a list of a ZIP begins (APPNOTE.TXT, section 4.3.12).
fn list(zip: &[u8]) -> usize {
    zip.windows(4).position(|four| four == b"PK\x01\x02").unwrap()
}

#[tokio::test]
async fn what_says_it_is_larger_or_smaller_than_it_may_be_is_refused() {
    let folder = Folder::new();
    let mut bomb = browser().file("chrome-linux64/bomb", 0o644, &[0; 5000]).bytes();
    let first = list(&bomb);
    let second = first + 46 + "chrome-linux64/chrome".len();
    let second = second + list(&bomb[second..]);
    // The uncompressed size stands at 24.
    bomb[second + 24..second + 28].copy_from_slice(&0xFFFF_FFFE_u32.to_le_bytes());
    let mut told = vec![text(folder.install_file(bomb.clone()).await)];
    bomb[second + 24..second + 28].copy_from_slice(&100_u32.to_le_bytes());
    told.push(text(folder.install_file(bomb).await));
    let mut many = browser();
    for number in 0..20_000 {
        many = many.file(&format!("chrome-linux64/{number}"), 0o644, b"");
    }
    told.push(text(folder.install_file(many.bytes()).await));
    let first_lines = told.iter().map(|told| told.lines().next().unwrap());
    insta::assert_snapshot!(first_lines.collect::<Vec<_>>().join("\n"), @r"
    expected a browser of at most 4096 MiB, found 4097 MiB: that is no browser
    expected a whole ZIP file, found: bomb is damaged (File is larger than its declared uncompressed size)
    expected a ZIP file of at most 20000 entries, found 20001: that is no browser
    ");
    assert_eq!(folder.left(), NOTHING);
}

#[tokio::test]
async fn what_is_damaged_is_refused() {
    let folder = Folder::new();
    let zip = Zip::of_browser(VERSION).bytes();
    let mut flipped = zip.clone();
    flipped[200_000] ^= 1;
    for damaged in [flipped, zip[..zip.len() / 2].to_vec(), b"no ZIP".to_vec(), Vec::new()] {
        let told = text(folder.install_file(damaged).await);
        assert!(told.starts_with("expected a whole ZIP file, found: "), "{told}");
        assert_eq!(folder.left(), NOTHING);
    }
}
