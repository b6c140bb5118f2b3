//! A public address of this machine: what listens at all of its addresses, for its network, is found there as well.

use super::apart::COUNTED;
use super::rebound::{start, tallies};
use super::records::Records;
use super::way::{LISTED, RESOLVER, Ways};
use crate::fixture::{evaluate, open_page};
use baton_browser::keeper::{EgressSpec, Role};
use std::io::ErrorKind;
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

/// Asks for a port of this machine by its public address, in a browser of an owner to whom nothing of the machine is
/// lent.
pub(super) fn ask_for_it() {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(ask());
}

async fn ask() {
    let listener = TcpListener::bind("0.0.0.0:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    // Whoever is on this machine comes there.
    TcpStream::connect((RESOLVER, port)).unwrap();
    listener.accept().unwrap();

    let mut egress = EgressSpec::default();
    egress.fence.lent = Some(Vec::new());
    let kept = start(&Arc::new(Ways::new()), &Records::default(), egress).await;
    let client = kept.connect(Role::Client).await;
    let browser = client.connection.browser();
    let (_, page) = open_page(&browser, &format!("http://{}/page", LISTED.0)).await;
    let own = format!("{RESOLVER}:{port}");
    let asked = format!("fetch('http://{own}/', {{mode: 'no-cors'}}).then(() => 0, () => 0)");
    evaluate(&page, &asked).await;
    listener.set_nonblocking(true).unwrap();
    assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock, "somebody came");
    let tallies = tallies(&kept).await;
    let tally = tallies.iter().find(|tally| tally.host.as_ref() == Some(&own)).unwrap();
    assert_eq!(
        (tally.refused, tally.why.as_deref().unwrap_or_default()),
        (
            1,
            "it leads to this machine's own address 11.7.0.1, which the settings of this node do not list"
        )
    );
    kept.close().await;
    println!("{COUNTED}: {own}");
}
