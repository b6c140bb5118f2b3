//! The look tools: network and console of tabs, in few words.
//!
//! The names and the arguments of the three `browser_debug_*` are those of the debug protocol; what we add may be
//! left out. The doc comments of the structs are what a model reads.

#![expect(clippy::doc_markdown, reason = "models read these texts, not rustdoc")]

use super::answer;
use super::answer::{Failure, ToolAnswer};
use super::verb::{Call, Effect, Entry, ToolPlace, Verb};
use crate::everywhere;
use crate::looking;
use baton_api::debug::{ConsoleFilters, ConsoleLevel, DebugTab, EpochMs, NetworkFilters, TabToken};
use baton_api::{Invalid, Scope, SwitchDebug};
use baton_debug::relay::Sight;
use baton_debug::rendering;
use baton_runtime::sessions;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};
use serde_json::json;
use std::sync::LazyLock;
use std::time::Duration;

/// The tools in the order in which clients list them.
pub(super) fn entries() -> &'static [Entry] {
    static ENTRIES: LazyLock<Vec<Entry>> = LazyLock::new(|| {
        vec![
            Entry::of::<BrowserDebugListTabs>(),
            Entry::of::<BrowserDebugGetNetwork>(),
            Entry::of::<BrowserDebugGetConsole>(),
            Entry::of::<SessionDebug>(),
        ]
    });
    &ENTRIES
}

/// How many tabs are listed, the newest.
const LISTED: usize = 50;
/// How long a title and an address are at most, in characters.
const TITLE: usize = 60;
const ADDRESS: usize = 120;

/// Lists the tabs that can be looked into, with their tokens.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct BrowserDebugListTabs {}

impl Verb for BrowserDebugListTabs {
    const NAME: &'static str = "browser_debug_list_tabs";
    const EFFECT: Effect = Effect::Reads;

    async fn call(self, call: Call) -> Result<ToolAnswer, Failure> {
        call.require(Scope::Debug).await?;
        let (caller, origin) = (&call.caller, call.origin.as_ref());
        let found = everywhere::tabs(&call.context, caller, origin).await?;
        let tabs = found.items;
        let mut told = vec![match tabs.len() {
            0 => "No tabs. session_debug records those of a session.".to_owned(),
            1 => "1 tab".to_owned(),
            count => format!("{count} tabs, newest first"),
        }];
        told.extend(tabs.iter().take(LISTED).map(line));
        if tabs.len() > LISTED {
            told.push(format!("Left out: {} older.", tabs.len() - LISTED));
        }
        if !found.missing.is_empty() {
            told.push(format!("Not asked: {}, which did not answer.", found.missing.join(", ")));
        }
        let shown: Vec<&DebugTab> = tabs.iter().take(LISTED).collect();
        Ok(ToolAnswer::new(&told, json!({"tabs": shown})))
    }
}

fn line(tab: &DebugTab) -> String {
    // What a page wrote begins no line of its own.
    let short = |text: &str, most| answer::cut(&rendering::line(text), most);
    let (of, url, title) =
        (short(&tab.of(), TITLE), short(&tab.url, ADDRESS), short(&tab.title, TITLE));
    format!("{} {of} {url} {title}", tab.token).trim_end().to_owned()
}

/// Gets a tab's requests, newest first, a line each. With id: one with headers and bodies. Secrets are hidden.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct BrowserDebugGetNetwork {
    /// Of browser_debug_list_tabs
    token: String,
    /// Regex on the URL
    url_pattern: Option<String>,
    /// Such as GET, POST
    #[serde(default)]
    method: Vec<String>,
    /// Inclusive
    status_min: Option<u16>,
    /// Inclusive
    status_max: Option<u16>,
    /// Only after (ms since 1970)
    #[schemars(with = "Option<u64>")]
    since: Option<EpochMs>,
    /// At most so many
    limit: Option<u32>,
    /// Number of one request
    #[serde(default, deserialize_with = "optional_id")]
    #[schemars(with = "Option<String>")]
    id: Option<String>,
    /// Only new or changed since this cursor
    after: Option<u64>,
    /// Only older than this
    before: Option<u64>,
}

impl Verb for BrowserDebugGetNetwork {
    const NAME: &'static str = "browser_debug_get_network";
    const EFFECT: Effect = Effect::Reads;

    fn place(&self) -> ToolPlace {
        ToolPlace::Tab(self.token.clone())
    }

    async fn call(self, call: Call) -> Result<ToolAnswer, Failure> {
        call.require(Scope::Debug).await?;
        let token = tab_token(&self.token)?;
        let filters = NetworkFilters {
            url_pattern: self.url_pattern,
            method: self.method,
            status_min: self.status_min,
            status_max: self.status_max,
            since: self.since,
            limit: self.limit,
            after: self.after,
            before: self.before,
            id: self.id,
            bodies: false,
        };
        let (context, caller) = (&call.context, &call.caller);
        let found =
            looking::network(context, caller, &token, Sight::Hidden, &filters, Duration::ZERO)
                .await?;
        let told = match found.items.last() {
            Some(newest) if filters.id.is_some() => {
                rendering::request(newest, rendering::FULL_BUDGET)
            }
            _ if filters.after.is_some() => rendering::network(&found, rendering::LIST_BUDGET),
            _ => {
                let hosts = looking::hosts(context, caller, &token).await;
                let not_reached = looking::not_reached(&hosts);
                let told = rendering::network(&found, rendering::LIST_BUDGET);
                format!("{told}{}", rendering::not_reached(&not_reached))
            }
        };
        let data = json!({
            "count": found.items.len(), "cursor": found.cursor, "older": found.older,
        });
        Ok(ToolAnswer::new(&[told], data))
    }
}

