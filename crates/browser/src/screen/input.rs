//! What a person's hand does in a tab: mouse, keys, text and touch, as calls of CDP's domain `Input`.
//!
//! The one idea: a hand knows what it holds. When it leaves, in the middle of a drag or with a key down, buttons,
//! keys and fingers are let go, so that no page goes on dragging after a person who is not there. All of it is for the
//! page: a hand has no key and no button by which the browser itself would do something.
//!
//! Calls are sent in order and not waited for: a page that is busy answers late, and the next one need not wait.

use super::Sessions;
use serde_json::{Value, json};

/// The longest text that is put in at once, in characters.
const LONGEST_TEXT: usize = 1 << 20;
/// How many keys, and how many fingers, are down at once.
const MOST_KEYS: usize = 32;
const MOST_FINGERS: usize = 16;

/// A button of a mouse. Those that go back and forward are none: they lead through the history of a tab, whatever its
/// page makes of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MouseButton {
    /// The first.
    Left,
    /// The wheel.
    Middle,
    /// The second.
    Right,
}

impl MouseButton {
    const ALL: [Self; 3] = [Self::Left, Self::Middle, Self::Right];

    /// `Input.MouseButton`.
    fn word(self) -> &'static str {
        match self {
            Self::Left => "left",
            Self::Middle => "middle",
            Self::Right => "right",
        }
    }

    /// Its bit among the buttons that are down (`MouseEvent.buttons`).
    fn bit(self) -> u8 {
        match self {
            Self::Left => 1,
            Self::Right => 2,
            Self::Middle => 4,
        }
    }
}

/// What a mouse did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MouseEvent {
    /// It went somewhere.
    Move,
    /// A button went down, for the so-manieth time in a row.
    Down(MouseButton, u8),
    /// A button went up, likewise.
    Up(MouseButton, u8),
    /// The wheel was turned so far, in CSS pixels to the right and down.
    Wheel(f64, f64),
}

/// A place in a viewport, in CSS pixels.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Point {
    /// From the left.
    pub x: f64,
    /// From the top.
    pub y: f64,
}

/// A mouse.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mouse {
    /// What it did.
    pub event: MouseEvent,
    /// Where.
    pub at: Point,
    /// Keys that are down: Alt 1, Ctrl 2, Meta 4, Shift 8.
    pub modifiers: u8,
}

/// What a key did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyEvent {
    /// It went down, or is held and comes again.
    Down {
        /// Whether it is held.
        again: bool,
    },
    /// It went up.
    Up,
}

/// A key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// What it did.
    pub event: KeyEvent,
    /// What it means (`KeyboardEvent.key`), such as `a` or `Enter`.
    pub key: String,
    /// Where it is (`KeyboardEvent.code`), such as `KeyA`.
    pub code: String,
    /// Its number of old (`KeyboardEvent.keyCode`), which many pages still read.
    pub number: u16,
    /// Which of several (`KeyboardEvent.location`).
    pub location: u8,
    /// Keys that are down: Alt 1, Ctrl 2, Meta 4, Shift 8.
    pub modifiers: u8,
}

impl Key {
    /// What it writes; nothing where it is a command.
    fn text(&self) -> Option<&str> {
        let is_command = self.modifiers & 0b0110 != 0;
        let mut letters = self.key.chars();
        match (self.key.as_str(), letters.next(), letters.next()) {
            ("Enter", ..) => Some("\r"),
            (key, Some(_), None) if !is_command => Some(key),
            _ => None,
        }
    }

    /// Whether both are one key of a keyboard. Many keyboards on screens say of none where it is: theirs are told apart
    /// by what they mean.
    fn is_same(&self, other: &Self) -> bool {
        (&self.code, self.location) == (&other.code, other.location)
            && (!self.code.is_empty() || self.key == other.key)
    }

    /// Whether both may be one key that means something else by now, as when Shift came up first.
    fn may_be(&self, other: &Self) -> bool {
        (&self.code, self.location, self.number) == (&other.code, other.location, other.number)
            && self.number != 0
    }

    /// As a key that ends at the page. One with a native number counts as one of the browser's window
    /// (`InputHandler::DispatchKeyEvent` in Chromium), which has the first and the last word about it: Ctrl+W closes
    /// the tab.
    fn params(&self) -> Value {
        let mut params = json!({
            "key": self.key,
            "code": self.code,
            "windowsVirtualKeyCode": self.number,
            "location": self.location,
            "isKeypad": self.location == 3,
            "modifiers": self.modifiers,
        });
        match (self.event, self.text()) {
            (KeyEvent::Up, _) => params["type"] = "keyUp".into(),
            (KeyEvent::Down { again }, None) => {
                params["type"] = "rawKeyDown".into();
                params["autoRepeat"] = again.into();
            }
            (KeyEvent::Down { again }, Some(text)) => {
                params["type"] = "keyDown".into();
                params["autoRepeat"] = again.into();
                params["text"] = text.into();
                params["unmodifiedText"] = text.into();
            }
        }
        params
    }
}

