//! What a visitor of the demo's site does and sees: fills the form, reads the page.

use anyhow::Result;
use baton_playground::Page;
use serde::{Deserialize, Serialize};

/// What the page shows to whoever is signed in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Shown {
    /// The heading, `Signed in as …`.
    pub(super) who: String,
    /// The value in localStorage.
    pub(super) local_storage: String,
    /// The value in sessionStorage.
    pub(super) session_storage: String,
    /// The text of the record in `IndexedDB`.
    pub(super) indexed_db: String,
}

/// Collects what the page shows.
const COLLECT: &str = "(() => {
    const text = (id) => document.getElementById(id).textContent;
    return {
        who: text('who'),
        local_storage: text('local'),
        session_storage: text('session'),
        indexed_db: text('indexed'),
    };
})()";

/// Fills the form and sends it.
pub(super) async fn sign_in(page: &Page, name: &str, password: &str) -> Result<()> {
    page.wait_for("document.getElementById('password') !== null").await?;
    page.type_into("name", name).await?;
    page.type_into("password", password).await?;
    page.press_enter().await
}

/// Waits until the page shows a signed-in visitor and all values; answers what it shows.
pub(super) async fn look(page: &Page) -> Result<Shown> {
    page.wait_for("document.documentElement.dataset.ready === 'yes'").await?;
    page.evaluate(COLLECT).await
}
