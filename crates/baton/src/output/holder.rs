//! Who holds a session: which node of several, and which agent of several at this node.

use super::rev::short;
use super::style;
use baton_api::DriverView;
use baton_api::sync::{HandedView, Handing, HolderView, SharedView};
use jiff::Timestamp;

/// The lines of a session that is shared.
pub(super) fn shared(view: &SharedView, now: Timestamp) -> Vec<String> {
    let rev = short(&view.rev, &[]);
    let mut lines = vec![match &view.held_by {
        Some(holder) => format!("shared, revision {rev}; {}", held(holder, now)),
        None => format!("shared, revision {rev}; no node holds it"),
    }];
    if view.deleted {
        lines.push(style::doubtful(
            "it was deleted at another node: the next resume removes it, and baton save keeps it",
        ));
    } else if view.based_on.is_some() {
        lines.push(style::doubtful(
            "a newer revision came from another node: the next resume brings it back",
        ));
    }
    if !view.conflicts.is_empty() {
        let told = "somebody has to choose; baton sync conflicts shows from what";
        lines.push(style::doubtful(told));
    }
    lines
}

fn held(holder: &HolderView, now: Timestamp) -> String {
    let since = style::age(holder.since, now);
    match &holder.name {
        _ if holder.here => format!("this node holds it, taken {since}"),
        Some(name) => format!("{} holds it, taken {since}", style::plain(name)),
        None => format!("node {} holds it, taken {since}", holder.node_id),
    }
}

/// Which agent drives a session.
pub(super) fn driven(driver: &DriverView, now: Timestamp) -> String {
    let DriverView { agent, since, reason, .. } = driver;
    let told = format!("{agent} drives it, taken {}", style::age(*since, now));
    if reason.is_empty() { told } else { format!("{told}: {}", style::plain(reason)) }
}

/// How a session came from the node that held it.
pub(super) fn handed(view: &HandedView) -> String {
    let name = style::plain(&view.name);
    match view.how {
        Handing::HandedOver => style::good(&format!("{name} saved the session and handed it over")),
        Handing::TakenOver => style::doubtful(&format!(
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
