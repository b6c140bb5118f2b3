//! Requests of web pages are refused: the wrong host, the wrong origin.

use crate::fixture::{Node, problem};
use baton_api::ErrorCode;
use reqwest::Method;

#[tokio::test]
async fn a_request_must_be_meant_for_this_node() {
    let node = Node::start().await;
    let port = node.file.url.port().unwrap();
    for ours in ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"] {
        let call = node.request(Method::GET, "/health").header("host", format!("{ours}:{port}"));
        assert_eq!(call.send().await.unwrap().status(), 200, "{ours}");
    }
    let foreign = ["evil.test".to_owned(), format!("evil.test:{port}"), "127.0.0.1:1".to_owned()];
    for host in foreign {
        let call = node.admin_request(Method::GET, "/sessions").header("host", &host);
        let problem = problem(call.send().await.unwrap()).await;
        assert_eq!(problem.code, ErrorCode::ForeignOrigin);
        assert!(problem.detail.contains(&host), "{}", problem.detail);
    }
    node.stop().await;
}

#[tokio::test]
async fn a_page_of_another_origin_is_refused_even_with_a_key() {
    let node = Node::start().await;
    let port = node.file.url.port().unwrap();
    let call = |origin: String| {
        node.admin_request(Method::GET, "/sessions").header("origin", origin).send()
    };
    for foreign in ["https://evil.test", "null", "http://127.0.0.1:1", "https://127.0.0.1"] {
        let problem = problem(call(foreign.to_owned()).await.unwrap()).await;
        assert_eq!((problem.status, problem.code), (403, ErrorCode::ForeignOrigin), "{foreign}");
    }
    assert_eq!(call(format!("http://127.0.0.1:{port}")).await.unwrap().status(), 200);
    node.stop().await;
}
