//! The story itself, within its network: all hosts listen, one browser tries every way, and what was heard, asked and
//! sent is counted.

use super::apart::COUNTED;
use super::drive::Drive;
use super::packets::{END, Packet, Packets};
use super::records::Records;
use super::way::{LISTED, RESOLVER, Ways};
use super::{hosts, names, tls};
use crate::display::Display;
use crate::fixture::{Kept, eventually, options, spec};
use baton_browser::keeper::{BrowserSpec, EgressSpec, HostTally, KeeperSpec, KnownProxies, Role};
use baton_browser::launch::{Confine, Folder, LaunchOptions};
use baton_session::egress::Egress;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long nothing new is heard of any way until those of which nobody is told that they have ended count as ended.
const QUIET: Duration = Duration::from_secs(6);

/// What lets pages try more: the listed host counts as one with TLS, windows open without a person, and what
/// would keep pages from this machine's network is off, for it is not what is tested.
const SWITCHES: &[&str] = &[
    "--unsafely-treat-insecure-origin-as-secure=http://listed.test",
    "--disable-popup-blocking",
    "--autoplay-policy=no-user-gesture-required",
    "--enable-experimental-web-platform-features",
    "--enable-unsafe-extension-debugging",
    "--disable-features=HttpsUpgrades,LocalNetworkAccessChecks",
];

/// What became of all ways.
#[derive(Debug)]
pub(super) struct Told {
    /// How many were tried.
    pub(super) ways: usize,
    /// Those on which somebody came to a host that is not listed, and how.
    pub(super) arrived: BTreeMap<&'static str, BTreeSet<String>>,
    /// The names of such hosts that were asked for, and other names.
    pub(super) asked: Vec<String>,
    pub(super) other_names: Vec<String>,
    /// The packets from or to such hosts, and those from or to hosts that are not of the story.
    pub(super) packets: BTreeSet<(&'static str, Packet)>,
    pub(super) elsewhere: BTreeSet<Packet>,
    /// Those that the way out refused.
    pub(super) refused: BTreeSet<&'static str>,
    /// Those of which nobody heard anything.
    pub(super) unheard: Vec<&'static str>,
    /// Whether the listed host was asked for the last thing of all.
    pub(super) reached: bool,
    /// Whether Chromium kept its pages in a sandbox of its own.
    pub(super) is_sandboxed: bool,
    pub(super) took: Duration,
}

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{COUNTED}: {} ways in {:?}: {} arrived, {} were refused, {} were not heard of",
            self.ways,
            self.took,
            self.arrived.len(),
            self.refused.len(),
            self.unheard.len(),
        )?;
        writeln!(f, "arrived: {:#?}", self.arrived)?;
        writeln!(f, "asked for: {:?}, and {:?}", self.asked, self.other_names)?;
        writeln!(f, "not heard of: {:?}", self.unheard)?;
        let some: Vec<_> = self.packets.iter().take(20).collect();
        writeln!(f, "{} packets there: {some:?}", self.packets.len())?;
        write!(f, "packets elsewhere: {:?}", self.elsewhere)
    }
}

/// Which browser tries.
#[derive(Debug, Clone, Copy)]
pub(super) struct Browser {
    pub(super) confine: Confine,
    pub(super) is_fenced: bool,
    pub(super) is_headed: bool,
}

/// Tries all ways.
pub(super) fn told(browser: Browser) -> Told {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(tell(browser))
}

