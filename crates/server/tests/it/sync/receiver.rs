//! Somebody who is told: checks every signature by the standard, and answers as a test wants it.

use crate::fixture::until;
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header::LOCATION};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, post};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::Value;
use sha2::Sha256;
use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;
use url::Url;

/// What it shares with the node.
pub(super) const KEY: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

#[derive(Default)]
struct Received {
    /// How it answers next; 0 means not at all.
    answers: VecDeque<u16>,
    ids: BTreeSet<String>,
    asked: usize,
    elsewhere: usize,
    taken: Vec<Value>,
}

/// A receiver at loopback.
pub(super) struct Receiver {
    pub(super) url: Url,
    seen: Arc<Mutex<Received>>,
}

impl Receiver {
    /// It answers with these first, then takes everything.
    pub(super) async fn start(answers: impl IntoIterator<Item = u16>) -> Self {
        let answers = answers.into_iter().collect();
        let seen = Arc::new(Mutex::new(Received { answers, ..Received::default() }));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let elsewhere = async |State(seen): State<Arc<Mutex<Received>>>| {
            seen.lock().unwrap().elsewhere += 1;
        };
        let router = Router::new()
            .route("/hook", post(hear))
            .route("/elsewhere", any(elsewhere))
            .with_state(seen.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url: format!("http://localhost:{port}/hook").parse().unwrap(), seen }
    }

    /// Waits until it has taken as many messages.
    pub(super) async fn taken(&self, count: usize) -> Vec<Value> {
        let taken = || self.seen.lock().unwrap().taken.clone();
        let taken =
            until("it is told", || async { Some(taken()).filter(|it| it.len() >= count) }).await;
        assert_eq!(taken.len(), count, "{taken:?}");
        taken
    }

    /// How often it was asked.
    pub(super) fn asked(&self) -> usize {
        self.seen.lock().unwrap().asked
    }

    /// How often somebody came to where it sent them.
    pub(super) fn elsewhere(&self) -> usize {
        self.seen.lock().unwrap().elsewhere
    }

    /// The ids of all messages.
    pub(super) fn ids(&self) -> BTreeSet<String> {
        self.seen.lock().unwrap().ids.clone()
    }
}

async fn hear(
    State(seen): State<Arc<Mutex<Received>>>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let message: Value = serde_json::from_slice(&body).unwrap();
    let answer = {
        let mut seen = seen.lock().unwrap();
        seen.asked += 1;
        seen.ids.insert(message["id"].as_str().unwrap().to_owned());
        match seen.answers.pop_front() {
            None if is_signed(&headers, &body) && message["id"] == text(&headers, "webhook-id") => {
                seen.taken.push(message);
                204
            }
            None => 401,
            Some(answer) => answer,
        }
    };
    if answer == 0 {
        std::future::pending::<()>().await;
    }
    (StatusCode::from_u16(answer).unwrap(), [(LOCATION, "/elsewhere")]).into_response()
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    headers[name].to_str().unwrap()
}

/// Whether it was signed with the key, in the last minute.
fn is_signed(headers: &HeaderMap, body: &[u8]) -> bool {
    let (id, at) = (text(headers, "webhook-id"), text(headers, "webhook-timestamp"));
    let age = jiff::Timestamp::now().as_second() - at.parse::<i64>().unwrap();
    let key = STANDARD.decode(&KEY[6..]).unwrap();
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).unwrap();
    mac.update(format!("{id}.{at}.").as_bytes());
    mac.update(body);
    let signature = text(headers, "webhook-signature").strip_prefix("v1,").unwrap();
    (0..60).contains(&age) && mac.verify_slice(&STANDARD.decode(signature).unwrap()).is_ok()
}
