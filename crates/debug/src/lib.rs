//! Look in: what tabs did, kept bounded and asked for in few words.
//!
//! The one idea: a tab is plain data. It does not wait, read a clock or speak to anyone; who feeds it
//! gives the instants, and who shares it puts one lock around its [`TabBuffer`]. An event goes through
//! [`Clean`], which hides secrets and cuts what is too long, into the buffer; a question goes through
//! [`query`] and comes out as data, as [`rendering`] for models, or as a [`har`](mod@har) file.
//!
//! Rooms: [`limits`] says how much is kept; [`secrets`] hides; [`ring`] keeps, [`tab`] puts events
//! together; [`query`] finds; [`rendering`] and [`har`](mod@har) show. Around them [`relay`] holds the tabs of all
//! owners, and `session` tells it of the browsers of sessions. [`token`] says by what a person's browser may tell it of a tab.

pub mod har;
pub mod limits;
pub mod query;
pub mod relay;
pub mod rendering;
pub mod ring;
pub mod secrets;
mod session;
pub mod tab;
pub mod token;

pub use limits::Limits;
pub use relay::{LookError, Relay};
pub use secrets::Clean;
pub use session::{Revealing, SessionTabs, record};
pub use tab::{Applied, TabBuffer};