/// What became of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyOutcome {
    /// The browser has it.
    Sent,
    /// It has no such tab.
    NoTab,
}

/// What fingers did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TouchEvent {
    /// One more is down.
    Start,
    /// They went somewhere.
    Move,
    /// One is up.
    End,
    /// They are no longer of interest.
    Cancel,
}

/// Fingers on a screen.
#[derive(Debug, Clone, PartialEq)]
pub struct Touch {
    /// What they did.
    pub event: TouchEvent,
    /// Those that are down now, each with its number.
    pub fingers: Vec<(u8, Point)>,
    /// Keys that are down: Alt 1, Ctrl 2, Meta 4, Shift 8.
    pub modifiers: u8,
}

/// A person's hand in the tabs of a screen.
#[derive(Debug)]
pub struct Hand {
    sessions: Sessions,
    /// In which tab it holds something.
    tab: Option<u32>,
    at: Point,
    /// The bits of the buttons that are down.
    buttons: u8,
    /// The keys that are down, in the order in which they went down.
    keys: Vec<Key>,
    touches: bool,
}

impl Hand {
    pub(super) fn new(sessions: Sessions) -> Self {
        let (tab, at, buttons) = (None, Point::default(), 0);
        Self { sessions, tab, at, buttons, keys: Vec::new(), touches: false }
    }

    /// Sends a call to a tab; false when there is no such tab.
    fn post(&self, tab: u32, method: &'static str, params: Value) -> bool {
        let session = self.sessions.lock().get(&tab).cloned();
        session.inspect(|session| session.post(method, params)).is_some()
    }

    /// Sends a call that has to be done also where this is the last one that looks at the browser.
    fn last(&self, tab: u32, method: &'static str, params: Value) {
        if let Some(session) = self.sessions.lock().get(&tab) {
            session.post_to_the_end(method, params);
        }
    }

    /// From now on it is in this tab: what it held in another one it lets go.
    fn enter(&mut self, tab: u32) {
        if self.tab.is_some_and(|before| before != tab) {
            self.let_go();
        }
        self.tab = Some(tab);
    }

    /// Moves a mouse, or presses its buttons; false when there is no such tab.
    pub fn mouse(&mut self, tab: u32, mouse: Mouse) -> bool {
        self.enter(tab);
        self.at = mouse.at;
        let (word, button, clicks) = match mouse.event {
            MouseEvent::Move => ("mouseMoved", self.held(), 0),
            MouseEvent::Down(button, clicks) => {
                self.buttons |= button.bit();
                ("mousePressed", Some(button), clicks)
            }
            MouseEvent::Up(button, clicks) => {
                self.buttons &= !button.bit();
                ("mouseReleased", Some(button), clicks)
            }
            MouseEvent::Wheel(..) => ("mouseWheel", None, 0),
        };
        let mut params = json!({
            "type": word,
            "x": mouse.at.x,
            "y": mouse.at.y,
            "modifiers": mouse.modifiers,
            "buttons": self.buttons,
            "button": button.map_or("none", MouseButton::word),
            "clickCount": clicks,
        });
        if let MouseEvent::Wheel(right, down) = mouse.event {
            params["deltaX"] = right.into();
            params["deltaY"] = down.into();
        }
        self.post(tab, "Input.dispatchMouseEvent", params)
    }

    /// The first button that is down.
    fn held(&self) -> Option<MouseButton> {
        MouseButton::ALL.into_iter().find(|button| self.buttons & button.bit() != 0)
    }

    /// Presses a key, or lets it up. None goes down that could not be let go when the hand leaves: where as many are
    /// down as may be, the first of them comes up. Some never do by themselves: macOS tells a browser of no key that
    /// comes up while Meta is down.
    pub fn key(&mut self, tab: u32, key: Key) -> KeyOutcome {
        self.enter(tab);
        let same = self.keys.iter().position(|held| held.is_same(&key));
        let is_new = same.is_none() && key.event != KeyEvent::Up;
        if is_new && self.keys.len() >= MOST_KEYS {
            let up = Key { event: KeyEvent::Up, modifiers: 0, ..self.keys[0].clone() };
            if !self.post(tab, "Input.dispatchKeyEvent", up.params()) {
                return KeyOutcome::NoTab;
            }
            self.keys.remove(0);
        }
        if !self.post(tab, "Input.dispatchKeyEvent", key.params()) {
            return KeyOutcome::NoTab;
        }
        match (key.event, same) {
            (KeyEvent::Down { .. }, Some(at)) => self.keys[at] = key,
            (KeyEvent::Down { .. }, None) => self.keys.push(key),
            (KeyEvent::Up, same) => {
                let held = same.or_else(|| self.keys.iter().position(|held| held.may_be(&key)));
                if let Some(at) = held {
                    self.keys.remove(at);
                }
            }
        }
        KeyOutcome::Sent
    }

