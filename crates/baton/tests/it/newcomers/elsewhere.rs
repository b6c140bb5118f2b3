//! A person who leaves for the provider from one node of a cluster, and whom a balancer leads back to another one.

use super::standin::{Departed, Scene};
use crate::notes::eventually;
use baton_api::PAGE_HEADER;
use reqwest::{Method, Response};

/// A person signs in: departs from the first node, is sent back to the second, whose page asks the one after.
async fn sign_in(scene: &Scene, departed: &Departed, is_known: bool) -> Response {
    let other = scene.other.as_ref().unwrap();
    let token = scene.key.sign(&scene.claims(departed));
    scene.says(|says| says.token = token);
    let query = [("code", "the code"), ("state", &*departed.state)];
    let cookie = is_known.then_some(&*departed.cookie);
    scene.arrive_at([other, other], &query, cookie).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_left_from_one_node_comes_back_to_another_and_is_let_in_at_both() {
    let mut scene = Scene::start_cluster().await;
    let departed = scene.depart().await;
    let stranger = sign_in(&scene, &departed, false).await;
    let mut heard = vec![scene.told(stranger).await];
    let answer = sign_in(&scene, &departed, true).await;
    let cookie = answer.headers()["set-cookie"].to_str().unwrap();
    let cookie = cookie.split(';').next().unwrap().to_owned();
    let text = answer.text().await.unwrap();
    let session: serde_json::Value = serde_json::from_str(&text).unwrap();
    heard.push(format!("{} by {}", session["owner"], session["key"]));
    // It counted once.
    let again = sign_in(&scene, &departed, true).await;
    heard.push(scene.told(again).await);

    let ask = async |node, method, path| {
        let request = scene.request_at(node, method, path).header("cookie", &cookie);
        let value = session["value"].as_str().unwrap();
        request.header(PAGE_HEADER, value).send().await.unwrap()
    };
    let other = scene.other.as_ref().unwrap();
    for node in [&scene.node, other] {
        assert_eq!(ask(node, Method::GET, "sessions").await.status(), 200);
    }
    // A second page of the same person has the same key, wherever they come from.
    let departed = scene.depart().await;
    assert_eq!(sign_in(&scene, &departed, true).await.status(), 200);
    let keys = async || {
        let shop = "shop".parse().unwrap();
        let keys = scene.node.client().unwrap().list_keys(Some(&shop)).await.unwrap().items;
        let keys = keys.into_iter().map(|key| key.id);
        keys.filter(|id| id.starts_with("person_")).count()
    };
    assert_eq!(keys().await, 1);
    assert_eq!(ask(other, Method::DELETE, "page/session").await.status(), 204);
    eventually("it is signed out at the other node as well", async || {
        ask(&scene.node, Method::GET, "sessions").await.status() == 401
    })
    .await;

    // Who left from a node that is lost begins anew.
    let departed = scene.depart().await;
    scene.node.kill_node().await.unwrap();
    let lost = sign_in(&scene, &departed, true).await;
    heard.push(scene.told(lost).await);
    insta::assert_snapshot!(heard.join("\n"), @r#"
    401 expected an answer to a sign-in that this browser began within 10 minutes, found one that another browser began
    "shop" by "ada@example.org (Example)"
    401 expected an answer to a sign-in that this browser began within 10 minutes, found one that does not count, or no longer
    401 expected an answer to a sign-in that this browser began within 10 minutes, found one that does not count, or no longer
    "#);
    scene.node.start_node().await.unwrap();
    scene.end().await;
}
