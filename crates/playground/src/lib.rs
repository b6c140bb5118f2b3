//! Real nodes in temporary folders, for the demo, the tests and the benchmarks.
//!
//! The one idea: nothing here is a stand-in. A [`House`] runs the real program with a data folder of
//! its own, a [`Page`] drives the real browser through its keeper, [`Site`] is a real server on
//! loopback, and [`victims`] ends real processes with SIGKILL.

mod house;
mod page;
mod site;
pub mod victims;

pub use house::House;
pub use page::Page;
pub use site::Site;