    /// Writes a text as if it had been typed: what was pasted, or what an input method has made; false when
    /// there is no such tab.
    pub fn insert(&mut self, tab: u32, text: &str) -> bool {
        self.enter(tab);
        let text: String = text.chars().take(LONGEST_TEXT).collect();
        self.post(tab, "Input.insertText", json!({ "text": text }))
    }

    /// Shows what an input method, or a dead key, is making of what is typed, with the cursor behind; an empty
    /// text takes it back. False when there is no such tab.
    pub fn compose(&mut self, tab: u32, text: &str) -> bool {
        self.enter(tab);
        let end = text.encode_utf16().count();
        let params = json!({ "text": text, "selectionStart": end, "selectionEnd": end });
        self.post(tab, "Input.imeSetComposition", params)
    }

    /// Moves fingers; false when there is no such tab.
    pub fn touch(&mut self, tab: u32, touch: &Touch) -> bool {
        self.enter(tab);
        let fingers = touch.fingers.iter().take(MOST_FINGERS);
        let points: Vec<Value> =
            fingers.map(|(id, at)| json!({ "x": at.x, "y": at.y, "id": id })).collect();
        // A finger that is not among those that are down is up, and an end has none
        // (`Input.dispatchTouchEvent`).
        let (word, points) = match (touch.event, points.is_empty()) {
            (TouchEvent::Cancel, _) => ("touchCancel", Vec::new()),
            (_, true) => ("touchEnd", points),
            (TouchEvent::Start, false) => ("touchStart", points),
            (TouchEvent::Move | TouchEvent::End, false) => ("touchMove", points),
        };
        self.touches = !points.is_empty();
        let params = json!({ "type": word, "touchPoints": points, "modifiers": touch.modifiers });
        self.post(tab, "Input.dispatchTouchEvent", params)
    }

    /// Lets go of all that it holds.
    pub fn let_go(&mut self) {
        let Some(tab) = self.tab.take() else { return };
        for button in MouseButton::ALL {
            if self.buttons & button.bit() == 0 {
                continue;
            }
            self.buttons &= !button.bit();
            let params = json!({
                "type": "mouseReleased",
                "x": self.at.x,
                "y": self.at.y,
                "button": button.word(),
                "buttons": self.buttons,
                "clickCount": 1,
            });
            self.last(tab, "Input.dispatchMouseEvent", params);
        }
        for key in std::mem::take(&mut self.keys) {
            let up = Key { event: KeyEvent::Up, modifiers: 0, ..key };
            self.last(tab, "Input.dispatchKeyEvent", up.params());
        }
        if std::mem::take(&mut self.touches) {
            let params = json!({ "type": "touchCancel", "touchPoints": [] });
            self.last(tab, "Input.dispatchTouchEvent", params);
        }
    }
}

impl Drop for Hand {
    fn drop(&mut self) {
        self.let_go();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str, modifiers: u8) -> Key {
        Key {
            event: KeyEvent::Down { again: false },
            key: text.to_owned(),
            code: String::new(),
            number: 0,
            location: 0,
            modifiers,
        }
    }

    #[test]
    fn a_key_writes_what_it_means_unless_it_is_a_command() {
        assert_eq!(key("a", 0).text(), Some("a"));
        assert_eq!(key("Ä", 8).text(), Some("Ä"));
        // With Alt Gr, which says Alt on some keyboards.
        assert_eq!(key("@", 1).text(), Some("@"));
        assert_eq!(key("a", 2).text(), None);
        assert_eq!(key("Enter", 0).text(), Some("\r"));
        assert_eq!(key("Dead", 0).text(), None);
        assert_eq!(key("ArrowLeft", 0).text(), None);
        assert_eq!(key("a", 0).params()["type"], "keyDown");
        assert_eq!(key("Tab", 0).params()["type"], "rawKeyDown");
    }

    #[test]
    fn a_key_is_known_again_when_it_comes_up() {
        let of = |text: &str, code: &str, number| {
            let code = code.to_owned();
            Key { code, number, ..key(text, 0) }
        };
        assert!(of("A", "KeyA", 65).is_same(&of("a", "KeyA", 65)));
        assert!(!of("a", "KeyA", 65).is_same(&of("s", "KeyS", 83)));
        let right = Key { location: 2, ..of("Shift", "", 16) };
        assert!(!right.is_same(&of("Shift", "", 16)));
        // Without a place they are told apart by what they mean.
        assert!(!of("a", "", 65).is_same(&of("b", "", 66)));
        assert!(!of("A", "", 65).is_same(&of("a", "", 65)));
        assert!(of("A", "", 65).may_be(&of("a", "", 65)));
        assert!(!of("a", "", 0).may_be(&of("b", "", 0)));
    }

    #[test]
    fn no_key_is_one_of_the_browsers_window() {
        for (text, modifiers) in [("w", 2), ("a", 0), ("Tab", 2)] {
            let params = key(text, modifiers).params();
            for name in ["nativeVirtualKeyCode", "isSystemKey", "commands"] {
                assert!(params.get(name).is_none(), "{text}: {params}");
            }
        }
    }
}
