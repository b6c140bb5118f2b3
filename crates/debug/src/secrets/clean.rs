//! Events of a bounded size, without secrets: the only things that are kept, unless somebody has asked to
//! see the secrets of a tab. Then it is kept a second time, as [`Revealed`].

use super::wash::Wash;
use crate::limits::Limits;
use baton_api::debug::{ConsoleEvent, NetworkEvent};
use std::fmt;

/// Something without secrets, and not too long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clean<T>(T);

/// What a tab shows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    /// The address.
    pub url: String,
    /// The title; empty when there is none.
    pub title: String,
}

impl<T> Clean<T> {
    /// The thing.
    pub fn get(&self) -> &T {
        &self.0
    }

    pub(crate) fn into_inner(self) -> T {
        self.0
    }
}

/// Something as it came, and not too long: with its secrets, for those who may see them.
#[derive(Clone, PartialEq, Eq)]
pub struct Revealed<T>(T);

impl<T> Revealed<T> {
    pub(crate) fn into_inner(self) -> T {
        self.0
    }
}

/// What is in it goes to no log.
impl<T> fmt::Debug for Revealed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Revealed(_)")
    }
}

/// What came while its secrets were hidden stays as it is.
impl<T> From<Clean<T>> for Revealed<T> {
    fn from(Clean(thing): Clean<T>) -> Self {
        Self(thing)
    }
}

/// Makes both: `Clean` hides secrets, `Revealed` only cuts.
macro_rules! washed {
    ($($kind:ident hides $hides:literal;)*) => {$(
        impl $kind<Page> {
            /// What a tab shows.
            pub fn page(page: &Page, limits: &Limits) -> Self {
                let wash = Wash { limits, hides: $hides };
                Self(Page { url: wash.address(&page.url), title: wash.line(&page.title) })
            }
        }

        impl $kind<NetworkEvent> {
            /// An event of a request.
            pub fn network(mut event: NetworkEvent, limits: &Limits) -> Self {
                Wash { limits, hides: $hides }.event(&mut event);
                Self(event)
            }
        }

        impl $kind<ConsoleEvent> {
            /// A line of the console.
            pub fn console(mut event: ConsoleEvent, limits: &Limits) -> Self {
                Wash { limits, hides: $hides }.entry(&mut event.entry);
                Self(event)
            }
        }
    )*};
}

washed! {
    Clean hides true;
    Revealed hides false;
}
