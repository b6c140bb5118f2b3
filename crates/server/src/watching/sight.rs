//! How much of a session somebody sees and may do: all of it, or, for a guest, one tab at some sites.
//!
//! The one idea: what a viewer is told and what of theirs is heard goes through here, so a guest's restriction is
//! where all of it passes and not in each message's handling.

use super::words;
use crate::asking::{Ask, AskVisit};
use baton_api::live::{LiveKey, LiveMouse, LiveTab, LiveTabs, MouseKind, ViewerMessage};
use baton_browser::TargetId;
use baton_browser::screen::{
    Chooser, PermissionQuestion, ScreenFrame, ScreenState, ScreenTab, TabAddress,
};
use baton_session::AgentName;
use std::sync::Arc;

/// What is seen.
pub(crate) enum Sight {
    /// All that there is.
    Whole,
    /// One tab, as far as it is at some sites.
    Guest(Guest),
}

/// A guest at an ask.
pub(crate) struct Guest {
    ask: Arc<Ask>,
    /// Their name.
    pub(super) name: AgentName,
    tab: TargetId,
    /// This one picture of theirs.
    pub(super) visit: AskVisit,
}

impl Guest {
    /// The guest who opened an ask; none where nobody did, or it has ended.
    pub(crate) fn of(ask: &Arc<Ask>) -> Option<Self> {
        // Counted first: who ends it waits for whoever is counted, and whoever comes later sees that.
        let visit = ask.visit();
        let opened = ask.opened_by().filter(|_| !ask.is_ending())?;
        Some(Self { ask: Arc::clone(ask), name: opened.name, tab: opened.tab, visit })
    }

    /// What they do.
    pub(super) fn ask(&self) -> &Arc<Ask> {
        &self.ask
    }

    /// Whether a document is part of the ask, and so is the page around it: of others they are asked nothing.
    fn is_part(&self, origin: &str, within: Option<&str>) -> bool {
        let places: Vec<_> = [origin].into_iter().chain(within).map(TabAddress::of).collect();
        self.ask.sites.have(&places)
    }

    /// Whether they are asked what a site may.
    fn is_asked(&self, question: &PermissionQuestion) -> bool {
        self.is_part(&question.origin, question.within.as_deref())
    }

    /// Whether they are asked for these files.
    fn is_asked_for(&self, chooser: &Chooser) -> bool {
        self.ask.files && self.is_part(&chooser.origin, chooser.within.as_deref())
    }

    /// The one tab.
    fn tab<'s>(&self, state: &'s ScreenState) -> Option<&'s ScreenTab> {
        state.tabs.iter().find(|tab| tab.target == self.tab)
    }
}

impl Sight {
    /// What of the browser is told.
    pub(super) fn tabs(&self, state: &ScreenState) -> LiveTabs {
        let Self::Guest(guest) = self else { return words::tabs(state) };
        let Some(tab) = guest.tab(state) else {
            return LiveTabs { tabs: Vec::new(), front: None, bad_pictures: 0, away: None };
        };
        let away = guest.ask.sites.away(tab.addresses());
        let mut told = words::tab(tab);
        // Who sees one site needs no address, and none may lie in it that opens something. A page without a title is
        // called by it.
        told.url = LiveTab::address("");
        if let Some(address) = tab.addresses().into_iter().find(|it| it.is_title(&tab.title)) {
            address.host().unwrap_or_default().clone_into(&mut told.title);
        }
        if away.is_some() {
            (told.title, told.dialog, told.chooser) = (String::new(), None, None);
            told.permission = None;
        }
        if tab.chooser.as_ref().is_some_and(|chooser| !guest.is_asked_for(chooser)) {
            told.chooser = None;
        }
        if tab.permission.as_ref().is_some_and(|question| !guest.is_asked(question)) {
            told.permission = None;
        }
        let front = state.front.filter(|front| *front == tab.number);
        LiveTabs { tabs: vec![told], front, bad_pictures: 0, away }
    }

