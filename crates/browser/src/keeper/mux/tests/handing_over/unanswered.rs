//! Pages that do not say, or say late, that the script is there which hands them their own.

use super::*;

#[test]
fn a_page_that_does_not_answer_holds_its_document_for_a_while_only() {
    let (mut story, _notes) = Story::with_storage();
    story.answered("P", "1", "https://shop.test/", 200);
    assert!(story.mux.waits(WaitingKind::Documents));
    let actions = story.mux.lose_patience(WaitingKind::Documents);
    story.note(actions);
    assert_eq!(story.gone_on(), ["1"]);
    assert!(!story.mux.waits(WaitingKind::Documents));
}

#[test]
fn a_page_that_answers_once_it_is_shown_has_had_its_own() {
    let (mut story, notes) = Story::with_storage();
    let handed = || {
        let notes = std::fs::read_to_string(notes.path().join("handed")).unwrap();
        HandedOver::read(&notes).areas.len()
    };
    for (session, page, url) in [("P", "PAGE", SHOP), ("Q", "OTHER", "https://news.test/")] {
        story.answered(session, "1", url, 200);
        let actions = story.mux.lose_patience(WaitingKind::Documents);
        story.note(actions);
        story.shows(session, page, url);
    }
    story.reply_to(ADD, &json!({"identifier": "7"}));
    story.reply_to(REMOVE, &json!({}));
    assert_eq!(handed(), 2);
    // One answered, and the other never does. Neither is there for a next browser.
    for session in ["P", "Q"] {
        let params = json!({"sessionId": session});
        story.browser(json!({"method": "Target.detachedFromTarget", "params": params}));
    }
    assert_eq!(handed(), 2);
}
