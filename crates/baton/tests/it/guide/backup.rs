//! The guide to backups, typed as it stands: one session goes from folder to folder, to a PostgreSQL server
//! and back, and in each of them a resume brings back what its page has kept.

use super::{Guide, Reader};
use axum::Router;
use axum::response::Html;
use axum::routing::get;
use baton_playground::Site;
use std::path::Path;
use url::Url;

const GUIDE: &str = include_str!("../../../../../docs/guide/backup.md");

/// Resumes the session in a data folder, where its page finds what it kept, and closes it again.
async fn comes_back(reader: &Reader, data: &Path, shop: &Url) {
    let baton = format!("baton --data {}", data.display());
    reader.types(&format!("{baton} sessions resume shop"));
    let page = reader.page(data, "shop", shop.as_str()).await;
    let kept: String = page.evaluate("localStorage.cart").await.unwrap();
    assert_eq!(kept, "3", "in {}", data.display());
    reader.types(&format!("{baton} sessions close shop"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_comes_back_wherever_the_guide_takes_its_backup() {
    let page = get(async || Html("<title>shop</title>"));
    let site = Site::start(Router::new().route("/", page)).await.unwrap();
    let shop = site.url("/").unwrap();
    let mut guide = Guide::read(GUIDE);
    let mut reader = Reader::new();
    let (usb, srv) = (reader.folder("/media/usb"), reader.folder("/srv"));
    reader.set("BATON_BACKUP_PASSPHRASE", "four words that fit");
    reader.types(&format!("baton open {shop} --name shop"));
    let page = reader.page(&reader.data(), "shop", shop.as_str()).await;
    assert!(page.evaluate::<bool>("localStorage.cart = '3'; true").await.unwrap());

    // What the guide says of the profile of a browser that runs.
    let with_profiles = "baton backup --with-profiles /media/usb/running.backup";
    let (code, said) = reader.tries(with_profiles);
    assert!(code == Some(6) && said.contains("its browser runs"), "{said}");
    reader.follows(&guide.section("Make one"));
    assert!(usb.join("baton.backup").exists());

    reader.follows(&guide.section("Bring it back"));
    let folders: Vec<String> = std::fs::read_dir(&srv)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let is_known = |name: &String| name == "baton" || name.starts_with("baton.before-");
    assert!(folders.len() == 2 && folders.iter().all(is_known), "{folders:?}");
    comes_back(&reader, &srv.join("baton"), &shop).await;

    let server = baton_postgres::create_database().unwrap();
    reader.instead("postgres://baton@db/baton", &server);
    for step in guide.section("Moving to PostgreSQL") {
        if step.language == "console" {
            reader.follows(&[step]);
            continue;
        }
        let settings = srv.join("baton-2/baton.toml");
        std::fs::write(settings, reader.own(&step.text)).unwrap();
        comes_back(&reader, &srv.join("baton-2"), &shop).await;
    }
    assert!(!srv.join("baton-2/baton.db").exists(), "the server has the rows");
    comes_back(&reader, &srv.join("baton-3"), &shop).await;

    for folder in ["baton", "baton-2", "baton-3"] {
        reader.types(&format!("baton --data /srv/{folder} stop"));
    }
    assert!(reader.browsers().is_empty(), "no browser is left");
    guide.end();
}
