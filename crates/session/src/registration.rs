//! Service worker registrations, with the scripts that a worker is made of.
//!
//! The words are those of the W3C's Service Workers.

use crate::text::Text;
use crate::words::words;
use serde::{Deserialize, Serialize};

/// One registration of one storage key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Registration {
    /// The address below which pages belong to it; unique within its storage key.
    pub scope: String,
    /// The address of its main script.
    pub script_url: String,
    /// `imports`, `all` or `none`: what of it the browser may take from its HTTP cache.
    pub update_via_cache: String,
    /// What is asked for besides while the worker starts.
    pub navigation_preload: NavigationPreload,
    /// How its main script is run; none while that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker_type: Option<WorkerType>,
    /// The scripts as they ran, in the order of their addresses; none when no worker ran while it
    /// was watched.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scripts: Vec<WorkerScript>,
}

/// Whether navigations go out while the worker starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NavigationPreload {
    /// Whether they do.
    pub enabled: bool,
    /// The value of their `Service-Worker-Navigation-Preload` header.
    pub header: String,
}

/// A script of a worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerScript {
    /// Its address: the main script, or one that it imports.
    pub url: String,
    /// Its text.
    pub source: Text,
}

words! {
    /// How a worker's main script is run.
    WorkerType, else UnknownWorkerType ("type of worker"):
    /// As a script, which may call `importScripts`.
    Classic "classic",
    /// As a module, which may `import`.
    Module "module",
}

impl Registration {
    /// Whether its main script is known, so that it can be made where no site is asked.
    pub fn is_whole(&self) -> bool {
        self.worker_type.is_some()
            && self.scripts.iter().any(|script| script.url == self.script_url)
    }
}
