//! Makes one state of two that come from a third.
//!
//! The one idea: the unit is the registrable site, as a whole. Refresh tokens rotate, so a cookie of
//! one side beside a token of the other logs both sides out. A site that only one side changed comes
//! from that side; one that both changed, in different ways, from the winner. What is deleted on one
//! side and untouched on the other is deleted.
//!
//! Whose something is says its own host, also inside of another site: cookies and storage of a frame
//! belong to the frame's site, in every partition, because its server logs in there, and a token in
//! one partition may be rotated through another.
//!
//! Rooms: `slice` is what belongs to one site, `tabs` are those of one side with the sessionStorage
//! of both, `decision` is what was decided,
//! and `views` come before all that where a revision speaks of a part of a session.

use super::knowledge::Knowledge;
use super::vector::{Order, Vector};
use crate::cookie::Cookie;
use crate::egress::Egress;
use crate::id::PartHash;
use crate::json;
use crate::permission::Permission;
use crate::state::{Environment, OriginState, State};
use crate::storage::{Entries, Site, StorageKey};
use crate::tab::{History, Tab};
use crate::text_form::{InvalidText, parse_hex, text_form};
use crate::view::{StateKind, View, mix};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

/// A state that was made of two.
#[derive(Debug, Clone, PartialEq)]
pub struct Merged {
    /// The state.
    pub state: State,
    /// Whether the loser had something that the state has not, so that the loser has to be kept.
    pub lost: bool,
    /// What was decided, about sites, the list of tabs and the environment.
    pub decisions: Decisions,
    /// The sites in which the two differed, and from which side each of them comes.
    pub sites: Vec<(Site, MergedFrom)>,
}

/// From which side a site comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MergedFrom {
    /// From the winner, the only one who changed it.
    Winner,
    /// From the loser, the only one who changed it.
    Loser,
    /// From the winner; the loser had changed it too.
    Contested,
}

/// The sites in which two states differ.
type Sites = BTreeMap<Site, MergedFrom>;

/// Makes one state of two that come from `base`.
pub fn merge(base: &State, winner: &State, loser: &State) -> Merged {
    let [base, winner, loser] = [base, winner, loser].map(normalized);
    let sites = sites(&base, &winner, &loser);
    let (environment, environment_decision) = environment(&base, &winner, &loser);
    let (tabs, tabs_from) = merge_tabs(&base, &winner, &loser, &sites);
    let tabs_decision = tabs_from.map(|from| {
        let [taken, beaten] = [&tabs, &loser.tabs].map(Saying::of);
        Decision { from, taken, beaten }
    });
    let others = [(Topic::tabs(), tabs_decision), (Topic::environment(), environment_decision)];
    let others = others.into_iter().filter_map(|(topic, decision)| Some((topic, decision?)));
    let decisions = Decisions::new(about_sites(&sites, &winner, &loser).into_iter().chain(others));
    let mut state = State { tabs, environment, ..State::default() };
    adopt_sites(&mut state, winner, |site| sites.get(site) != Some(&MergedFrom::Loser));
    adopt_sites(&mut state, loser, |site| sites.get(site) == Some(&MergedFrom::Loser));
    state.normalize();
    let lost = !decisions.left_out().is_empty();
    Merged { state, lost, decisions, sites: sites.into_iter().collect() }
}

fn normalized(state: &State) -> State {
    let mut state = state.clone();
    state.normalize();
    state
}

/// From which side each site comes in which the two differ.
fn sites(base: &State, winner: &State, loser: &State) -> Sites {
    let [base, winner, loser] = [base, winner, loser].map(slices);
    let named: BTreeSet<&Site> = winner.keys().chain(loser.keys()).collect();
    let nothing = Slice::default();
    let side_of = |site: &Site| {
        let [base, winner, loser] =
            [&base, &winner, &loser].map(|of| of.get(site).unwrap_or(&nothing));
        side(base, winner, loser)
    };
    named.into_iter().filter_map(|site| Some((site.clone(), side_of(site)?))).collect()
}

/// What was decided about sites.
fn about_sites(sites: &Sites, winner: &State, loser: &State) -> Vec<(Topic, Decision)> {
    let [winner, loser] = [winner, loser].map(slices);
    let nothing = Slice::default();
    let decision = |(site, from): (&Site, &MergedFrom)| {
        let [won, beaten] =
            [&winner, &loser].map(|of| Saying::of(of.get(site).unwrap_or(&nothing)));
        let taken = if *from == MergedFrom::Loser { beaten } else { won };
        (Topic::site(site), Decision { from: *from, taken, beaten })
    };
    sites.iter().map(decision).collect()
}

