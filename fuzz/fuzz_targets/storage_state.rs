//! Playwright's `storageState`: what is read of it can be written, and is read again as the same, or
//! what is not is told.

#![no_main]

use baton_session::playwright;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let Ok((state, _)) = playwright::read(input) else { return };
    let (written, lost) = playwright::write(&state);
    let (again, ignored) = playwright::read(written.as_bytes()).expect("ours is read");
    assert!(ignored.is_empty(), "of ours {ignored:?} was ignored");
    assert!(again == state || !lost.is_empty(), "{again:?} was lost of {state:?} without a word");
});
