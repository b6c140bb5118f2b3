//! Baton's extension for Chrome, in stories of all of it: browser, extension, proxy, node. Its own tests
//! are a step of `cargo xtask test`.

mod browser;
mod busy;
mod cluster;
mod elsewhere;
mod idle;
mod link;
mod look_in;
mod scene;
mod secrets;
mod talker;
mod told;
mod whole;
mod wire;