/// From which side something comes; none when both have the same.
fn side<T: PartialEq>(base: &T, winner: &T, loser: &T) -> Option<MergedFrom> {
    match (winner == loser, winner == base, loser == base) {
        (true, _, _) => None,
        (false, true, _) => Some(MergedFrom::Loser),
        (false, false, true) => Some(MergedFrom::Winner),
        (false, false, false) => Some(MergedFrom::Contested),
    }
}

/// The environment as a whole, without what sites may do; and what was decided about it. Of the browser that
/// it was signed in with nothing is: both are right.
fn environment(base: &State, winner: &State, loser: &State) -> (Environment, Option<Decision>) {
    let alone = |state: &State| Environment {
        permissions: Vec::new(),
        browser: None,
        ..state.environment.clone()
    };
    let signed_in = |state: &State| state.environment.browser.clone();
    let [before, first, second] = [base, winner, loser].map(signed_in);
    let is_second = side(&before, &first, &second) == Some(MergedFrom::Loser);
    let browser = if is_second { second } else { first };
    let [base, mut winner, mut loser] = [base, winner, loser].map(alone);
    let from = side(&base, &winner, &loser);
    winner.browser.clone_from(&browser);
    loser.browser = browser;
    let Some(from) = from else { return (winner, None) };
    let beaten = Saying::of(&loser);
    let taken = if from == MergedFrom::Loser { loser } else { winner };
    let decision = Decision { from, taken: Saying::of(&taken), beaten };
    (taken, Some(decision))
}

/// Takes from `other` what belongs to some sites, tabs aside.
fn adopt_sites(state: &mut State, other: State, is_from: impl Fn(&Site) -> bool) {
    let cookies = other.cookies.into_iter();
    state.cookies.extend(cookies.filter(|cookie| is_from(&cookie.site())));
    state.origins.extend(other.origins.into_iter().filter(|(key, _)| is_from(&key.site())));
    let permissions = other.environment.permissions.into_iter();
    let permissions = permissions.filter(|one| is_from(&Site::of_origin(&one.origin)));
    state.environment.permissions.extend(permissions);
}

/// What one decision is about: a site, the list of tabs or the environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Topic([u8; 4]);

/// What one side says about a topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Saying([u8; 16]);

/// Something that a merge left out: about what, and what it said. In text both as hexadecimal digits
/// of hashes, `<8>-<32>`, because headers of revisions name no sites.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct LeftOut {
    topic: Topic,
    said: Saying,
}

/// One decision of a merge.
///
/// A revision tells of it, so that no person is asked about what was answered, or about what is not left out
/// any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Decision {
    /// From which side it comes.
    from: MergedFrom,
    /// What the merge says.
    taken: Saying,
    /// What the loser said.
    beaten: Saying,
}

/// The decisions of a merge: one for each topic in which the two sides differ.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Decisions(BTreeMap<Topic, Decision>);

impl Topic {
    fn of(text: &str) -> Self {
        let [a, b, c, d, ..] = PartHash::of(text.as_bytes()).0;
        Self([a, b, c, d])
    }

    /// What belongs to a site.
    fn site(site: &Site) -> Self {
        Self::of(&format!("site {site}"))
    }

    /// The list of tabs.
    fn tabs() -> Self {
        Self::of("tabs")
    }

    /// The environment.
    fn environment() -> Self {
        Self::of("environment")
    }
}

impl Saying {
    /// What is said, as canonical JSON (RFC 8785), hashed.
    fn of(said: &impl Serialize) -> Self {
        let hash = PartHash::of(&json::canonical(said)).0;
        Self(std::array::from_fn(|at| hash[at]))
    }
}

impl Decisions {
    fn new(decisions: impl IntoIterator<Item = (Topic, Decision)>) -> Self {
        Self(decisions.into_iter().collect())
    }

    /// What the loser had that is left out.
    pub fn left_out(&self) -> BTreeSet<LeftOut> {
        let contested = self.0.iter().filter(|(_, one)| one.from == MergedFrom::Contested);
        contested.map(|(topic, one)| LeftOut { topic: *topic, said: one.beaten }).collect()
    }

    /// Whether the merge says what was left out before.
    pub(super) fn says(&self, left: &LeftOut) -> bool {
        self.0.get(&left.topic).is_some_and(|decision| decision.taken == left.said)
    }

