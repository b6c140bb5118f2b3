//! Frames for clients, spliced from the browser's own text, and the few parameters that are read.
//!
//! Everything is read tolerantly: a field that is missing or of another type is simply not there.

use crate::cdp::quoted;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The text of `raw`, or an empty object.
pub(super) fn text(raw: Option<&RawValue>) -> &str {
    raw.map_or("{}", RawValue::get)
}

/// The parameters of a call, as they came.
pub(super) fn given(raw: Option<&RawValue>) -> Cow<'_, str> {
    Cow::Borrowed(raw.map_or("null", RawValue::get))
}

/// A reply: `part` is `result` or `error`, `body` its JSON.
pub(super) fn reply(id: u64, session: Option<&str>, part: &str, body: &str) -> Vec<u8> {
    let session = of_session(session);
    format!("{{\"id\":{id},\"{part}\":{body}{session}}}").into_bytes()
}

/// A reply that the browser would have given itself.
pub(super) fn refusal(id: u64, session: Option<&str>, code: i64, message: &str) -> Vec<u8> {
    let body = format!("{{\"code\":{code},\"message\":{}}}", quoted(message));
    reply(id, session, "error", &body)
}

/// An event.
pub(super) fn event(method: &str, session: Option<&str>, params: &str) -> Vec<u8> {
    let (method, session) = (quoted(method), of_session(session));
    format!("{{\"method\":{method},\"params\":{params}{session}}}").into_bytes()
}

fn of_session(session: Option<&str>) -> String {
    session.map(|id| format!(",\"sessionId\":{}", quoted(id))).unwrap_or_default()
}

/// An object with one text field.
pub(super) fn object(field: &str, value: &str) -> String {
    format!("{{{}:{}}}", quoted(field), quoted(value))
}

/// What is read of the parameters of calls, results and events about targets.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Params<'a> {
    /// The target of a call, a result or an event.
    #[serde(borrow, rename = "targetId")]
    pub(super) target: Option<Cow<'a, str>>,
    /// The target of an event that describes it.
    #[serde(borrow, rename = "targetInfo")]
    pub(super) info: Option<TargetInfo<'a>>,
    /// The session that an event or a result is about.
    #[serde(borrow, rename = "sessionId")]
    pub(super) session: Option<Cow<'a, str>>,
    /// Whether a target that was attached waits for its debugger.
    #[serde(rename = "waitingForDebugger")]
    pub(super) waiting: bool,
    /// A page that Chromium itself hides.
    pub(super) hidden: bool,
    /// A page that only Baton hides.
    #[serde(rename = "batonHidden")]
    pub(super) baton_hidden: bool,
    /// The browser's name and version.
    #[serde(borrow)]
    pub(super) product: Option<Cow<'a, str>>,
}

/// What is read of a target's description.
#[derive(Debug, Deserialize)]
pub(super) struct TargetInfo<'a> {
    /// Which.
    #[serde(borrow, rename = "targetId")]
    pub(super) id: Cow<'a, str>,
    /// What: `page`, `iframe`, `tab`, `service_worker` and others.
    #[serde(borrow, default, rename = "type")]
    pub(super) kind: Cow<'a, str>,
}

impl<'a> Params<'a> {
    /// Reads what is there; none when a field is of another type or is there twice.
    pub(super) fn read(raw: Option<&'a RawValue>) -> Option<Self> {
        match raw {
            Some(raw) => serde_json::from_str(raw.get()).ok(),
            None => Some(Self::default()),
        }
    }

    /// Reads what is there; nothing when it cannot be read.
    pub(super) fn parse(raw: Option<&'a RawValue>) -> Self {
        Self::read(raw).unwrap_or_default()
    }

    /// The target, wherever it is named.
    pub(super) fn target_id(&self) -> Option<&str> {
        self.target.as_deref().or(self.info.as_ref().map(|info| info.id.as_ref()))
    }
}

/// Filters the `targetInfos` of a result; what cannot be read stays as it is.
pub(super) fn filter_targets(result: &str, keep: impl Fn(&str) -> bool) -> String {
    #[derive(Deserialize)]
    struct List<'a> {
        #[serde(borrow, rename = "targetInfos")]
        infos: Vec<&'a RawValue>,
    }
    let Ok(list) = serde_json::from_str::<List<'_>>(result) else {
        return result.to_owned();
    };
    let visible = |raw: &&RawValue| {
        serde_json::from_str::<TargetInfo<'_>>(raw.get()).map_or(true, |info| keep(&info.id))
    };
    let kept: Vec<&str> = list.infos.into_iter().filter(visible).map(RawValue::get).collect();
    format!("{{\"targetInfos\":[{}]}}", kept.join(","))
}

/// The parameters without Baton's own fields, and with `newWindow` where it is wanted.
pub(super) fn page_params(params: &str, new_window: bool) -> String {
    let Ok(mut fields) = serde_json::from_str::<serde_json::Map<_, _>>(params) else {
        return params.to_owned();
    };
    fields.remove("batonHidden");
    if new_window {
        fields.insert("newWindow".to_owned(), true.into());
    }
    serde_json::Value::from(fields).to_string()
}
