//! Look in: what tabs did, kept bounded and asked for in few words.
//!
//! The one idea: plain data. Nothing here waits, reads a clock or speaks to anyone; who feeds it gives
//! the instants, and who shares a tab puts one lock around its [`TabBuffer`]. An event goes through
//! [`Clean`], which hides secrets and cuts what is too long, into the buffer; a question goes through
//! [`ask`] and comes out as data, as [`words`] for models, or as a [`har`] file.
//!
//! Rooms: [`limits`] says how much is kept; [`secrets`] hides; [`ring`] keeps, [`tab`] puts events
//! together; [`ask`] finds; [`words`] and [`har`] show.

pub mod ask;
pub mod har;
pub mod limits;
pub mod ring;
pub mod secrets;
pub mod tab;
pub mod words;

pub use limits::Limits;
pub use secrets::Clean;
pub use tab::{Applied, TabBuffer};
