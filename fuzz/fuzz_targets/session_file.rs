//! A session file: what is read of it can be written, and is read again as the same session.

#![no_main]

use baton_session::wire;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let Ok((mut file, _)) = wire::read(input) else { return };
    assert!(wire::is_session_file(input), "a session file was read that looks like none");
    let (mut again, left_out) = wire::read(wire::write(&file).as_bytes()).expect("ours is read");
    assert!(left_out.items.is_empty(), "of ours {left_out:?} was left out");
    // It is over the state, so what a file from elsewhere says of it need not hold.
    file.head.sync.checksum.clear();
    again.head.sync.checksum.clear();
    assert_eq!(again, file);
});