/// Gets a tab's console, newest first, a line each. With id: one in full, with its stack. Secrets are hidden.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct BrowserDebugGetConsole {
    /// Of browser_debug_list_tabs
    token: String,
    #[serde(default)]
    #[schemars(schema_with = "levels")]
    level: Vec<ConsoleLevel>,
    /// Regex on the message
    message_pattern: Option<String>,
    /// Only after (ms since 1970)
    #[schemars(with = "Option<u64>")]
    since: Option<EpochMs>,
    /// At most so many
    limit: Option<u32>,
    /// Number of one line
    #[serde(default, deserialize_with = "optional_id")]
    #[schemars(with = "Option<String>")]
    id: Option<String>,
    /// Only new since this cursor
    after: Option<u64>,
    /// Only older than this
    before: Option<u64>,
}

impl Verb for BrowserDebugGetConsole {
    const NAME: &'static str = "browser_debug_get_console";
    const EFFECT: Effect = Effect::Reads;

    fn place(&self) -> ToolPlace {
        ToolPlace::Tab(self.token.clone())
    }

    async fn call(self, call: Call) -> Result<ToolAnswer, Failure> {
        call.require(Scope::Debug).await?;
        let token = tab_token(&self.token)?;
        let filters = ConsoleFilters {
            level: self.level,
            message_pattern: self.message_pattern,
            since: self.since,
            limit: self.limit,
            after: self.after,
            before: self.before,
            id: self.id.as_deref().map(line_number).transpose()?,
        };
        let (context, caller) = (&call.context, &call.caller);
        let found =
            looking::console(context, caller, &token, Sight::Hidden, &filters, Duration::ZERO)
                .await?;
        let told = match found.items.last() {
            Some(newest) if filters.id.is_some() => {
                rendering::entry(newest, rendering::FULL_BUDGET)
            }
            _ => rendering::console(&found, rendering::LIST_BUDGET),
        };
        let data = json!({
            "count": found.items.len(), "cursor": found.cursor, "older": found.older,
        });
        Ok(ToolAnswer::new(&[told], data))
    }
}

/// The number of a line.
fn line_number(id: &str) -> Result<u64, Failure> {
    id.parse().map_err(|_| {
        Failure::from(Invalid {
            field: "id",
            expected: "the number of a line, as browser_debug_get_console shows it",
            found: id.to_owned(),
        })
    })
}

/// Records network and console of a session's tabs, or no longer. Pages get slower.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct SessionDebug {
    /// Default: the active one
    #[serde(alias = "session_id")]
    session_id: Option<String>,
    /// false: no longer, and forget what was recorded
    #[serde(default = "yes")]
    on: bool,
}

fn yes() -> bool {
    true
}

impl Verb for SessionDebug {
    const NAME: &'static str = "session_debug";
    const EFFECT: Effect = Effect::Changes;

    fn place(&self) -> ToolPlace {
        ToolPlace::Session(self.session_id.clone())
    }

    async fn call(self, call: Call) -> Result<ToolAnswer, Failure> {
        call.require(Scope::Drive).await?;
        let session = call.session(self.session_id).await?;
        let switch = SwitchDebug { on: self.on, reveal: false };
        sessions::debug(&call.context, &call.caller, &session, switch).await?;
        let told = if self.on {
            format!(
                "{session} is recorded. browser_debug_list_tabs lists its tabs; what they did before is not known."
            )
        } else {
            format!("{session} is no longer recorded.")
        };
        Ok(ToolAnswer::new(&[told], json!({"session": session, "debug": self.on})))
    }
}

/// An id as clients give it.
#[derive(Deserialize)]
#[serde(untagged)]
enum GivenId {
    Number(u64),
    Text(String),
}

/// An id that some clients give as a number.
fn optional_id<'de, D: Deserializer<'de>>(d: D) -> Result<Option<String>, D::Error> {
    Ok(Option::<GivenId>::deserialize(d)?.map(|given| match given {
        GivenId::Number(number) => number.to_string(),
        GivenId::Text(text) => text,
    }))
}

/// The levels that a console has.
fn levels(_: &mut SchemaGenerator) -> Schema {
    let words: Vec<&str> = ConsoleLevel::ALL.iter().map(|level| level.as_str()).collect();
    json_schema!({ "type": "array", "items": { "type": "string", "enum": words } })
}

/// The token of a tab.
fn tab_token(token: &str) -> Result<TabToken, Failure> {
    token.parse().map_err(|_| {
        // What was given is not repeated: some give the token of a page's header, which is a secret.
        Failure::from(Invalid {
            field: "token",
            expected: "the token of a tab, as browser_debug_list_tabs shows it",
            found: "another text".to_owned(),
        })
    })
}
