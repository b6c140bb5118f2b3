//! An agent that answers the requests of its tabs goes on with that while a person drives, and begins nothing anew.

use super::{LIMIT, Scene};
use baton_api::OpenCdp;
use baton_api::live::ViewerMessage;
use baton_browser::cdp::{self, CdpError, CdpSession, Connection, Event};
use serde_json::{Value, json};
use tokio::time::timeout;

/// Attaches to the page of the session.
async fn page(connection: &Connection) -> CdpSession {
    let browser = connection.browser();
    let found = browser.call("Target.getTargets", json!({})).await.unwrap();
    let mut found = found["targetInfos"].as_array().unwrap().iter();
    let target = found.find(|target| target["type"] == "page").unwrap();
    let params = json!({ "targetId": target["targetId"], "flatten": true });
    let attached = browser.call("Target.attachToTarget", params).await.unwrap();
    connection.session(attached["sessionId"].as_str().unwrap().to_owned().into())
}

/// Why a call is refused, once it is.
async fn refused(page: &CdpSession, method: &'static str, params: Value) -> String {
    let refused = async {
        loop {
            match page.call(method, params.clone()).await {
                Err(CdpError::Protocol { message, .. }) => return message,
                Err(error) => panic!("expected an answer, found {error}"),
                Ok(_) => {}
            }
        }
    };
    timeout(LIMIT, refused).await.expect("a refusal")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_that_an_agent_holds_go_on_by_it_while_a_person_drives() {
    let scene = Scene::set().await;
    let kimi = scene.client().clone().as_agent(Some("kimi".parse().unwrap()));
    let access = kimi.open_cdp("shop", &OpenCdp::default()).await.unwrap();
    let transport = cdp::connect(access.cdp_url.as_str()).await.unwrap();
    let (connection, mut events) = Connection::start(transport);
    let page = page(&connection).await;
    page.call("Fetch.enable", json!({})).await.unwrap();
    let mut ada = scene.watch(scene.client()).await;
    let tab = ada.tab().await;
    ada.take_over("ada").await;
    // Its line hears of her soon.
    let mut why = Vec::new();
    for (method, params) in [
        ("Fetch.enable", json!({})),
        ("Emulation.setScriptExecutionDisabled", json!({ "value": false })),
        ("Page.addScriptToEvaluateOnNewDocument", json!({ "source": "1", "runImmediately": true })),
    ] {
        why.push(ada.hear_during(refused(&page, method, params)).await);
    }
    insta::assert_snapshot!(why.join("\n"), @"
    Fetch.enable: ada has taken over and drives this session until it is given back; calls that read go on
    Emulation.setScriptExecutionDisabled: ada has taken over and drives this session until it is given back; calls that read go on
    Page.addScriptToEvaluateOnNewDocument: ada has taken over and drives this session until it is given back; calls that read go on
    ");
    let url = scene.site.url("/?next").unwrap().to_string();
    ada.say(&ViewerMessage::Go { tab, url }).await;
    let answers = async {
        while let Some(event) = events.next().await {
            let Event::Message { method, params, .. } = event else { continue };
            if method == "Fetch.requestPaused" {
                let params: Value = serde_json::from_str(params.get()).unwrap();
                let request = json!({ "requestId": params["requestId"] });
                page.call("Fetch.continueRequest", request).await.unwrap();
            }
        }
    };
    let is_there = ada.until("the next page", |viewer| {
        let mut tabs = viewer.tabs.iter().flat_map(|tabs| &tabs.tabs);
        tabs.any(|tab| tab.url.as_str().ends_with("/?next"))
    });
    tokio::select! {
        () = answers => panic!("expected kimi's line to go on"),
        () = is_there => {}
    }
    scene.strike().await;
}