    /// Whether a picture is shown: one that was made while its tab was at a site that is, as it is now.
    pub(super) fn shows(&self, frame: &ScreenFrame, state: &ScreenState) -> bool {
        let Self::Guest(guest) = self else { return true };
        let sites = &guest.ask.sites;
        guest.tab(state).is_some_and(|tab| {
            tab.number == frame.tab
                && frame.is_of_them
                && sites.have(tab.addresses())
                && sites.have(&frame.addresses)
        })
    }

    /// Whether a message is heard, or why not.
    pub(super) fn hears(&self, message: &ViewerMessage, state: &ScreenState) -> Result<(), String> {
        let Self::Guest(guest) = self else { return Ok(()) };
        let Some(number) = tab_of(message) else {
            return Err(
                "expected what a guest may do with one tab, found something else".to_owned()
            );
        };
        let own = guest.tab(state).filter(|tab| tab.number == number);
        let Some(tab) = own else {
            return Err("expected the tab of the ask, found another one".to_owned());
        };
        if pastes(message) {
            return Err(
                "expected what a guest pastes as text, found what pastes from the session's machine"
                    .to_owned(),
            );
        }
        match message {
            // These only lead back to where they may be.
            ViewerMessage::Step { .. } | ViewerMessage::Front { .. } => return Ok(()),
            ViewerMessage::Choose { files, .. }
                if !guest.ask.files || !guest.ask.has_given(files) =>
            {
                return Err(
                    "expected files that the guest gave when files were asked for, found others"
                        .to_owned(),
                );
            }
            // The number is looked at, too: by the time that it is done another document may ask.
            ViewerMessage::Choose { question, .. }
                if tab.chooser.as_ref().is_none_or(|chooser| {
                    chooser.number != *question || !guest.is_asked_for(chooser)
                }) =>
            {
                return Err("expected a question for files of a site that is part of what was asked, found one \
                     that is over, or of another site"
                    .to_owned());
            }
            ViewerMessage::Permit { question, .. }
                if tab
                    .permission
                    .as_ref()
                    .is_none_or(|asked| asked.number != *question || !guest.is_asked(asked)) =>
            {
                return Err("expected a question of a site that is part of what was asked, found one that is over, \
                     or of another site"
                    .to_owned());
            }
            _ => {}
        }
        match guest.ask.sites.away(tab.addresses()) {
            None => Ok(()),
            Some(place) => Err(format!(
                "expected a site that is part of what was asked, found {place}, which is not\ngo back"
            )),
        }
    }

    /// Questions that a guest is not asked, and nobody else is while they drive: their tabs, and their numbers.
    pub(super) fn unasked(&self, state: &ScreenState) -> Vec<(u32, u64)> {
        let Self::Guest(guest) = self else { return Vec::new() };
        let standing = state.tabs.iter().filter_map(|tab| Some((tab, tab.permission.as_ref()?)));
        let unasked = standing.filter(|(tab, question)| {
            let is_seen = tab.target == guest.tab && guest.ask.sites.have(tab.addresses());
            !is_seen || !guest.is_asked(question)
        });
        unasked.map(|(tab, question)| (tab.number, question.number)).collect()
    }

    /// Whether a guest may be led to this address.
    pub(super) fn leads_to(&self) -> impl Fn(&TabAddress) -> bool + Send + use<> {
        let sites = match self {
            Self::Whole => None,
            Self::Guest(guest) => Some(guest.ask.sites.clone()),
        };
        move |address| sites.as_ref().is_none_or(|sites| sites.have([address]))
    }

    /// The guest, if it is one.
    pub(super) fn guest(&self) -> Option<&Guest> {
        match self {
            Self::Whole => None,
            Self::Guest(guest) => Some(guest),
        }
    }

    /// The number of a guest's tab, where another one is in front.
    pub(super) fn behind(&self, state: &ScreenState) -> Option<u32> {
        let number = self.guest()?.tab(state)?.number;
        (state.front.is_some() && state.front != Some(number)).then_some(number)
    }
}

