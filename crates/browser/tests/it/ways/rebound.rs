//! A listed name that leads elsewhere once its page is there: whoever owns a name says where it leads, each time anew.

use super::apart::COUNTED;
use super::records::Records;
use super::way::{LISTED, REBOUND, Ways};
use super::{hosts, names};
use crate::fixture::{Kept, evaluate, open_page, options, spec};
use baton_browser::keeper::{BrowserSpec, EgressSpec, HostTally, KeeperSpec, KnownProxies, Role};
use baton_browser::launch::{Confine, LaunchOptions};
use baton_session::egress::Egress;
use std::sync::Arc;

/// What would keep the page itself from this machine is off: it is not what is tested.
const SWITCH: &str = "--disable-features=HttpsUpgrades,LocalNetworkAccessChecks";

/// Opens a page of the name, and asks for two more things there, of which one has a port of this machine.
pub(super) fn look_twice() {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(look());
}

async fn look() {
    let (ways, records) = (Arc::new(Ways::new()), Records::default());
    let only = [LISTED.0, REBOUND].map(str::to_owned).into();
    let egress = EgressSpec::of(&Egress { only, ..Egress::default() }, &KnownProxies::default());
    let kept = start(&ways, &records, egress.unwrap()).await;

    let client = kept.connect(Role::Client).await;
    let browser = client.connection.browser();
    let (_, page) = open_page(&browser, &format!("http://{REBOUND}/page")).await;
    assert_eq!(
        evaluate(&page, "document.title").await,
        "a",
        "the first look leads to the listed host"
    );
    let way = ways.of("loopback-v4");
    let ports = [80, way.port()];
    for port in ports {
        let asked = format!(
            "fetch('http://{REBOUND}:{port}/', {{mode: 'no-cors'}}).then(() => 0, () => 0)"
        );
        evaluate(&page, &asked).await;
    }
    let arrived = records.arrivals();
    assert!(arrived.is_empty(), "{arrived:?}");
    let tallies = tallies(&kept).await;
    for port in ports {
        let host = format!("{REBOUND}:{port}");
        let tally = tallies.iter().find(|tally| tally.host.as_ref() == Some(&host)).unwrap();
        let why = tally.why.as_deref().unwrap_or_default();
        assert!(tally.refused > 0 && why.contains("the private address 127.0.0.1"), "{tally:?}");
    }
    kept.close().await;
    println!("{COUNTED}: {ports:?} of this machine");
}

/// A browser with this way out, in a network where all hosts listen.
pub(super) async fn start(ways: &Arc<Ways>, records: &Records, egress: EgressSpec) -> Kept {
    names::answer(Arc::clone(ways), records.clone()).await;
    hosts::listen(ways, records).await;
    let folder = tempfile::tempdir().unwrap();
    let launch = LaunchOptions {
        confine: Confine::Off,
        extra_args: vec![SWITCH.to_owned()],
        ..options(&folder.path().join("profile"))
    };
    let browser = BrowserSpec::Launch(Box::new(launch));
    let spec = KeeperSpec { egress: Some(egress), ..spec(folder.path(), browser) };
    Kept::start(folder, spec).await.unwrap()
}

/// What its way out was asked for.
pub(super) async fn tallies(kept: &Kept) -> Vec<HostTally> {
    let node = kept.connect(Role::Node).await;
    let told = node.connection.browser().call("Baton.egress", ()).await.unwrap();
    serde_json::from_value(told["hosts"].clone()).unwrap()
}
