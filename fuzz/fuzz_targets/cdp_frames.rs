//! Frames of a browser and of clients, in any order: the keeper passes on what is a frame, to whom
//! it belongs.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| baton_browser::fuzzing::cdp_frames(input));
