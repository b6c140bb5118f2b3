//! A LevelDB: a manifest, a table and a log. What is read of them can be written and read again.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| baton_browser::fuzzing::leveldb(input));
