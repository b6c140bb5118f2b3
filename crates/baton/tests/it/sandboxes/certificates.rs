//! Whom a session trusts is trusted by an agent's browser in its sandbox, and by that of no other one.

use super::agent::tools;
use super::scene::{Scene, reference};
use crate::certificates::{file, pages};
use crate::test_nodes::build;
use crate::tls_site::{Authority, TlsSite};
use crate::two_nodes::baton;
use baton_api::sandbox::CreateSandbox;
use baton_playground::tools::Npm;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agents_browser_trusts_whom_its_session_trusts() {
    let npm = Npm::install().await.unwrap();
    let authority = Authority::new("Staging CA");
    // Sandboxes know this machine as `host`.
    let site = TlsSite::start(authority.sign(&["shop.localhost", "host"]), pages()).await;
    let port = site.port();
    let settings = format!("[sandboxes]\nnetwork = \"listed\"\nallow = [\"host:{port}\"]\n");
    let scene = Scene::set_in(build(), &(settings + &tools(&npm))).await;
    let ca = file(&scene.test_node, "ca.pem", &authority.pem);
    let ca = ["--ca", ca.to_str().unwrap()];
    // Another site gives a cookie: a session without any login is handed to nobody.
    let (url, other) = (site.url("shop.localhost", "/"), scene.site.url("/").unwrap());
    let urls = [url.as_str(), other.as_str()];
    for (name, more, seen) in [("trusting", &ca[..], true), ("plain", &[], false)] {
        baton(&scene.test_node, &[&["open", "--name", name], &urls[..], more].concat()).success();
        baton(&scene.test_node, &["sessions", "close", name]).success();
        let request = CreateSandbox {
            flavor: Some("tools".to_owned()),
            browser_session: Some(reference(name)),
            ..CreateSandbox::default()
        };
        let sandbox = scene.client().create_sandbox(&request).await.unwrap();
        let done =
            scene.sh(&sandbox, &format!("$AB open https://host:{port}/; $AB get title")).await;
        let says = format!("{}{}", done.output, done.errors);
        assert_eq!(says.contains("nobody"), seen, "{name}: {says}");
        assert_eq!(says.contains("ERR_CERT_AUTHORITY_INVALID"), !seen, "{name}: {says}");
        scene.end(&sandbox).await;
    }
    scene.strike().await;
}
