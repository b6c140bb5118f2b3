//! Baton's extension for Chrome: its own tests, and stories of all of it: browser, extension, proxy, node.

mod browser;
mod busy;
mod own;
mod scene;
mod told;
mod whole;
