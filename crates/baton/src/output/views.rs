//! Sessions and who holds them, keys, upstream services and the audit log for people.

use super::table::{Table, short};
use super::{Output, history, table};
use baton_api::sync::{HandedView, Handing, HolderView, SharedView};
use baton_api::upstream::{UpstreamAccess, UpstreamList};
use baton_api::{
    AuditList, AuditView, ContextList, ContextView, DriverView, EgressHost, EgressView, KeyList,
    SessionFiles, SessionList, SessionSummary, SessionView, SnapshotView, Tab,
};
use baton_session::egress::SYSTEM;
use baton_session::{CertificateView, Permission};
use jiff::Timestamp;
use std::cmp::Reverse;

/// One session: where it stands, its tabs, its last snapshot.
pub(crate) fn session(view: &SessionView) -> String {
    let row = &view.session;
    let mut lines =
        vec![format!("{}  {}  {}", row.name, row.state, table::faint(&row.id.to_string()))];
    if !row.description.is_empty() {
        lines.push(table::plain(&row.description));
    }
    let now = Timestamp::now();
    lines.extend(row.agent.as_ref().map(|driver| driven(driver, now)));
    if row.confinement.is_some_and(|rules| !rules.holds()) {
        let text = "not confined: whoever drives its browser has every file of the node's user";
        lines.push(table::doubtful(text));
    }
    if view.attached {
        let text = "no way out of its own: its browser was attached, and goes wherever it likes";
        lines.push(table::doubtful(text));
    }
    lines.push(match &view.snapshot {
        Some(snapshot) => last_snapshot(snapshot, now),
        None => "no snapshot yet".to_owned(),
    });
    lines.extend(view.forecast.as_ref().and_then(|forecast| history::forecast(forecast, now)));
    if let Some(view) = &view.shared {
        lines.extend(shared(view, now));
    }
    if !view.tabs.is_empty() {
        lines.push(tabs(&view.tabs));
    }
    if !view.permissions.is_empty() {
        lines.push(permissions(&view.permissions));
    }
    if !view.certificates.is_empty() {
        lines.push(certificates(&view.certificates));
    }
    if let Some(view) = &view.egress {
        lines.push(egress(view));
    }
    if view.foreign_tabs > 0 {
        let count = view.foreign_tabs;
        lines.push(format!(
            "not kept: {count} tabs in contexts of their own, such as incognito windows; baton \
             sessions contexts {} lists them",
            row.name
        ));
    }
    lines.join("\n")
}

/// A text, and under it what of the snapshot could not be read, or is not in it.
pub(crate) fn with_unread(text: String, snapshot: &SnapshotView) -> String {
    let unread = snapshot.unread.iter().map(|unread| {
        let (place, reason) = (table::plain(&unread.place), table::plain(&unread.reason));
        let what = if unread.lost { "not kept" } else { "not read, kept as last known" };
        format!("\n{what}: {place} ({reason})")
    });
    std::iter::once(text).chain(unread).collect()
}

fn last_snapshot(snapshot: &SnapshotView, now: Timestamp) -> String {
    let (age, size) = (table::age(snapshot.taken_at, now), table::size(snapshot.bytes));
    let shrunk = if snapshot.shrunk { "; shrunk, a resume takes the last good one" } else { "" };
    with_unread(format!("last snapshot {age}, {} parts, {size}{shrunk}", snapshot.parts), snapshot)
}

fn tabs(tabs: &[Tab]) -> String {
    let mut table = Table::new(&["TAB", "TITLE", "ADDRESS"]);
    for (position, tab) in tabs.iter().enumerate() {
        let mark = if tab.active { "*" } else { "" };
        table.row([format!("{}{mark}", position + 1), tab.title.clone(), tab.url.to_string()]);
    }
    table.render()
}

/// The contexts of a browser, a line for each of their tabs.
pub(crate) fn contexts(list: &ContextList) -> String {
    if list.items.is_empty() {
        return "no contexts besides the session's own".to_owned();
    }
    let mut table = Table::new(&["CONTEXT", "TITLE", "ADDRESS"]);
    for ContextView { id, tabs } in &list.items {
        for tab in tabs {
            table.row([id.clone(), tab.title.clone(), tab.url.to_string()]);
        }
        if tabs.is_empty() {
            table.row([id.clone(), String::new(), "no tabs".to_owned()]);
        }
    }
    table.render()
}

