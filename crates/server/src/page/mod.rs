//! The page of a node, for people: its files, where it lives, and who is signed in to it.
//!
//! The one idea: a browser shows a cookie to every program of a host, whatever its port, and a page of one
//! cannot be kept from asking the other. So the page has a host name of its own, and its cookie opens nothing:
//! with it goes a value that only the page knows, which no other origin can read, and no cookie jar holds.

mod codes;
mod departures;
mod files;
mod halves;
mod live;
mod own;
mod place;
mod sessions;
mod shared;

pub(crate) use codes::{PageCode, PageCodes, RedeemedCode};
pub(crate) use departures::{CALLBACK, DEPARTURE_LIMIT, Departures, no_departure};
pub(crate) use files::{PageFile, file, security};
pub(crate) use halves::{
    NewGuest, PageHalves, PageHash, cookie_beside, hash, marked, no_cookie, random,
};
pub(crate) use live::{LivePage, PageKey, PagePerson};
pub(crate) use own::OwnPages;
pub(crate) use place::{LinkPlace, PagePlace, host_of};
pub(crate) use sessions::{PageError, PageSessions};
