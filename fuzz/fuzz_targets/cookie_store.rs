//! A cookie store of Chromium, as SQLite has it: what is read of it can be written and read again.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| baton_browser::fuzzing::cookie_store(input));
