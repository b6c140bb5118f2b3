//! Bad requests: each gets a problem that says what was expected and what was found.

use crate::fixture::{Node, one_line, problem};
use reqwest::{Method, RequestBuilder};

async fn refused(call: RequestBuilder) -> String {
    one_line(&problem(call.send().await.unwrap()).await)
}

fn open(node: &Node, body: &str) -> RequestBuilder {
    let call = node.admin_request(Method::POST, "/sessions");
    call.header("content-type", "application/json").body(body.to_owned())
}

#[tokio::test]
async fn a_problem_is_whole() {
    let node = Node::start().await;
    let call = node.admin_request(Method::GET, "/sessions/nope");
    let problem = problem(call.send().await.unwrap()).await;
    insta::assert_json_snapshot!(problem, @r#"
    {
      "type": "urn:baton:problem:session_not_found",
      "title": "no such session",
      "status": 404,
      "code": "session_not_found",
      "detail": "no session \"nope\"",
      "hint": "baton sessions list shows the sessions there are"
    }
    "#);
    node.stop().await;
}

#[tokio::test]
async fn bad_bodies_say_where_they_are_wrong() {
    let node = Node::start().await;
    let too_large = format!("{{\"name\": \"{}\"}}", "x".repeat(5000));
    let bodies = [
        "not json",
        "{\"name\": ",
        "{}",
        "{\"name\": \"a b\"}",
        "{\"name\": \"a\", \"nmae\": 1}",
        "{\"name\": \"a\", \"urls\": [\"https://ok.test\", \"no address\"]}",
        "{\"name\": \"a\", \"urls\": [\"file:///etc/passwd\"]}",
        "{\"name\": \"a\", \"environment\": {\"viewport\": {\"width\": 0, \"height\": 5}}}",
        "{\"name\": \"a\", \"environment\": {\"userAgent\": \"a\\r\\nb\"}}",
        "{\"name\": \"a\", \"environment\": {\"permissions\": [
            {\"name\": \"camera\", \"origin\": \"https://*\", \"setting\": \"allow\"}]}}",
        "{\"name\": \"a\", \"environment\": {\"permissions\": [
            {\"name\": \"camera\", \"origin\": \"https://a.test\", \"setting\": \"ask\"}]}}",
        "{\"name\": \"a\", \"environment\": {\"certificates\": [
            \"-----BEGIN PRIVATE KEY-----\\nAAAA\\n-----END PRIVATE KEY-----\\n\"]}}",
        "{\"name\": \"attach\"}",
        &too_large,
    ];
    let mut answers = Vec::new();
    for body in bodies {
        answers.push(refused(open(&node, body)).await);
    }
    insta::assert_snapshot!(answers.join("\n"), @r#"
    400 invalid_json: expected JSON, expected ident at line 1 column 2
    400 invalid_json: expected JSON, name: EOF while parsing a value at line 1 column 9
    422 invalid_request: in the body, missing field `name` at line 1 column 2
    422 invalid_request: in the body, name: expected a name of 1 to 64 letters, digits, '-', '_' or '.', not a UUID, found "a b" at line 1 column 15
    422 invalid_request: in the body, nmae: unknown field `nmae`, expected one of `name`, `description`, `urls`, `headed`, `debug`, `reveal`, `files`, `labels`, `environment` at line 1 column 20
    422 invalid_request: in the body, urls[1]: relative URL without a base: "no address" at line 1 column 54
    422 invalid_request: expected urls to be http, https or about addresses, found file:
    422 invalid_request: expected environment.viewport to be 1 to 16384 pixels wide and high, found 0x5
    422 invalid_request: expected environment.userAgent to be visible ASCII characters, found "a\r\nb"
    422 invalid_request: expected environment.permissions to be known permissions of http or https origins, found "camera https://*": expected an http or https origin such as https://app.test
    422 invalid_request: in the body, environment.permissions[0].setting: unknown variant `ask`, expected `allow` or `deny` at line 2 column 75
    422 invalid_request: in the body, environment.certificates[0]: expected certificates alone, found a private key at line 2 column 77
    422 invalid_request: expected name to be another word than attach and import, which the API uses itself, found attach
    413 body_too_large: the body is larger than limits.body_bytes allows
    "#);
    node.stop().await;
}

#[tokio::test]
async fn bodies_without_a_length_are_bounded_too() {
    let node = Node::start().await;
    // The typed client would name a length; a body that comes in pieces has none.
    let address = node.file.url.socket_addrs(|| None).unwrap()[0];
    let (key, piece) = (node.admin_key(), "x".repeat(3000));
    let request = format!(
        "POST /sessions HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {key}\r\n\
         content-type: application/json\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n\
         bb8\r\n{piece}\r\nbb8\r\n{piece}\r\n0\r\n\r\n"
    );
    let answer = tokio::task::spawn_blocking(move || {
        use std::io::{Read, Write};
        let mut stream = std::net::TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(crate::fixture::LIMIT)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    });
    let answer = answer.await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    assert!(answer.contains("\"code\":\"body_too_large\""), "{answer}");
    node.stop().await;
}

#[tokio::test]
async fn addresses_and_methods_that_do_not_exist_say_so() {
    let node = Node::start().await;
    let calls = [
        node.admin_request(Method::GET, "/nope"),
        node.admin_request(Method::PUT, "/sessions"),
        node.admin_request(Method::GET, "/sessions/nope/capture"),
        node.admin_request(Method::POST, "/sessions")
            .header("content-type", "text/plain")
            .body("{\"name\": \"a\"}"),
        node.admin_request(Method::GET, "/sessions?limit=0"),
        node.admin_request(Method::GET, "/sessions?state=asleep"),
        node.admin_request(Method::GET, "/sessions?sort=name"),
        node.admin_request(Method::GET, "/sessions/%ff"),
        node.admin_request(Method::DELETE, "/keys/nope"),
    ];
    let mut answers = Vec::new();
    for call in calls {
        answers.push(refused(call).await);
    }
    insta::assert_snapshot!(answers.join("\n"), @r#"
    404 route_not_found: expected an address of the API, found /nope
    405 method_not_allowed: /sessions has no method PUT
    405 method_not_allowed: /sessions/nope/capture has no method GET
    415 unsupported_media_type: expected request with `Content-Type: application/json`
    422 invalid_request: expected limit to be a number from 1 to 1000, found 0
    422 invalid_request: in the query, state: unknown variant `asleep`, expected one of `active`, `recoverable`, `stale`, `failed`, `closed`
    422 invalid_request: in the query, sort: unknown field `sort`, expected one of `state`, `after`, `limit`
    422 invalid_request: invalid URL: Invalid UTF-8 in `id`
    404 key_not_found: no API key "nope"
    "#);
    node.stop().await;
}

#[tokio::test]
async fn a_body_is_json_also_where_nobody_says_so() {
    let node = Node::start().await;
    let kinds = [None, Some("application/x-www-form-urlencoded"), Some("application/json")];
    for (number, kind) in kinds.into_iter().enumerate() {
        let call = node.admin_request(Method::POST, "/keys");
        let call = call.body(format!("{{\"name\": \"key-{number}\", \"scopes\": [\"read\"]}}"));
        let call = kind.into_iter().fold(call, |call, kind| call.header("content-type", kind));
        let answer = call.send().await.unwrap();
        assert!(answer.status().is_success(), "{kind:?}: {}", answer.text().await.unwrap());
    }
    node.stop().await;
}
