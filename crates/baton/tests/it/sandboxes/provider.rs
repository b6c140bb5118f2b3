//! A login that somebody else keeps: an app whose people come by npm's `oidc-provider` with its own forms. The app asks
//! it at each page, so whoever is signed in there is known to both.

use super::apps::{App, take_along};
use baton_playground::Page;
use baton_playground::tools::{Provider, ProviderSettings};
use baton_testing::rounds;
use serde_json::{Value, json};
use url::Url;

/// Signs in at the provider's form, and agrees to what the app is told.
async fn sign_in(page: &Page) {
    page.wait_for("document.getElementById('in') !== null").await.unwrap();
    page.evaluate::<Value>("document.getElementById('in').click()").await.unwrap();
    page.wait_for("document.querySelector('[name=login]') !== null").await.unwrap();
    let named = "document.querySelectorAll('input').forEach((input) => (input.id = input.name))";
    page.evaluate::<Value>(named).await.unwrap();
    page.type_into("login", "ada").await.unwrap();
    page.type_into("password", "whatever").await.unwrap();
    page.press_enter().await.unwrap();
    let agrees = "document.querySelector('button[autofocus]')";
    page.wait_for(&format!("{agrees}?.textContent === 'Continue'")).await.unwrap();
    page.evaluate::<Value>(&format!("{agrees}.click()")).await.unwrap();
    page.wait_for("document.title === 'ada'").await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_login_at_a_provider_comes_back_goes_into_a_sandbox_and_moves() {
    for _ in 0..rounds(1) {
        Box::pin(one_round()).await;
    }
}

/// With a provider and nodes of its own.
async fn one_round() {
    let Value::Object(people) = json!({ "ada": {} }) else { unreachable!() };
    let settings = ProviderSettings { app: true, people, ..ProviderSettings::default() };
    let provider = Provider::start(&settings).await.unwrap();
    let url = provider.app().unwrap();
    let issuer: Url = provider.issuer().parse().unwrap();
    let ports = [&url, &issuer].map(|url| url.port().unwrap()).to_vec();
    let app = App { url, ports, who: "ada" };
    take_along(&app, sign_in).await;
    // Once with a form and once more after that; all else was silent.
    assert_eq!(provider.asked("POST /interaction/").unwrap(), 2, "nobody signed in again");
    provider.clear().await.unwrap();
}
