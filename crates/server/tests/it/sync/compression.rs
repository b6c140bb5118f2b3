//! Compressed answers and bodies: for whoever wants them, nothing with secrets, and no bombs.

use super::pair::{Pair, logged_in, save, seed, state};
use super::stranger::Stranger;
use super::watched::refused;
use crate::fixture::{Node, one_line, problem};
use baton_session::SessionId;
use baton_session::wire::{self, Head, SessionFile};
use flate2::Compression;
use flate2::read::{GzDecoder, GzEncoder};
use jiff::Timestamp;
use reqwest::Method;
use std::io::Read;

/// The encoding of an answer and, decoded, its bytes.
async fn ask(node: &Node, path: &str, accept: Option<&str>) -> (Option<String>, Vec<u8>) {
    let request = node.admin_request(Method::GET, path);
    let request = accept.into_iter().fold(request, |it, word| it.header("accept-encoding", word));
    let answer = request.send().await.unwrap();
    assert_eq!(answer.status(), 200, "{path}");
    let encoding = answer.headers().get("content-encoding");
    let encoding = encoding.map(|value| value.to_str().unwrap().to_owned());
    let bytes = answer.bytes().await.unwrap().to_vec();
    let plain = match encoding.as_deref() {
        Some("gzip") => gunzip(&bytes),
        Some("zstd") => zstd::decode_all(&*bytes).unwrap(),
        _ => bytes,
    };
    (encoding, plain)
}

fn gunzip(bytes: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    GzDecoder::new(bytes).read_to_end(&mut plain).unwrap();
    plain
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    GzEncoder::new(bytes, Compression::fast()).read_to_end(&mut packed).unwrap();
    packed
}

#[tokio::test]
async fn lists_are_compressed_for_whoever_takes_it() {
    let pair = Pair::new().await;
    for name in ["shop", "bank", "mail", "news"] {
        seed(&pair.cloud, name, &logged_in(&[("shop.test", "one")])).await;
        save(&pair.cloud, name).await;
    }
    for path in ["/openapi.json", "/sync/index"] {
        let (encoding, plain) = ask(&pair.cloud, path, None).await;
        assert_eq!(encoding, None, "{path}");
        for word in ["gzip", "zstd"] {
            let packed = ask(&pair.cloud, path, Some(word)).await;
            assert_eq!(packed, (Some(word.to_owned()), plain.clone()), "{path}");
        }
        assert_eq!(ask(&pair.cloud, path, Some("br, identity")).await.0, None, "{path}");
    }
    // A few bytes are not worth it.
    assert_eq!(ask(&pair.cloud, "/sync/conflicts", Some("gzip")).await.0, None);
    pair.stop().await;
}

#[tokio::test]
async fn what_shows_a_session_and_what_is_sealed_stays_as_it_is() {
    let pair = Pair::new().await;
    let long = "x".repeat(4000);
    let id = seed(&pair.cloud, "shop", &logged_in(&[("shop.test", &long)])).await;
    save(&pair.cloud, "shop").await;
    for path in [
        "/sessions/shop/state?reveal=true".to_owned(),
        "/sessions/shop/export?format=session".to_owned(),
        format!("/sync/sessions/{id}"),
        "/sync/card".to_owned(),
    ] {
        assert_eq!(ask(&pair.cloud, &path, Some("gzip, zstd")).await.0, None, "{path}");
    }
    let stranger = Stranger::of(&pair.cloud, 1).await;
    let mut message = stranger.index_at(Timestamp::now());
    message.parts.headers.insert("accept-encoding", "gzip, zstd".parse().unwrap());
    let answer = message.send().await;
    assert_eq!(answer.headers()["content-type"], "application/vnd.baton.sealed");
    assert_eq!(answer.headers().get("content-encoding"), None);
    pair.stop().await;
}

#[tokio::test]
async fn a_session_file_may_come_compressed_and_a_bomb_is_refused() {
    let pair = Pair::new().await;
    let node = &pair.cloud;
    let send = async |encoding: &str, body: Vec<u8>| {
        let request = node.admin_request(Method::POST, "/sync/sessions").body(body);
        let request = request.header("content-type", "application/json");
        request.header("content-encoding", encoding).send().await.unwrap()
    };
    for (number, encoding) in ["gzip", "zstd"].into_iter().enumerate() {
        let id: SessionId = format!("0190aaaa-0000-7000-8000-00000000000{number}").parse().unwrap();
        let shop = logged_in(&[("shop.test", encoding)]);
        let head = Head { id: id.to_string(), name: encoding.to_owned(), ..Head::default() };
        let file = wire::write(&SessionFile { head, state: shop.clone() }).into_bytes();
        let packed = if number == 0 { gzip(&file) } else { zstd::encode_all(&*file, 3).unwrap() };
        assert_eq!(send(encoding, packed).await.status(), 201);
        assert_eq!(state(node, encoding).await, shop);
    }
    // One byte more than a file may have.
    let spaces = std::io::repeat(b' ').take((128 << 20) + 1);
    let bomb = zstd::encode_all(spaces, 1).unwrap();
    assert!(bomb.len() < 100_000, "{}", bomb.len());
    let mut told = Vec::new();
    for (encoding, body) in [("zstd", bomb), ("gzip", b"no gzip".to_vec()), ("br", vec![])] {
        let refusal = async { one_line(&problem(send(encoding, body).await).await) };
        told.push(refused(node, refusal).await);
    }
    insta::assert_snapshot!(told.join("\n"), @r#"
    413 body_too_large: the body is larger than limits.body_bytes allows
    noted: local-admin: request POST /sync/sessions failed {"code":"body_too_large"}
    400 invalid_json: expected JSON, Invalid gzip header
    noted: local-admin: request POST /sync/sessions failed {"code":"invalid_json"}
    415 unsupported_media_type: expected a body in gzip, in zstd or as it is, found another Content-Encoding
    "#);
    pair.stop().await;
}
