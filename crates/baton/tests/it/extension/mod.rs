//! Baton's extension for Chrome: its own tests, and stories of all of it: browser, extension, proxy, node.

mod browser;
mod busy;
mod elsewhere;
mod idle;
mod link;
mod own;
mod scene;
mod secrets;
mod talker;
mod told;
mod whole;
mod wire;
