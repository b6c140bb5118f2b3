//! Every way by which a page, a worker, an extension or a client tries to bring a fenced browser to a host that is not
//! listed: nothing comes there, no name is asked for, and no packet goes there; without the fence most ways lead out.

#![allow(clippy::print_stdout, reason = "whoever runs a test reads it")]

mod apart;
mod calls;
mod documents;
mod drive;
mod elements;
mod extension;
mod hosts;
mod listed;
mod names;
mod own;
mod packets;
mod peers;
mod rebound;
mod records;
mod scripts;
mod spellings;
mod tls;
mod way;
mod world;

use apart::Place;
use baton_browser::launch::Confine;
use baton_testing::skip;
use packets::Packet;
use world::{Browser, told};

/// An ordinary user.
const NOBODY: u32 = 65_534;

/// How many ways there are at least, how many of them lead out of a browser that has no fence, and are seen to
/// be refused by one.
const WAYS: usize = 300;
const LEAD_OUT: usize = 180;

/// Kinds of ways, of each of which one at least leads out of a browser that has no fence: else nothing would be shown
/// by a fence that refuses it.
const KINDS: [(&str, &[&str]); 14] = [
    ("requests of a page", &["fetch", "xhr", "event-source"]),
    ("elements", &["img", "script", "stylesheet"]),
    ("TLS", &["fetch-tls", "img-tls", "socket-tls"]),
    ("frames", &["iframe", "iframe-refresh", "frame-location"]),
    ("navigations", &["location", "link", "form-get", "window-open"]),
    ("redirects of a listed host", &["redirect-302", "fetch-301", "image-redirected"]),
    ("WebSockets", &["socket", "socket-address"]),
    ("workers", &["worker-fetch", "shared-worker-fetch"]),
    ("service workers", &["service-worker-fetch", "service-worker-import"]),
    ("datagrams", &["stun", "stun-address", "turn-udp", "candidate-udp", "web-transport"]),
    ("calls of a client", &["call-navigate", "call-create-target", "call-evaluate"]),
    ("contexts with a proxy", &["context-direct", "context-proxy", "context-proxy-socks5"]),
    ("extensions", &["extension-fetch", "extension-proxy-direct", "extension-proxy-other"]),
    ("this machine itself", &["loopback-localhost", "loopback-v4", "loopback-v6"]),
];

/// What the kernel says of groups that somebody listens to, of the protocols over IP.
const IGMP: u8 = 2;

/// A browser that nothing holds but what it was told of its way out.
const FENCED: Browser = Browser { confine: Confine::Off, is_fenced: true, is_headed: false };

#[test]
fn a_browser_without_a_fence_goes_most_of_the_ways() {
    match apart::tell("ways::a_browser_without_a_fence_goes_most_of_the_ways", 0) {
        Place::Nowhere(why) => skip!("{why}"),
        Place::Told(said) => println!("{said}"),
        Place::Within => {
            let told = told(Browser { confine: Confine::Off, is_fenced: false, is_headed: false });
            println!("{told}");
            assert!(told.ways > WAYS && told.arrived.len() > LEAD_OUT, "{told}");
            let leads_out =
                |names: &[&str]| names.iter().any(|name| told.arrived.contains_key(*name));
            let shut = KINDS.iter().filter(|(_, names)| !leads_out(names));
            let shut: Vec<_> = shut.map(|(kind, _)| kind).collect();
            assert!(shut.is_empty(), "none of {shut:?} led out: {told}");
            assert!(told.reached, "{told}");
        }
    }
}

