//! By what rules of the kernel a browser is kept from the files of its machine.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The rules under which a browser runs. Whoever speaks CDP to a browser has what the browser has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum Confinement {
    /// Landlock (Linux 5.13 and newer): the browser is refused every file that is not on its list.
    Landlock,
    /// A mount namespace made by bubblewrap: files that are not on its list are not there.
    Bubblewrap,
    /// None: the browser has every file that the node's user has.
    Off,
}

impl Confinement {
    /// Whether the files of the machine are taken away.
    pub fn holds(self) -> bool {
        self != Self::Off
    }

    /// The word for it, as settings and lists have it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Landlock => "landlock",
            Self::Bubblewrap => "bubblewrap",
            Self::Off => "off",
        }
    }
}

impl fmt::Display for Confinement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