/// Which tab a message of a guest is about; none for what no guest may do: other tabs, and addresses.
fn tab_of(message: &ViewerMessage) -> Option<u32> {
    match message {
        ViewerMessage::Mouse(mouse) => Some(mouse.tab),
        ViewerMessage::Wheel(wheel) => Some(wheel.tab),
        ViewerMessage::Key(key) => Some(key.tab),
        ViewerMessage::Touch(touch) => Some(touch.tab),
        ViewerMessage::Text { tab, .. }
        | ViewerMessage::Compose { tab, .. }
        | ViewerMessage::Step { tab, .. }
        | ViewerMessage::Reload { tab }
        | ViewerMessage::Front { tab }
        | ViewerMessage::Answer { tab, .. }
        | ViewerMessage::Permit { tab, .. }
        | ViewerMessage::Choose { tab, .. } => Some(*tab),
        ViewerMessage::Look { .. }
        | ViewerMessage::Rest {}
        | ViewerMessage::Drawn { .. }
        | ViewerMessage::TakeOver { .. }
        | ViewerMessage::GiveBack {}
        | ViewerMessage::Go { .. }
        | ViewerMessage::OpenTab { .. }
        | ViewerMessage::CloseTab { .. } => None,
    }
}

/// The middle button of a mouse, which pastes what is selected beside the page where a browser has a window.
const MIDDLE: u8 = 1;
/// The numbers of V and Insert (`KeyboardEvent.keyCode`).
const V: u16 = 0x56;
const INSERT: u16 = 0x2d;

