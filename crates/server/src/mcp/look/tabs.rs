//! `browser_debug_list_tabs`

use crate::looking;
use crate::mcp::answer::{Answer, Failure};
use crate::mcp::text;
use crate::mcp::verb::{Call, Effect, Verb};
use baton_api::Scope;
use baton_api::debug::DebugTab;
use baton_debug::words;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// How many tabs are listed, the newest.
const LISTED: usize = 50;
/// How long a title and an address are at most, in characters.
const TITLE: usize = 60;
const ADDRESS: usize = 120;

/// Lists the tabs whose network and console can be asked for, with their tokens.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct BrowserDebugListTabs {}

impl Verb for BrowserDebugListTabs {
    const NAME: &'static str = "browser_debug_list_tabs";
    const EFFECT: Effect = Effect::Reads;

    async fn call(self, call: Call) -> Result<Answer, Failure> {
        call.require(Scope::Debug).await?;
        let tabs = looking::list_tabs(&call.context, &call.caller).await?.items;
        let mut told = vec![match tabs.len() {
            0 => "No tabs. session_debug records those of a session.".to_owned(),
            1 => "1 tab".to_owned(),
            count => format!("{count} tabs, newest first"),
        }];
        told.extend(tabs.iter().take(LISTED).map(line));
        if tabs.len() > LISTED {
            told.push(format!("Left out: {} older.", tabs.len() - LISTED));
        }
        let shown: Vec<&DebugTab> = tabs.iter().take(LISTED).collect();
        Ok(Answer::new(&told, json!({"tabs": shown})))
    }
}

fn line(tab: &DebugTab) -> String {
    // What a page wrote begins no line of its own.
    let short = |text: &str, most| text::cut(&words::line(text), most);
    let (of, url, title) =
        (short(&tab.of(), TITLE), short(&tab.url, ADDRESS), short(&tab.title, TITLE));
    format!("{} {of} {url} {title}", tab.token).trim_end().to_owned()
}
