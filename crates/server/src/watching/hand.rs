//! What a viewer does with its hands, as the browser takes it.

use baton_api::live::{MouseKind, TouchKind, ViewerMessage};
use baton_browser::screen::{
    Hand, Key, KeyEvent, KeyOutcome, Mouse, MouseButton, MouseEvent, Point, Touch, TouchEvent,
};

/// How far from a viewport a place may be, in CSS pixels.
const FARTHEST: f64 = 100_000.0;
/// The longest name of a key, in characters.
const KEY_NAME: usize = 64;

/// What became of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Given {
    /// The browser has it.
    Done,
    /// It has no such tab.
    NoTab,
    /// It says something that no hand does.
    Nonsense,
    /// It is about something else.
    NoInput,
}

/// Gives what a viewer does to the browser.
pub(super) fn give(hand: &mut Hand, message: &ViewerMessage) -> Given {
    let done = match message {
        ViewerMessage::Mouse(mouse) => {
            let Some(button) = button(mouse.button) else { return Given::Nonsense };
            let event = match mouse.kind {
                MouseKind::Move => MouseEvent::Move,
                MouseKind::Down => MouseEvent::Down(button, mouse.clicks),
                MouseKind::Up => MouseEvent::Up(button, mouse.clicks),
            };
            let (at, modifiers) = (point(mouse.x, mouse.y), mouse.modifiers & 0xf);
            hand.mouse(mouse.tab, Mouse { event, at, modifiers })
        }
        ViewerMessage::Wheel(wheel) => {
            let event = MouseEvent::Wheel(near(wheel.right), near(wheel.down));
            let (at, modifiers) = (point(wheel.x, wheel.y), wheel.modifiers & 0xf);
            hand.mouse(wheel.tab, Mouse { event, at, modifiers })
        }
        ViewerMessage::Key(key) => {
            if key.key.chars().count().max(key.code.chars().count()) > KEY_NAME {
                return Given::Nonsense;
            }
            let event = if key.down { KeyEvent::Down { again: key.again } } else { KeyEvent::Up };
            let pressed = Key {
                event,
                key: key.key.clone(),
                code: key.code.clone(),
                number: key.number,
                location: key.location,
                modifiers: key.modifiers & 0xf,
            };
            hand.key(key.tab, pressed) == KeyOutcome::Sent
        }
        ViewerMessage::Text { tab, text } => hand.insert(*tab, text),
        ViewerMessage::Compose { tab, text } => hand.compose(*tab, text),
        ViewerMessage::Touch(touch) => {
            let event = match touch.kind {
                TouchKind::Start => TouchEvent::Start,
                TouchKind::Move => TouchEvent::Move,
                TouchKind::End => TouchEvent::End,
                TouchKind::Cancel => TouchEvent::Cancel,
            };
            let fingers = touch.fingers.iter().map(|it| (it.id, point(it.x, it.y))).collect();
            hand.touch(touch.tab, &Touch { event, fingers, modifiers: touch.modifiers & 0xf })
        }
        _ => return Given::NoInput,
    };
    if done { Given::Done } else { Given::NoTab }
}

/// A button that pages have; none of those that lead through the history of a tab.
fn button(number: u8) -> Option<MouseButton> {
    Some(match number {
        0 => MouseButton::Left,
        1 => MouseButton::Middle,
        2 => MouseButton::Right,
        _ => return None,
    })
}

fn point(x: f64, y: f64) -> Point {
    Point { x: near(x), y: near(y) }
}

fn near(length: f64) -> f64 {
    length.clamp(-FARTHEST, FARTHEST)
}