/// Whether a message would put in what the browser has copied, which may be of another tab or of the agent. A page
/// does so by number and modifiers of a key, or by a meaning (`EditingBehavior::InterpretKeyEvent` in Chromium); what
/// is down beside them changes nothing of it here.
fn pastes(message: &ViewerMessage) -> bool {
    match message {
        ViewerMessage::Mouse(LiveMouse { kind, button, .. }) => {
            *kind != MouseKind::Move && *button == MIDDLE
        }
        ViewerMessage::Key(LiveKey { down: true, key, number, modifiers, .. }) => {
            let (is_command, is_shifted) = (modifiers & 0b0110 != 0, modifiers & 0b1000 != 0);
            let is_v = *number == V || key.eq_ignore_ascii_case("v");
            let is_insert = *number == INSERT || key == "Insert";
            key == "Paste" || (is_command && is_v) || (is_shifted && is_insert)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asking::{Asks, NewAsk, Sites};
    use baton_runtime::Caller;
    use baton_session::{Lifecycle, NodeId, Owner, Session, SessionId};
    use jiff::{SignedDuration, Timestamp};

    /// A guest at the tab `T` and the site `bank.test`.
    fn guest() -> Sight {
        let now = Timestamp::UNIX_EPOCH;
        let session = Session {
            id: SessionId::new(now, [1; 10]),
            name: "shop".parse().unwrap(),
            description: String::new(),
            owner: Owner::local(),
            node: NodeId::new(now, [2; 10]),
            headed: false,
            debug: false,
            lifecycle: Lifecycle::Active,
            created_at: now,
            updated_at: now,
        };
        let tab = TargetId::new("T");
        let new = NewAsk {
            session,
            caller: Caller::node(Owner::local()),
            text: "sign in".to_owned(),
            sites: Sites::at(&TabAddress::of("https://bank.test/")).unwrap(),
            files: false,
            limit: SignedDuration::from_mins(1),
            tab: Some(tab.clone()),
        };
        let (ask, _) = Asks::default().create(new).unwrap();
        let visit = ask.visit();
        Sight::Guest(Guest { ask, name: "ada".parse().unwrap(), tab, visit })
    }

    /// What is shown while a document of this origin asks the question of this number.
    fn asking(number: u64, origin: &str) -> ScreenState {
        let names = vec!["notifications"];
        let question =
            PermissionQuestion { number, origin: origin.to_owned(), within: None, names };
        let tab = ScreenTab {
            number: 7,
            target: TargetId::new("T"),
            url: TabAddress::of("https://bank.test/"),
            committed: None,
            title: String::new(),
            is_visible: true,
            has_crashed: false,
            dialog: None,
            chooser: None,
            permission: Some(question),
        };
        ScreenState { tabs: vec![tab], front: Some(7), ..ScreenState::default() }
    }

    #[test]
    fn a_guest_sees_pictures_that_were_taken_where_they_may_be() {
        let (sight, own) = (guest(), "https://bank.test");
        let picture = |tab, address: &str, is_of_them| ScreenFrame {
            sequence: 1,
            tab,
            width: 800,
            height: 600,
            scale: 1.0,
            jpeg: Vec::new(),
            addresses: [own, address].map(TabAddress::of),
            is_of_them,
        };
        let mut state = asking(1, own);
        assert!(sight.shows(&picture(7, own, true), &state));
        assert!(!sight.shows(&picture(7, own, false), &state), "one from before it came there");
        assert!(!sight.shows(&picture(8, own, true), &state), "one of another tab");
        assert!(!sight.shows(&picture(7, "https://evil.test/", true), &state));
        state.tabs[0].committed = Some(TabAddress::of("https://evil.test/"));
        assert!(!sight.shows(&picture(7, own, true), &state), "it has gone on since");
    }

    #[test]
    fn a_guest_is_told_a_title_and_no_address() {
        let sight = guest();
        for (title, told) in [
            ("The bank", "The bank"),
            ("https://bank.test/in?token=secret", "bank.test"),
            ("bank.test/in?token=secret", "bank.test"),
        ] {
            let mut state = asking(1, "https://bank.test");
            state.tabs[0].title = title.to_owned();
            let tab = sight.tabs(&state).tabs.remove(0);
            assert_eq!((tab.title.as_str(), tab.url.as_str()), (told, ""), "{title}");
        }
    }

    #[test]
    fn a_guest_pastes_nothing_of_the_browser() {
        let (sight, state) = (guest(), asking(1, "https://bank.test"));
        let hears = |message: &ViewerMessage| sight.hears(message, &state).is_ok();
        let press = |down, key: &str, number, modifiers| {
            let (key, code) = (key.to_owned(), String::new());
            let (tab, again, location) = (7, false, 0);
            ViewerMessage::Key(LiveKey { tab, down, again, key, code, number, location, modifiers })
        };
        // Alt 1, Ctrl 2, Meta 4, Shift 8; what a key means need not fit its number.
        for (key, number, modifiers) in [
            ("v", 86, 2),
            ("V", 86, 10),
            ("v", 86, 4),
            ("x", 86, 2),
            ("м", 86, 2),
            ("v", 0, 2),
            ("v", 86, 3),
            ("Insert", 45, 8),
            ("x", 45, 8),
            ("Insert", 0, 10),
            ("Paste", 0, 0),
        ] {
            assert!(!hears(&press(true, key, number, modifiers)), "{key} {number} {modifiers}");
            assert!(hears(&press(false, key, number, modifiers)), "{key} {number} {modifiers}");
        }
        for (key, number, modifiers) in [
            ("v", 86, 0),
            ("V", 86, 8),
            ("v", 86, 1),
            ("c", 67, 2),
            ("x", 88, 2),
            ("Insert", 45, 0),
            ("Insert", 45, 2),
        ] {
            assert!(hears(&press(true, key, number, modifiers)), "{key} {number} {modifiers}");
        }
        let mouse = |kind, button| {
            let (tab, x, y, clicks, modifiers) = (7, 1.0, 1.0, 1, 0);
            ViewerMessage::Mouse(LiveMouse { tab, kind, x, y, button, clicks, modifiers })
        };
        assert!(!hears(&mouse(MouseKind::Down, 1)) && !hears(&mouse(MouseKind::Up, 1)));
        assert!(hears(&mouse(MouseKind::Move, 1)) && hears(&mouse(MouseKind::Down, 2)));
    }

    #[test]
    fn a_guest_answers_the_question_that_stands_and_is_theirs() {
        let (sight, own) = (guest(), "https://bank.test");
        let permit = |question| ViewerMessage::Permit { tab: 7, question, allow: true };
        assert_eq!(sight.hears(&permit(1), &asking(1, own)), Ok(()));
        // The next one may be of another site, and its number is easy to guess.
        let refused = sight.hears(&permit(2), &asking(1, own)).unwrap_err();
        insta::assert_snapshot!(refused, @"expected a question of a site that is part of what was asked, found one that is over, or of another site");
        assert!(sight.hears(&permit(1), &asking(1, "https://ads.test")).is_err());
        let mut over = asking(1, own);
        over.tabs[0].permission = None;
        assert!(sight.hears(&permit(1), &over).is_err());
    }
}
