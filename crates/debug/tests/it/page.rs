//! A page of 200 requests as shops have them: built scripts with hashes, an API, pictures, measurements by
//! others, and a few failures.

use super::{Tab, answered, failed, finished, requested};
use baton_api::debug::{Answered, Finished, Requested, ResourceType};

/// A hash as build tools put it into the names of files.
fn hash(seed: u64, length: usize) -> String {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let letter = |state: &mut u64| {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        char::from(b"0123456789abcdef"[usize::try_from(*state % 16).unwrap()])
    };
    (0..length).map(|_| letter(&mut state)).collect()
}

/// Kind, method, status, size and address of the request with that number.
fn request(number: u64) -> (ResourceType, &'static str, u16, u64, String) {
    let shop = "https://shop.example.com";
    let (id, name) = (hash(number, 8), hash(number + 1_000, 16));
    match number % 20 {
        0 => (ResourceType::Document, "GET", 200, 48_213, format!("{shop}/products/{id}?ref=home")),
        1..=5 => (
            ResourceType::Script,
            "GET",
            200,
            13_000 + 977 * number,
            format!("{shop}/_next/static/chunks/{number}-{name}.js"),
        ),
        6 => (
            ResourceType::Stylesheet,
            "GET",
            200,
            31_402,
            format!("{shop}/_next/static/css/{name}.css"),
        ),
        7 => (
            ResourceType::Font,
            "GET",
            200,
            27_940,
            format!("https://fonts.gstatic.com/s/inter/v13/{name}.woff2"),
        ),
        8..=11 => (
            ResourceType::Image,
            "GET",
            200,
            9_000 + 311 * number,
            format!("https://cdn.example-images.com/{id}/w_640,h_480/{name}.webp"),
        ),
        12..=15 => (
            ResourceType::Fetch,
            "GET",
            200,
            512 + number,
            format!(
                "{shop}/api/v2/products/{id}/reviews?page={}&per_page=20&sort=newest",
                number % 7
            ),
        ),
        16 => (ResourceType::Fetch, "POST", 201, 87, format!("{shop}/api/v2/cart/items")),
        17 => (
            ResourceType::Ping,
            "POST",
            204,
            0,
            format!(
                "https://www.google-analytics.com/g/collect?v=2&tid=G-{id}&gtm=45je4&_p={number}&cid=555.777&ul=en-us&sr=1920x1080"
            ),
        ),
        18 => (ResourceType::Fetch, "GET", 404, 62, format!("{shop}/api/v2/recommendations/{id}")),
        _ => (
            ResourceType::Xhr,
            "GET",
            0,
            0,
            format!("https://metrics.tracker.io/pixel/{name}.gif?e=view&t={number}"),
        ),
    }
}

/// The tab that shows it.
pub(super) fn page() -> Tab {
    let mut tab = Tab::new();
    for number in 1..=200 {
        let (kind, method, status, size, url) = request(number);
        let (id, sent) = (format!("17042.{number}"), number * 13);
        let resource_type = Some(kind);
        tab.sent(Requested { resource_type, ..requested(&id, method, &url, sent) });
        if status == 0 {
            tab.fail(failed(&id, "net::ERR_BLOCKED_BY_CLIENT", sent + 3));
            continue;
        }
        let mime_type = Some("text/plain".to_owned());
        tab.answer(Answered { mime_type, ..answered(&id, status, sent + 20) });
        let ended = sent + 25 + (number * 37) % 400;
        tab.finish(Finished { body_size: Some(size), ..finished(&id, ended) });
    }
    tab
}
