//! Who may reach an upstream service.

use super::{Stand, secret, service, upstream_at};
use crate::fixture::Node;
use axum::Router;
use axum::http::HeaderMap;
use axum::routing::get;
use baton_api::debug::EpochMs;
use baton_api::{CreateKey, Scope};
use baton_debug::token::Nonce;
use baton_proxy::{Access, EnterTicket};
use jiff::Timestamp;
use reqwest::Method;
use std::time::Duration;

fn now() -> EpochMs {
    EpochMs::new(u64::try_from(Timestamp::now().as_millisecond()).unwrap())
}

/// Two upstream services of Ada's that say which credentials they got.
async fn stand(node: Option<&Node>) -> Stand {
    let show = async |headers: HeaderMap| {
        format!("{:?} {:?}", headers.get("authorization"), headers.get("cookie"))
    };
    let address = service(Router::new().route("/", get(show))).await;
    let keyed = |id| {
        let mut service = upstream_at(id, address);
        service.access = Access::Key;
        service
    };
    let store = match node {
        Some(node) => Some(node.folder.store().await),
        None => None,
    };
    Stand::with([keyed("shop"), keyed("bank")], Duration::from_mins(1), store).await
}

#[tokio::test]
async fn a_key_of_the_owner_with_the_scope_debug_opens_and_goes_no_further() {
    let node = Node::start().await;
    let stand = stand(Some(&node)).await;
    let key = async |owner: &str, scope: Scope| {
        let request = CreateKey {
            name: format!("{owner} {scope:?}"),
            owner: Some(owner.parse().unwrap()),
            scopes: [scope].into(),
            for_node: None,
        };
        node.admin().create_key(&request).await.unwrap().secret
    };
    let ask = async |key: &str| stand.get("shop/").bearer_auth(key).send().await.unwrap();
    let good = ask(&key("ada", Scope::Debug).await).await;
    assert_eq!((good.status().as_u16(), good.text().await.unwrap().as_str()), (200, "None None"));
    for refused in [key("ada", Scope::Read).await, key("bob", Scope::Debug).await, "x".to_owned()] {
        assert_eq!(ask(&refused).await.status(), 401);
    }
    assert_eq!(stand.get("shop/").send().await.unwrap().status(), 401);
    stand.stop().await;
    node.stop().await;
}

#[tokio::test]
async fn a_ticket_becomes_a_pass_once_and_for_its_cocoon_only() {
    let stand = stand(None).await;
    let ticket = |id: &str, owner: &str, random| {
        let (service, owner) = (id.parse().unwrap(), owner.parse().unwrap());
        let ticket = EnterTicket { service, owner, key: None, nonce: Nonce::new([random; 16]) };
        ticket.sign(&secret(), now()).unwrap()
    };
    let first = ticket("shop", "ada", 1);
    let enter = async |id: &str, ticket: &str| {
        stand.get(&format!("{id}/.baton/enter?ticket={ticket}")).send().await.unwrap()
    };
    assert_eq!(enter("bank", &first).await.status(), 401, "of another cocoon");
    assert_eq!(enter("shop", &ticket("shop", "bob", 2)).await.status(), 401, "of another owner");
    let entered = enter("shop", &first).await;
    assert_eq!(
        (entered.status().as_u16(), &entered.headers()["location"]),
        (303, &"/".parse().unwrap())
    );
    let cookie = entered.headers()["set-cookie"].to_str().unwrap().to_owned();
    let (pass, attributes) = cookie.split_once("; ").unwrap();
    assert_eq!(attributes, "Path=/; Max-Age=43200; HttpOnly; SameSite=Lax");
    assert_eq!(enter("shop", &first).await.status(), 401, "it counted already");

    let ask = async |id: &str, cookie: String| {
        stand.get(&format!("{id}/")).header("cookie", cookie).send().await.unwrap()
    };
    let shown = ask("shop", format!("a=1; {pass}")).await;
    assert_eq!(
        (shown.status().as_u16(), shown.text().await.unwrap().as_str()),
        (200, "None Some(\"a=1\")")
    );
    assert_eq!(ask("bank", pass.to_owned()).await.status(), 401);
    assert_eq!(
        ask("shop", format!("baton_cocoon={first}")).await.status(),
        401,
        "a ticket is no pass"
    );
    stand.stop().await;
}

#[tokio::test]
async fn what_is_for_this_machine_only_has_no_other_name() {
    let address = service(Router::new().route("/", get(async || "here"))).await;
    let stand = Stand::of([upstream_at("shop", address)]).await;
    assert_eq!(stand.get("shop/").send().await.unwrap().status(), 200);
    // A proxy in front of this one is on this machine as well.
    let far = stand.at(Method::GET, "/").header("host", "shop.dev.example.org");
    assert_eq!(far.send().await.unwrap().status(), 403);
    stand.stop().await;
}