    /// Whether anything that these are about, or anything at all where that is not known, comes from the
    /// loser; or else from the winner.
    pub(super) fn takes(&self, about: Option<&BTreeSet<LeftOut>>, from_loser: bool) -> bool {
        let is_about =
            |topic| about.is_none_or(|about| about.iter().any(|left| left.topic == topic));
        let is_from = |one: &Decision| (one.from == MergedFrom::Loser) == from_loser;
        self.0.iter().any(|(topic, one)| is_about(*topic) && is_from(one))
    }
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.topic.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
        f.write_str("-")?;
        self.said.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for LeftOut {
    type Err = InvalidText;

    fn from_str(text: &str) -> Result<Self, InvalidText> {
        let parsed = text.split_once('-').and_then(|(topic, said)| {
            Some(Self { topic: Topic(parse_hex(topic)?), said: Saying(parse_hex(said)?) })
        });
        parsed.ok_or(InvalidText("what was left out: 8 hexadecimal digits, '-' and 32"))
    }
}

text_form!(LeftOut);

/// What belongs to one site.
#[derive(Debug, Default, PartialEq, Serialize)]
struct Slice<'a> {
    cookies: Vec<&'a Cookie>,
    origins: Vec<(&'a StorageKey, &'a OriginState)>,
    permissions: Vec<&'a Permission>,
    /// The sessionStorage of all tabs, in their order.
    session_storage: Vec<(&'a StorageKey, &'a Entries)>,
}

/// What belongs to each site of a state in normal form.
fn slices(state: &State) -> BTreeMap<Site, Slice<'_>> {
    let mut slices: BTreeMap<Site, Slice<'_>> = BTreeMap::new();
    for cookie in &state.cookies {
        slices.entry(cookie.site()).or_default().cookies.push(cookie);
    }
    // A side that only set them anew changed nothing, and what an older version wrote knows no order.
    for slice in slices.values_mut() {
        slice.cookies.sort_by_key(|cookie| cookie.key());
    }
    for (key, origin) in &state.origins {
        slices.entry(key.site()).or_default().origins.push((key, origin));
    }
    for permission in &state.environment.permissions {
        let site = Site::of_origin(&permission.origin);
        slices.entry(site).or_default().permissions.push(permission);
    }
    for (key, entries) in state.tabs.iter().flat_map(|tab| &tab.session_storage) {
        slices.entry(key.site()).or_default().session_storage.push((key, entries));
    }
    slices
}

/// The tabs of two states that come from `base`, and from which side; contested when something of the
/// loser is lost.
///
/// Which tabs there are is one decision, so the list of one side is taken as a whole. The sessionStorage
/// in them belongs to its site, and may have to come from the other side: then it goes into the tab that
/// shows the same address there. What finds no tab is never the winner's, and the loser is kept for its
/// sake.
fn merge_tabs(
    base: &State,
    winner: &State,
    loser: &State,
    sites: &Sites,
) -> (Vec<Tab>, Option<MergedFrom>) {
    let [old, won, beaten] = [base, winner, loser].map(outline);
    let is_loser = |site: &Site| sites.get(site) == Some(&MergedFrom::Loser);
    let is_winner = |site: &Site| sites.get(site).is_some_and(|side| *side != MergedFrom::Loser);
    let side = side(&old, &won, &beaten);
    if side == Some(MergedFrom::Loser) {
        let (tabs, unplaced) = fill(loser, winner, is_winner);
        if unplaced == 0 {
            return (tabs, side);
        }
    }
    let (tabs, unplaced) = fill(winner, loser, is_loser);
    let is_list_lost = matches!(side, Some(MergedFrom::Loser | MergedFrom::Contested));
    let is_lost = is_list_lost || unplaced > 0;
    (tabs, if is_lost { Some(MergedFrom::Contested) } else { side })
}

/// What makes the list of tabs: all but their sessionStorage, and the numbers that one browser gave.
fn outline(state: &State) -> Vec<(&str, &str, bool, History)> {
    let history = |tab: &Tab| {
        let mut history = tab.history.clone();
        history.entries.iter_mut().for_each(|entry| entry.id = 0);
        history
    };
    let tabs = state.tabs.iter();
    tabs.map(|tab| (tab.url.as_str(), tab.title.as_str(), tab.active, history(tab))).collect()
}

/// The tabs of one side with the sessionStorage that comes from the other, and how much of that found
/// no tab.
fn fill(own: &State, other: &State, is_from_other: impl Fn(&Site) -> bool) -> (Vec<Tab>, usize) {
    let mut tabs = own.tabs.clone();
    for tab in &mut tabs {
        tab.session_storage.retain(|key, _| !is_from_other(&key.site()));
    }
    let mut is_used = vec![false; tabs.len()];
    let mut unplaced = 0;
    for from in &other.tabs {
        let mut places = tabs.iter_mut().zip(&mut is_used);
        let place = places.find(|(tab, is_used)| !**is_used && tab.url == from.url);
        let storage = from.session_storage.iter().filter(|(key, _)| is_from_other(&key.site()));
        let storage = storage.map(|(key, entries)| (key.clone(), entries.clone()));
        match place {
            Some((tab, is_used)) => {
                *is_used = true;
                tab.session_storage.extend(storage);
            }
            None => unplaced += storage.count(),
        }
    }
    (tabs, unplaced)
}

