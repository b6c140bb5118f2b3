//! The other server's tools: as it lists them, behind ours.

use super::server::Server;
use super::words::say;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use std::collections::BTreeSet;

/// How many tools are passed on.
const TOOLS: usize = 512;
/// How many bytes of them.
const BYTES: usize = 1 << 20;
/// How many pages a list may have.
const PAGES: usize = 64;

/// The tools of the other server.
#[derive(Debug, Default)]
pub(in crate::bridge) struct Tools(Vec<Tool>);

#[derive(Debug)]
struct Tool {
    name: String,
    only_reads: bool,
    /// As the server has written it.
    raw: Box<RawValue>,
}

/// A page of the list.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page {
    tools: Vec<Box<RawValue>>,
    #[serde(default)]
    next_cursor: Option<String>,
}

/// What we have to know of a tool.
#[derive(Deserialize)]
struct Known {
    name: String,
    #[serde(default)]
    annotations: Option<Annotations>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Annotations {
    #[serde(default)]
    read_only_hint: Option<bool>,
}

impl Tools {
    /// Asks the server for all of them; those that have the name of one of `ours` are left out.
    pub(super) async fn fetch(server: &Server, ours: &BTreeSet<String>) -> Result<Self, String> {
        let mut tools = Self::default();
        let (mut params, mut bytes) = (json!({}), 0);
        for _ in 0..PAGES {
            let page = server.request("tools/list", &params).await?;
            let page: Page = serde_json::from_str(&page)
                .map_err(|error| format!("expected a list of tools, found another one: {error}"))?;
            for raw in page.tools {
                bytes += raw.get().len();
                if tools.0.len() == TOOLS || bytes > BYTES {
                    let name = server.name();
                    say(format!(
                        "{name}: expected at most {TOOLS} tools of {BYTES} bytes, found more; the \
                         first {} are offered",
                        tools.0.len()
                    ));
                    return Ok(tools);
                }
                tools.add(raw, server.name(), ours);
            }
            match page.next_cursor {
                Some(cursor) => params = json!({"cursor": cursor}),
                None => return Ok(tools),
            }
        }
        Err(format!("expected at most {PAGES} pages of tools, found more"))
    }

    fn add(&mut self, raw: Box<RawValue>, server: &str, ours: &BTreeSet<String>) {
        let known = match serde_json::from_str::<Known>(raw.get()) {
            Ok(known) => known,
            Err(error) => return say(format!("{server}: a tool is left out: {error}")),
        };
        if ours.contains(&known.name) {
            let name = known.name;
            return say(format!(
                "{server}: its tool {name} is left out: Baton has one of that name"
            ));
        }
        let only_reads = known.annotations.and_then(|hints| hints.read_only_hint) == Some(true);
        self.0.push(Tool { name: known.name, only_reads, raw });
    }

    /// As the server has written them.
    pub(in crate::bridge) fn raw(&self) -> impl Iterator<Item = &RawValue> {
        self.0.iter().map(|tool| &*tool.raw)
    }

    /// Whether it is known that a tool changes nothing.
    pub(super) fn only_reads(&self, name: &str) -> bool {
        self.0.iter().any(|tool| tool.name == name && tool.only_reads)
    }

    /// Whether a client that has the other list would see no difference.
    pub(super) fn equals(&self, other: &Self) -> bool {
        self.raw().map(RawValue::get).eq(other.raw().map(RawValue::get))
    }
}