/// Tries all ways with a fenced browser of this user; an error says why it cannot be.
fn nothing_gets_out(test: &str, user: u32, browser: Browser) -> Result<(), String> {
    match apart::tell(test, user) {
        Place::Nowhere(why) => return Err(why),
        Place::Told(said) => println!("{said}"),
        Place::Within => {
            let told = told(browser);
            println!("{told}");
            assert!(told.reached, "{told}");
            // Chromium refuses it to root.
            assert_eq!(told.is_sandboxed, user != 0, "{told}");
            // Without rules of the kernel an extension turns UDP on again, and a page of the browser's own looks for
            // devices around.
            let is_alone = browser.confine == Confine::Off;
            let known = |way: &&str| is_alone && *way == "extension-webrtc-address";
            let arrived = told.arrived.keys().filter(|way| !known(way));
            // Of a page that only listens for them, the kernel tells the network (RFC 3376).
            let asked_around = |packet: &&Packet| {
                packet.to.ip().is_multicast() && (is_alone || packet.protocol == IGMP)
            };
            let elsewhere = told.elsewhere.iter().filter(|packet| !asked_around(packet));
            let sent = told.packets.iter().filter(|(way, _)| !known(way));
            assert_eq!(arrived.count() + elsewhere.count() + sent.count(), 0, "{told}");
            assert!(told.asked.is_empty() && told.refused.len() > LEAD_OUT, "{told}");
        }
    }
    Ok(())
}

#[test]
#[ignore = "it takes minutes; cargo xtask soak runs it"]
fn by_its_switches_alone_a_fenced_browser_goes_out_where_an_extension_says_so() {
    let test = "ways::by_its_switches_alone_a_fenced_browser_goes_out_where_an_extension_says_so";
    if let Err(why) = nothing_gets_out(test, 0, FENCED) {
        skip!("{why}");
    }
}

#[test]
fn a_fenced_browser_of_an_ordinary_user_goes_no_way_out() {
    if !apart::is_within() && !rustix::process::geteuid().is_root() {
        skip!("only root can start a browser as somebody else");
    }
    let browser = Browser { confine: Confine::Landlock, ..FENCED };
    let test = "ways::a_fenced_browser_of_an_ordinary_user_goes_no_way_out";
    if let Err(why) = nothing_gets_out(test, NOBODY, browser) {
        skip!("{why}");
    }
}

#[test]
#[ignore = "it takes minutes; cargo xtask soak runs it"]
fn a_fenced_browser_of_root_goes_no_way_out() {
    let browser = Browser { confine: Confine::Landlock, ..FENCED };
    let test = "ways::a_fenced_browser_of_root_goes_no_way_out";
    if let Err(why) = nothing_gets_out(test, 0, browser) {
        skip!("{why}");
    }
}

#[test]
fn a_name_that_leads_to_this_machine_at_the_second_look_leads_nowhere() {
    let test = "ways::a_name_that_leads_to_this_machine_at_the_second_look_leads_nowhere";
    match apart::tell(test, 0) {
        Place::Nowhere(why) => skip!("{why}"),
        Place::Told(said) => println!("{said}"),
        Place::Within => rebound::look_twice(),
    }
}

#[test]
fn where_the_internet_alone_is_open_no_address_of_this_machine_is_reached() {
    let test = "ways::where_the_internet_alone_is_open_no_address_of_this_machine_is_reached";
    match apart::tell(test, 0) {
        Place::Nowhere(why) => skip!("{why}"),
        Place::Told(said) => println!("{said}"),
        Place::Within => own::ask_for_it(),
    }
}

#[test]
#[ignore = "it takes minutes; cargo xtask soak runs it"]
fn a_fenced_browser_with_windows_goes_no_way_out() {
    if !crate::display::is_there() {
        skip!("no Xvnc");
    }
    let browser = Browser { confine: Confine::Landlock, is_headed: true, ..FENCED };
    let test = "ways::a_fenced_browser_with_windows_goes_no_way_out";
    if let Err(why) = nothing_gets_out(test, 0, browser) {
        skip!("{why}");
    }
}

#[test]
#[ignore = "it takes minutes; cargo xtask soak runs it"]
fn a_fenced_browser_of_an_ordinary_user_with_windows_goes_no_way_out() {
    if !crate::display::is_there() {
        skip!("no Xvnc");
    }
    if !apart::is_within() && !rustix::process::geteuid().is_root() {
        skip!("only root can start a browser as somebody else");
    }
    let browser = Browser { confine: Confine::Landlock, is_headed: true, ..FENCED };
    let test = "ways::a_fenced_browser_of_an_ordinary_user_with_windows_goes_no_way_out";
    if let Err(why) = nothing_gets_out(test, NOBODY, browser) {
        skip!("{why}");
    }
}