/// A revision with what it says.
#[derive(Debug, Clone, Copy)]
pub struct Side<'a> {
    /// Where it speaks, and how far it had come there.
    pub knowledge: &'a Knowledge,
    /// What it says.
    pub state: &'a State,
}

/// Who is ahead in a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ahead {
    Frame,
    Other,
    Nobody,
}

/// Makes one state of two that come from `base` in every place in which neither has seen the other; none
/// when there is no such place.
///
/// In every place one side is ahead, or neither. Where one of the two has seen the other, or alone speaks, it
/// says what counts, and nothing is to be decided. What is left is merged as ever.
pub fn merge_views(base: Option<&State>, winner: Side<'_>, loser: Side<'_>) -> Merged {
    // The one that speaks of more says where tabs stand.
    let is_frame = winner.knowledge.speaks_of(loser.knowledge);
    let (frame, other) = if is_frame { (winner, loser) } else { (loser, winner) };
    let ahead = |site: Option<&Site>, kind| {
        let place = (site, kind);
        ahead(frame.knowledge.at(place), other.knowledge.at(place))
    };
    let mut settled = mix(other.state, frame.state, |site, kind| ahead(site, kind) == Ahead::Other);
    let is_open = |site: Option<&Site>, kind: StateKind| ahead(site, kind) == Ahead::Nobody;
    let mut opened = mix(other.state, &settled, is_open);
    let nothing = State::default();
    let base = base.unwrap_or(&nothing);
    let mut before = mix(&seen_by(other.knowledge, base), &settled, is_open);
    let states = [&mut settled, &mut opened, &mut before];
    for (state, egress) in states.into_iter().zip(ways_out(frame, other, base)) {
        state.environment.egress = egress;
    }
    let (winner, loser) = if is_frame { (&settled, &opened) } else { (&opened, &settled) };
    merge(&before, winner, loser)
}

/// The way out of what is settled, of what is open, and of what both come from.
///
/// Who speaks of the whole session says what it is. A part only has it along, so that who has the part goes by
/// it: none there is no removal, and another one no news. Of two parts, the one that has it counts.
fn ways_out(frame: Side<'_>, other: Side<'_>, base: &State) -> [Option<Egress>; 3] {
    let of = |state: &State| state.environment.egress.clone();
    let known = of(frame.state);
    let completed = |state: &State| Some(of(state)?.completed_by(known.as_ref()));
    let said = completed(other.state);
    let whole = View::whole();
    let [by_frame, by_other] = [frame, other].map(|side| side.knowledge.throughout(&whole));
    let is_by_frame = by_frame.is_some();
    match ahead(by_frame, by_other) {
        Ahead::Nobody => [known.clone(), said, completed(base)],
        Ahead::Other => [said.clone(), said.clone(), said],
        Ahead::Frame if is_by_frame => [known.clone(), known.clone(), known],
        Ahead::Frame => {
            let either = known.or(said);
            [either.clone(), either.clone(), either]
        }
    }
}

/// Who is ahead, by how far each has come where it speaks; the frame where the other says nothing.
fn ahead(frame: Option<Vector>, other: Option<Vector>) -> Ahead {
    match (frame, other) {
        (_, None) => Ahead::Frame,
        (None, Some(_)) => Ahead::Other,
        (Some(frame), Some(other)) => match frame.compare(&other) {
            Order::After | Order::Equal => Ahead::Frame,
            Order::Before => Ahead::Other,
            Order::Concurrent => Ahead::Nobody,
        },
    }
}

/// What of a state a node sees.
pub fn seen_by(knowledge: &Knowledge, state: &State) -> State {
    let seen = State::default();
    let mut seen = knowledge
        .views()
        .fold(seen, |seen, view| mix(&view.of(state), &seen, |site, kind| view.has(site, kind)));
    let ways_out = knowledge.views().filter_map(|view| view.way_out(state));
    seen.environment.egress = ways_out.reduce(|one, other| one.completed_by(Some(&other)));
    seen
}

/// Whether a state has nothing that a revision does not speak of. Its way out goes along with every revision,
/// and an older node gives the credentials of its proxy along.
pub fn is_within(knowledge: &Knowledge, state: &State) -> bool {
    let mut seen = seen_by(knowledge, state);
    seen.environment.egress.clone_from(&state.environment.egress);
    seen == *state
}
