//! What a person is asked, for who asks: the link, as text and as a picture, and what came of it.

use super::{qr, table};
use baton_api::{AskState, AskView, CreatedAsk};
use jiff::Timestamp;

/// The link; on a terminal as a QR code, too.
pub(crate) fn ask_link(created: &CreatedAsk, with_picture: bool) -> String {
    let link = created.link.to_string();
    match Some(&link).filter(|_| with_picture).and_then(|link| qr::picture(link)) {
        Some(picture) => format!("{link}\n\n{picture}"),
        None => link,
    }
}

/// Who can open it, until when, and who was told.
pub(crate) fn ask_reach(created: &CreatedAsk) -> String {
    let view = &created.view;
    let ends = table::until(view.expires_at, Timestamp::now());
    let mut told = vec![match &created.opens.hint {
        Some(hint) => format!("only this machine opens the link; {hint}"),
        None => "whoever has the link opens it, once".to_owned(),
    }];
    told.push(format!("they see {} and nothing else; it ends {ends}", view.sites.join(", ")));
    told.extend(created.told.iter().map(|told| match &told.failed {
        None => format!("told by {} at {}", told.by, table::plain(&told.at)),
        Some(why) => {
            format!("not told by {} at {}: {}", told.by, table::plain(&told.at), table::plain(why))
        }
    }));
    told.join("\n")
}

/// What is asked, and until when.
pub(crate) fn ask_open(view: &AskView) -> String {
    let who = view.agent.as_ref().map_or("somebody", |name| name.as_str());
    let ends = table::until(view.expires_at, Timestamp::now());
    format!("{who} asks: {}; it ends {ends}", table::plain(&view.text))
}

/// What came of it.
pub(crate) fn ask_end(view: &AskView) -> String {
    let person = view.person.as_ref().map_or("somebody", |name| name.as_str());
    let mut told = vec![match view.state {
        AskState::Done => format!("done by {person}"),
        AskState::Declined => "declined: they cannot or will not do it".to_owned(),
        AskState::TimedOut => "its time has passed, and nobody said that it is done".to_owned(),
        AskState::Withdrawn => "it was taken back, or the key of who asked was revoked".to_owned(),
        AskState::Lost => "the browser is gone; baton sessions resume brings it back".to_owned(),
        AskState::Waiting => "nobody has come yet".to_owned(),
        AskState::Opened => format!("{person} is at it"),
    }];
    if let Some(outcome) = &view.outcome {
        told.push(table::plain(&outcome.changed));
        told.extend(outcome.snapshot.map(|snapshot| format!("snapshot {snapshot}")));
        told.extend(outcome.bound.iter().map(|unread| {
            let (place, reason) = (table::plain(&unread.place), table::plain(&unread.reason));
            format!("not in it: {place} ({reason})")
        }));
    }
    told.join("\n")
}