fn permissions(permissions: &[Permission]) -> String {
    let mut table = Table::new(&["PERMISSION", "", "SITE"]);
    for permission in permissions {
        let Permission { name, origin, setting, .. } = permission;
        table.row([name.clone(), setting.to_string(), origin.clone()]);
    }
    table.render()
}

/// Where its browser goes, and what it was refused there.
pub(crate) fn egress(view: &EgressView) -> String {
    let hosts = match &view.only[..] {
        [] if view.internet_only => "every host of the internet".to_owned(),
        [] => "every host".to_owned(),
        only => format!("{} alone", only.join(", ")),
    };
    let through = view.proxy.iter().map(|proxy| match proxy.as_str() {
        SYSTEM => ", by the proxies of the node's machine".to_owned(),
        proxy => format!(", through {proxy}"),
    });
    let bytes = view.hosts.iter().map(|host| host.sent + host.received).sum();
    let carried = format!("; {} since its start", table::size(bytes));
    let line: String = ["reaches ".to_owned(), hosts]
        .into_iter()
        .chain(through)
        .chain((!view.hosts.is_empty()).then_some(carried))
        .chain((!view.shut_out.is_empty()).then(|| {
            let sites =
                format!("signed in at {}, which it may not reach", view.shut_out.join(", "));
            format!("\n{}", table::doubtful(&sites))
        }))
        .collect();
    std::iter::once(line).chain(not_reached(&view.hosts)).collect::<Vec<_>>().join("\n")
}

/// How many hosts are shown that were reached; a document has all of them.
const HOSTS: usize = 20;

/// Which hosts a way out reached, and how much went there and came back, the most first; none when it reached none.
pub(crate) fn reached(hosts: &[EgressHost]) -> Option<String> {
    let mut told: Vec<_> = hosts.iter().filter(|host| host.connections > 0).collect();
    told.sort_by_key(|host| Reverse(host.sent + host.received));
    let mut table = Table::new(&["HOST", "REACHED", "SENT", "RECEIVED"]);
    for host in told.iter().take(HOSTS) {
        table.row([
            host_name(host),
            host.connections.to_string(),
            table::size(host.sent),
            table::size(host.received),
        ]);
    }
    let more = told.len().checked_sub(HOSTS).filter(|more| *more > 0);
    let more = more.map(|more| format!("\nand {more} more hosts; --json has all"));
    (!told.is_empty()).then(|| table.render() + &more.unwrap_or_default())
}

/// A host and its port.
fn host_name(host: &EgressHost) -> String {
    host.host.clone().unwrap_or_else(|| "other hosts".to_owned())
}

/// What a way out refused or did not get through to; none when there is nothing.
pub(crate) fn not_reached(hosts: &[EgressHost]) -> Option<String> {
    let mut table = Table::new(&["NOT REACHED", "TRIES", "WHY"]);
    let is_told = |host: &&EgressHost| host.refused + host.failed > 0;
    let told: Vec<_> = hosts.iter().filter(is_told).collect();
    for host in &told {
        table.row([
            host_name(host),
            (host.refused + host.failed).to_string(),
            host.why.clone().unwrap_or_default(),
        ]);
    }
    (!told.is_empty()).then(|| table.render())
}

/// Whom its browser trusts beside its maker's list.
fn certificates(certificates: &[CertificateView]) -> String {
    let mut table = Table::new(&["TRUSTED CERTIFICATE", "FOR", "ENDS", "SHA-256"]);
    for certificate in certificates {
        let sites = if certificate.authority {
            "every site that it signs for".to_owned()
        } else {
            certificate.names.join(" ")
        };
        table.row([
            certificate.subject.clone(),
            sites,
            certificate.ends.map(|at| at.strftime("%F").to_string()).unwrap_or_default(),
            format!("{:.16}", certificate.sha256.to_string()),
        ]);
    }
    table.render()
}

