//! Metrics have a listener of their own and name no session.

use crate::fixture::{Folder, until};
use reqwest::Method;
use std::net::TcpListener;

#[tokio::test]
async fn requests_are_counted_by_route_and_never_by_session() {
    let folder = Folder::new();
    // An address of this test alone: the nodes of the others take any free port of 127.0.0.1.
    let free = TcpListener::bind("127.41.7.1:0").unwrap().local_addr().unwrap();
    let mut config = folder.config();
    config.metrics = Some(free);
    let node = folder.start_with(config).await;
    node.admin_request(Method::GET, "/sessions/very-secret-name").send().await.unwrap();
    let text = until("the request is counted", || async {
        let text = reqwest::get(format!("http://{free}/metrics")).await.ok()?.text().await.ok()?;
        text.contains("baton_http_requests_total").then_some(text)
    })
    .await;
    let line = "baton_http_requests_total{method=\"GET\",route=\"/sessions/{id}\",status=\"404\"}";
    assert!(text.contains(line), "{text}");
    assert!(!text.contains("very-secret-name"), "{text}");
    let on_the_api = node.admin_request(Method::GET, "/metrics").send().await.unwrap();
    assert_eq!(on_the_api.status(), 404);
    node.stop().await;
}

#[tokio::test]
async fn a_page_that_points_a_name_of_its_own_here_reads_no_metrics() {
    let folder = Folder::new();
    let free = TcpListener::bind("127.41.7.2:0").unwrap().local_addr().unwrap();
    let mut config = folder.config();
    config.metrics = Some(free);
    let node = folder.start_with(config).await;
    let ask = async |name: &str, value: &str| {
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let call = client.get(format!("http://{free}/metrics")).header(name, value);
        call.send().await.unwrap().status().as_u16()
    };
    for ours in [free.to_string(), format!("localhost:{}", free.port())] {
        assert_eq!(ask("host", &ours).await, 200, "{ours}");
    }
    for foreign in ["evil.test".to_owned(), format!("evil.test:{}", free.port())] {
        assert_eq!(ask("host", &foreign).await, 403, "{foreign}");
    }
    assert_eq!(ask("origin", "https://evil.test").await, 403);
    node.stop().await;
}