async fn tell(Browser { confine, is_fenced, is_headed }: Browser) -> Told {
    let began = Instant::now();
    let (ways, records) = (Arc::new(Ways::new()), Records::default());
    let packets = Packets::capture();
    names::answer(Arc::clone(&ways), records.clone()).await;
    hosts::listen(&ways, &records).await;
    let trusts = tls::listen(&ways).await;

    let folder = tempfile::tempdir().unwrap();
    let shown = folder.path().join("shown");
    std::fs::create_dir(&shown).unwrap();
    let display = is_headed.then(|| Display::start(folder.path()));
    let mut launch = LaunchOptions {
        confine,
        headed: is_headed,
        folders: vec![Folder { path: shown.clone(), writable: false }],
        extra_args: SWITCHES.iter().map(ToString::to_string).chain([trusts]).collect(),
        ..options(&folder.path().join("profile"))
    };
    let variables = display.iter().map(|display| ("DISPLAY".to_owned(), display.name.clone()));
    launch.inherited.extend(variables);
    let only = Egress { only: vec![LISTED.0.to_owned()], ..Egress::default() };
    let egress = is_fenced.then(|| EgressSpec::of(&only, &KnownProxies::default()).unwrap());
    let browser = BrowserSpec::Launch(Box::new(launch));
    let spec = KeeperSpec { egress, ..spec(folder.path(), browser) };
    let kept = Kept::start(folder, spec).await.unwrap();

    let mut drive = Drive::new(&kept, &ways, &shown).await;
    let tabs = async {
        drive.tabs().await;
        drive.calls().await;
    };
    tokio::join!(drive.one_page(), tabs, drive.contexts());
    println!("{:?}: pages, clients and the node have tried", began.elapsed());
    drive.holds().await;
    // Behind all others, for what it sets holds for the whole browser.
    drive.extension().await;
    println!("{:?}: the extension has tried", began.elapsed());
    // Of those that end by themselves nobody tells; most are heard of.
    let (mut most, mut news) = (0, Instant::now());
    while most < ways.all().len() && news.elapsed() < QUIET {
        tokio::time::sleep(Duration::from_millis(50)).await;
        let now = heard(&kept, &ways, &records, is_fenced).await.len();
        if now > most {
            (most, news) = (now, Instant::now());
        }
    }
    drive.ends().await;
    eventually("the last packet is seen", async || packets.has_end()).await;
    drop(drive);

    let is_sandboxed = is_sandboxed(&kept);
    let refused = refused(&kept, &ways, is_fenced).await;
    let arrived = records.arrivals();
    let heard: BTreeSet<_> = refused.iter().chain(arrived.keys()).copied().collect();
    let unheard = ways.all().iter().map(|way| way.name).filter(|name| !heard.contains(name));
    let unheard = unheard.collect();
    kept.close().await;
    let (asked, other_names) = records.names();
    let all = packets.all();
    let way_of = |packet: &Packet| ways.at(packet.from).or_else(|| ways.at(packet.to));
    let is_known = |address: IpAddr| {
        address.is_loopback() || [RESOLVER, LISTED.1].map(IpAddr::from).contains(&address)
    };
    let is_elsewhere = |packet: &&Packet| {
        way_of(packet).is_none() && !(is_known(packet.from.ip()) && is_known(packet.to.ip()))
    };
    Told {
        ways: ways.all().len(),
        arrived,
        asked,
        other_names,
        packets: all.iter().filter_map(|one| Some((way_of(one)?.name, *one))).collect(),
        elsewhere: all.iter().filter(is_elsewhere).copied().collect(),
        refused,
        unheard,
        reached: records.has_served(END),
        is_sandboxed,
        took: began.elapsed(),
    }
}

/// Whether Chromium keeps the pages of this browser in a sandbox of its own, as its arguments say.
fn is_sandboxed(kept: &Kept) -> bool {
    let pid = kept.ready.browser_pid.unwrap();
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap();
    let line = String::from_utf8_lossy(&line).into_owned();
    assert!(line.contains("--user-data-dir="), "{line}");
    // Chromium writes its arguments anew, with blanks between them.
    line.split(['\0', ' ']).all(|word| word != "--no-sandbox")
}

/// The ways of which somebody has heard by now.
async fn heard(
    kept: &Kept,
    ways: &Ways,
    records: &Records,
    is_fenced: bool,
) -> BTreeSet<&'static str> {
    let arrived = records.arrivals();
    refused(kept, ways, is_fenced).await.into_iter().chain(arrived.into_keys()).collect()
}

/// The ways that the way out was asked for.
async fn refused(kept: &Kept, ways: &Ways, is_fenced: bool) -> BTreeSet<&'static str> {
    if !is_fenced {
        return BTreeSet::new();
    }
    let node = kept.connect(Role::Node).await;
    let told = node.connection.browser().call("Baton.egress", ()).await.unwrap();
    let tallies: Vec<HostTally> = serde_json::from_value(told["hosts"].clone()).unwrap();
    let refused = tallies.into_iter().filter(|tally| tally.refused > 0);
    refused.filter_map(|tally| Some(ways.named(&tally.host?)?.name)).collect()
}
