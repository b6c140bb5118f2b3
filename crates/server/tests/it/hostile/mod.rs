//! Whoever means harm: what the node and its proxy answer to them over HTTP.
//!
//! One story a kind of attack. `routes` is every operation with every kind of key, by one table; `owners`
//! what belongs to others; `smuggling` requests that say two things at once; `guard` pages that point a name
//! of theirs here; `crowds` the slow and the silent, in numbers; `rates` who guesses; `revoked` every
//! connection that lives longer than its key; `files` what lies in them; `weight` bodies that are too many together; `addresses` what
//! a peer is said to be reached at. One kind stands with what it attacks: messages between nodes that are
//! sent again, were changed or come from somebody else, in `messages`, `signed_answers` and
//! `sync::bad_company`.

mod addresses;
mod crowds;
mod files;
mod guard;
mod owners;
mod rates;
mod revoked;
mod routes;
mod smuggling;
mod weight;

use reqwest::Method;

/// One operation of the API's own document.
struct Operation {
    method: Method,
    path: String,
    wants_key: bool,
}

/// All of them, so that none is forgotten.
fn operations() -> impl Iterator<Item = Operation> {
    let document = serde_json::to_value(baton_server::http::document()).unwrap();
    let paths = document["paths"].as_object().unwrap().clone();
    paths.into_iter().flat_map(|(path, item)| {
        let item = item.as_object().unwrap().clone();
        item.into_iter().map(move |(method, operation)| Operation {
            method: method.to_uppercase().parse().unwrap(),
            path: path.clone(),
            wants_key: operation["security"].is_array(),
        })
    })
}