/// A list of sessions.
pub(crate) fn sessions(list: &SessionList, output: Output) -> String {
    if list.items.is_empty() {
        return "no sessions; baton open https://example.org --name NAME opens one".to_owned();
    }
    if list.next.is_some() {
        output.note("there are more sessions than are shown");
    }
    let now = Timestamp::now();
    let mut table = Table::new(&["NAME", "STATE", "CHANGED", "ID", "DESCRIPTION"]);
    for row in &list.items {
        table.row([
            row.name.to_string(),
            standing(row),
            table::age(row.updated_at, now),
            row.id.to_string(),
            row.description.clone(),
        ]);
    }
    table.render()
}

/// Where a session stands, who drives it, and whether its browser is kept from this machine's files.
fn standing(row: &SessionSummary) -> String {
    let driver = row.agent.as_ref().map(|driver| driver.agent.to_string());
    let open = row.confinement.is_some_and(|rules| !rules.holds());
    let open = open.then(|| "not confined".to_owned());
    [Some(row.state.to_string()), driver, open].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// The files of a session.
pub(crate) fn files(list: &SessionFiles) -> String {
    if list.items.is_empty() {
        return "no files; baton sessions files put ID PATH puts one there".to_owned();
    }
    let now = Timestamp::now();
    let mut table = Table::new(&["NAME", "SIZE", "CHANGED"]);
    for file in &list.items {
        table.row([
            table::plain(&file.name),
            table::size(file.bytes),
            table::age(file.changed_at, now),
        ]);
    }
    table.render()
}

/// A list of keys.
pub(crate) fn keys(list: &KeyList) -> String {
    let now = Timestamp::now();
    let mut table = Table::new(&["NAME", "ID", "OWNER", "SCOPES", "MADE", "REVOKED"]);
    for key in &list.items {
        let scopes: Vec<&str> = key.scopes.iter().map(|scope| scope.as_str()).collect();
        table.row([
            key.name.clone(),
            key.id.clone(),
            key.owner.to_string(),
            scopes.join(" "),
            table::age(key.created_at, now),
            key.revoked_at.map(|at| table::age(at, now)).unwrap_or_default(),
        ]);
    }
    table.render()
}

/// A list of upstream services, each with the address where a person begins.
pub(crate) fn upstreams(list: &UpstreamList) -> String {
    let mut table = Table::new(&["ID", "SERVICE", "FOR", "LOOK IN", "OPEN"]);
    for service in &list.items {
        let access = match service.access {
            UpstreamAccess::Loopback => "this machine",
            UpstreamAccess::Key => "keys",
        };
        let is_seen = service.browser_debug.enabled.unwrap_or_default();
        table.row([
            service.id.to_string(),
            service.upstream.to_string(),
            access.to_owned(),
            if is_seen { "yes" } else { "no" }.to_owned(),
            service.urls.first().map_or_else(|| "no proxy".to_owned(), ToString::to_string),
        ]);
    }
    table.render()
}

/// A page of the audit log.
pub(crate) fn audit(list: &AuditList, output: Output) -> String {
    if list.next.is_some() {
        output.note("there are more entries than are shown; --limit shows more");
    }
    let mut table = Table::new(&["WHEN", "OWNER", "WHO", "WHAT", "SUBJECT", "HOW IT ENDED"]);
    for entry in &list.items {
        table.row([
            entry.at.strftime("%Y-%m-%d %H:%M:%SZ").to_string(),
            entry.owner.to_string(),
            who(entry).to_owned(),
            entry.action.clone(),
            subject(entry),
            ended(entry),
        ]);
    }
    table.render()
}

/// Who did it, by name; the document has the id of the key as well.
fn who(entry: &AuditView) -> &str {
    entry.actor.split_once(" (").map_or(&*entry.actor, |(name, _)| name)
}

/// A reader knows things by their names; the id tells apart those that share one.
fn subject(entry: &AuditView) -> String {
    match entry.detail["name"].as_str() {
        Some(name) if name != entry.subject => {
            format!("{name} {}", table::start(&entry.subject, table::SHORTEST))
        }
        _ => entry.subject.clone(),
    }
}

fn ended(entry: &AuditView) -> String {
    match entry.detail["code"].as_str() {
        Some(code) => format!("{}: {code}", entry.outcome),
        None => entry.outcome.to_string(),
    }
}

/// The lines of a session that is shared.
fn shared(view: &SharedView, now: Timestamp) -> Vec<String> {
    let rev = short(&view.rev, &[]);
    let mut lines = vec![match &view.held_by {
        Some(holder) => format!("shared, revision {rev}; {}", held(holder, now)),
        None => format!("shared, revision {rev}; no node holds it"),
    }];
    if view.deleted {
        lines.push(table::doubtful(
            "it was deleted at another node: the next resume removes it, and baton save keeps it",
        ));
    } else if view.based_on.is_some() {
        lines.push(table::doubtful(
            "a newer revision came from another node: the next resume brings it back",
        ));
    }
    if !view.conflicts.is_empty() {
        let told = "somebody has to choose; baton sync conflicts shows from what";
        lines.push(table::doubtful(told));
    }
    lines
}

fn held(holder: &HolderView, now: Timestamp) -> String {
    let since = table::age(holder.since, now);
    match &holder.name {
        _ if holder.here => format!("this node holds it, taken {since}"),
        Some(name) => format!("{} holds it, taken {since}", table::plain(name)),
        None => format!("node {} holds it, taken {since}", holder.node_id),
    }
}

/// Which agent drives a session.
fn driven(driver: &DriverView, now: Timestamp) -> String {
    let DriverView { agent, since, reason, .. } = driver;
    let told = format!("{agent} drives it, taken {}", table::age(*since, now));
    if reason.is_empty() { told } else { format!("{told}: {}", table::plain(reason)) }
}

/// How a session came from the node that held it.
pub(super) fn handed(view: &HandedView) -> String {
    let name = table::plain(&view.name);
    match view.how {
        Handing::HandedOver => table::good(&format!("{name} saved the session and handed it over")),
        Handing::TakenOver => table::doubtful(&format!(
            "{name} held the session and does not answer: taken over as it was saved last"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::{handed, shared};
    use baton_api::sync::{HandedView, Handing, HolderView, SharedView};
    use jiff::Timestamp;

    #[test]
    fn it_is_told_who_holds_a_session() {
        let node_id = "0197c0de-0000-8000-8000-000000000001".parse().unwrap();
        let since = Timestamp::from_second(1_000_000).unwrap();
        let now = Timestamp::from_second(1_000_300).unwrap();
        let rev = |digit: &str| format!("3-{}", digit.repeat(64)).parse().unwrap();
        let held = |name: Option<&str>, here| {
            Some(HolderView { node_id, name: name.map(str::to_owned), here, since })
        };
        let view = |held_by| {
            let (based_on, conflicts) = (None, Vec::new());
            SharedView { rev: rev("a"), based_on, deleted: false, conflicts, held_by }
        };
        let conflicts = vec![rev("b")];
        let newer = SharedView { based_on: Some(rev("c")), conflicts, ..view(held(None, true)) };
        let cloud = view(held(Some("cloud"), false));
        let gone = SharedView { based_on: Some(rev("c")), deleted: true, ..view(None) };
        let all = [view(None), newer, cloud, view(held(None, false)), gone];
        let lines: Vec<String> = all.iter().flat_map(|view| shared(view, now)).collect();
        insta::assert_snapshot!(lines.join("\n"), @r"
        shared, revision 3-aaaaaaaa; no node holds it
        shared, revision 3-aaaaaaaa; this node holds it, taken 5 min ago
        a newer revision came from another node: the next resume brings it back
        somebody has to choose; baton sync conflicts shows from what
        shared, revision 3-aaaaaaaa; cloud holds it, taken 5 min ago
        shared, revision 3-aaaaaaaa; node 0197c0de-0000-8000-8000-000000000001 holds it, taken 5 min ago
        shared, revision 3-aaaaaaaa; no node holds it
        it was deleted at another node: the next resume removes it, and baton save keeps it
        ");
        let told = [Handing::HandedOver, Handing::TakenOver]
            .map(|how| handed(&HandedView { node_id, name: "cloud".to_owned(), how }));
        insta::assert_snapshot!(told.join("\n"), @r"
        cloud saved the session and handed it over
        cloud held the session and does not answer: taken over as it was saved last
        ");
    }
}
