//! The demo's website: a login form, and a page that only a signed-in browser gets to see.
//!
//! It is built to be lost. Its cookie is `HttpOnly` and ends with the browser, and right after the
//! login, *once*, the page stores three values that it makes up itself. A browser that only opened
//! the address again would see the form; one that only kept the cookie would see the page without
//! its values. What a visitor does there, and sees, stands below.

use anyhow::Result;
use axum::extract::{Form, State};
use axum::http::header::{COOKIE, SET_COOKIE};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{Html, IntoResponse as _, Redirect, Response};
use axum::routing::{get, post};
use axum::{Router, middleware};
use baton_playground::Page;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, Mutex, PoisonError};

/// Who signs in.
pub(super) const NAME: &str = "Ada";
/// What the form accepts.
pub(super) const PASSWORD: &str = "analytical engine";

const FORM: &str = include_str!("form.html");
const HOME: &str = include_str!("home.html");
const COOKIE_NAME: &str = "demo_session";

/// Who is signed in, by the value of the cookie.
#[derive(Clone, Default)]
struct SignedIn(Arc<Mutex<HashMap<String, Visitor>>>);

#[derive(Clone)]
struct Visitor {
    name: String,
    /// Whether the page was shown since the login: only the first one stores its values.
    welcomed: bool,
}

/// The pages of the site.
pub(super) fn pages() -> Router {
    Router::new()
        .route("/", get(home))
        .route("/login", post(login))
        .layer(middleware::map_response(without_cache))
        .with_state(SignedIn::default())
}

/// The page of a signed-in visitor, the form for all others.
async fn home(State(signed_in): State<SignedIn>, headers: HeaderMap) -> Response {
    let Some(visitor) = session_cookie(&headers).and_then(|cookie| signed_in.visit(cookie)) else {
        return Html(FORM.replace("{message}", "")).into_response();
    };
    let first = if visitor.welcomed { "no" } else { "yes" };
    Html(HOME.replace("{name}", &visitor.name).replace("{first}", first)).into_response()
}

/// What the form sends.
#[derive(serde::Deserialize)]
struct Login {
    name: String,
    password: String,
}

/// Signs in; the cookie names neither an end nor an age, so it lasts as long as the browser.
async fn login(State(signed_in): State<SignedIn>, Form(login): Form<Login>) -> Response {
    if login.name != NAME || login.password != PASSWORD {
        let form = FORM.replace("{message}", "Wrong name or password.");
        return (StatusCode::UNAUTHORIZED, Html(form)).into_response();
    }
    let cookie = signed_in.admit(login.name);
    let cookie = format!("{COOKIE_NAME}={cookie}; Path=/; HttpOnly; SameSite=Lax");
    ([(SET_COOKIE, cookie)], Redirect::to("/")).into_response()
}

impl SignedIn {
    /// Remembers a new visitor; answers the value of their cookie.
    fn admit(&self, name: String) -> String {
        // A hasher's random keys make a value that cannot be known beforehand.
        let cookie = format!("{:016x}", RandomState::new().hash_one(&name));
        let visitor = Visitor { name, welcomed: false };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(cookie.clone(), visitor);
        cookie
    }

    /// The visitor with this cookie, as they were before this visit.
    fn visit(&self, cookie: &str) -> Option<Visitor> {
        let mut visitors = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let visitor = visitors.get_mut(cookie)?;
        let before = visitor.clone();
        visitor.welcomed = true;
        Some(before)
    }
}

fn session_cookie(headers: &HeaderMap) -> Option<&str> {
    let pairs = headers.get(COOKIE)?.to_str().ok()?.split("; ");
    pairs
        .filter_map(|pair| pair.split_once('='))
        .find(|(name, _)| *name == COOKIE_NAME)
        .map(|pair| pair.1)
}

/// A page out of the browser's cache would prove nothing.
async fn without_cache(mut response: Response) -> Response {
    response.headers_mut().insert("cache-control", HeaderValue::from_static("no-store"));
    response
}

/// What the page shows to a signed-in visitor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SignedInPage {
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
pub(super) async fn read_page(page: &Page) -> Result<SignedInPage> {
    page.wait_for("document.documentElement.dataset.ready === 'yes'").await?;
    page.evaluate(COLLECT).await
}
