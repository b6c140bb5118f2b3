//! Sessions as tools: listed, opened, brought back, saved, and ended.

use crate::mcp::answer;
use crate::mcp::answer::{Failure, ToolAnswer};
use crate::mcp::verb::{Call, Effect, ToolPlace, Verb};
use baton_api::sync::{HandedView, Handing, HolderView};
use baton_api::{Invalid, OpenSession, ResumeResult, ResumeSession, Scope, SessionSummary};
use baton_runtime::sessions;
use baton_session::egress::Egress;
use baton_session::{Certificate, Environment, Lifecycle, SessionId};
use baton_store::clock;
use baton_sync::{Elsewhere, held_elsewhere};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use url::Url;

/// How many sessions a page has when nothing else was asked for, and at most.
const PAGE: u32 = 100;
/// How many pages are looked through for sessions that are not closed.
const PAGES: usize = 20;
/// How many sessions that are elsewhere are listed.
const TOLD: usize = 20;
/// How much of an id is shown: the part that tells when the session was opened, to the millisecond.
const PREFIX: usize = 13;

/// Lists saved browser sessions (logins), newest first.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListSessions {
    /// Default: all but closed
    state: Option<Filter>,
    /// nextCursor of the page before
    cursor: Option<SessionCursor>,
    /// 1 to 100
    limit: Option<u32>,
}

/// Which sessions are listed.
#[derive(Deserialize, JsonSchema, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Filter {
    Active,
    Recoverable,
    Stale,
    Failed,
    Closed,
    All,
}

/// A session's id, as text in the schema.
#[derive(Deserialize, JsonSchema)]
#[serde(transparent)]
struct SessionCursor(#[schemars(with = "String")] SessionId);

impl Filter {
    fn lifecycle(self) -> Option<Lifecycle> {
        Some(match self {
            Self::Active => Lifecycle::Active,
            Self::Recoverable => Lifecycle::Recoverable,
            Self::Stale => Lifecycle::Stale,
            Self::Failed => Lifecycle::Failed,
            Self::Closed => Lifecycle::Closed,
            Self::All => return None,
        })
    }
}

fn holder_name(holder: &HolderView) -> String {
    holder.name.as_ref().map_or_else(|| holder.node_id.to_string(), |name| answer::cut(name, 100))
}

impl Verb for ListSessions {
    const NAME: &'static str = "list_sessions";
    const EFFECT: Effect = Effect::Reads;

    async fn call(self, call: Call) -> Result<ToolAnswer, Failure> {
        call.require(Scope::Read).await?;
        let looks = self.state.is_none() && self.cursor.is_none();
        let (found, next) = self.find(&call).await?;
        let now = clock::now();
        // An agent that looks for what it had hears where it is now.
        let elsewhere =
            if looks { held_elsewhere(&call.context, &call.caller).await? } else { Vec::new() };
        let mut told = vec![match found.len() {
            0 if !elsewhere.is_empty() => "No sessions here.".to_owned(),
            0 if next.is_some() => "Only closed ones so far; there may be others.".to_owned(),
            0 => "No sessions. session_open opens one.".to_owned(),
            _ => "sessionId state changed".to_owned(),
        }];
        let mut rows = Vec::new();
        for session in &found {
            let (id, state) = (reference(session), session.state);
            let age = answer::age(session.updated_at, now);
            let (line, row) = match state {
                // Its name is free for others.
                Lifecycle::Closed => {
                    let name = &session.name;
                    (format!("{id} {state} {age} ({name})"), json!([id, state, age, name]))
                }
                _ => (format!("{id} {state} {age}"), json!([id, state, age])),
            };
            told.push(line);
            rows.push(row);
        }
        for Elsewhere { name, holder, .. } in elsewhere.iter().take(TOLD) {
            let (at, age) = (holder_name(holder), answer::age(holder.since, now));
            told.push(format!(
                "{name} is held by {at} since {age} ago; session_resume brings it here"
            ));
        }
        if elsewhere.len() > TOLD {
            told.push(format!("and {} more are held by other nodes", elsewhere.len() - TOLD));
        }
        if let Some(next) = next {
            told.push(format!("More: cursor {next}"));
        }
        let columns = ["sessionId", "state", "changed", "name of a closed one"];
        let mut data = json!({"columns": columns, "rows": rows});
        if let Some(next) = next {
            data["nextCursor"] = json!(next);
        }
        Ok(ToolAnswer::new(&told, data))
    }
}

impl ListSessions {
    /// A page of those that were asked for. Closed ones are many and seldom meant.
    async fn find(self, call: &Call) -> Result<(Vec<SessionSummary>, Option<SessionId>), Failure> {
        let limit = self.limit.unwrap_or(PAGE).min(PAGE);
        let mut query = baton_api::ListSessions {
            state: self.state.and_then(Filter::lifecycle),
            after: self.cursor.map(|cursor| cursor.0),
            limit: Some(limit),
        };
        let mut found = Vec::new();
        for _ in 0..PAGES {
            let page = sessions::list(&call.context, &call.caller.owner, query).await?;
            let next = page.next;
            let wanted = |session: &SessionSummary| {
                self.state.is_some() || session.state != Lifecycle::Closed
            };
            found.extend(page.items.into_iter().filter(wanted));
            query.after = next;
            if next.is_none() || !found.is_empty() {
                break;
            }
        }
        Ok((found, query.after))
    }
}

/// What finds the session: its name, or the beginning of its id when the name is free again.
fn reference(session: &SessionSummary) -> String {
    match session.state {
        Lifecycle::Closed => session.id.to_string().chars().take(PREFIX).collect(),
        _ => session.name.to_string(),
    }
}

/// Opens a browser as a new session. What is done in it is kept from now on.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SessionOpen {
    /// New and telling, such as shop-admin
    name: String,
    /// One tab each
    #[serde(default)]
    urls: Vec<String>,
    description: Option<String>,
    /// With a window, for a person to log in
    #[serde(default)]
    headed: bool,
    /// Record network and console
    #[serde(default)]
    debug: bool,
    /// Such as Asia/Tokyo
    timezone: Option<String>,
    /// Such as ja-JP
    locale: Option<String>,
    /// PEM of further authorities
    #[serde(default)]
    certificates: Vec<String>,
    /// Only these hosts, such as *.example.org
    #[serde(default)]
    only: Vec<String>,
    /// The proxy through which it goes, without credentials
    proxy: Option<String>,
}

impl Verb for SessionOpen {
    const NAME: &'static str = "session_open";
    const EFFECT: Effect = Effect::Changes;

    fn place(&self) -> ToolPlace {
        ToolPlace::Room
    }

    async fn call(self, call: Call) -> Result<ToolAnswer, Failure> {
        call.require(Scope::Drive).await?;
        let request = self.request()?;
        let doing = format!("opening {}", request.name);
        let opening = Box::pin(sessions::open(&call.context, &call.caller, request));
        let view = call.progress.during(&doing, opening).await?;
        let (mut told, data) = answer::session(&view, clock::now());
        told.push(answer::next_step(view.session.state).to_owned());
        Ok(ToolAnswer::new(&told, data))
    }
}

impl SessionOpen {
    fn request(self) -> Result<OpenSession, Failure> {
        let name = self.name.parse();
        let name = name.map_err(|error| Failure::Arguments(format!("name: {error}")))?;
        let mut urls = Vec::new();
        for url in self.urls {
            let parsed = Url::parse(&url).map_err(|_| Invalid {
                field: "urls",
                expected: "addresses such as https://example.org",
                found: answer::cut(&url, 100),
            })?;
            urls.push(parsed);
        }
        let mut certificates = Vec::new();
        for text in self.certificates {
            let read = Certificate::read_all(&text);
            let read =
                read.map_err(|error| Failure::Arguments(format!("certificates: {error}")))?;
            certificates.extend(read);
        }
        let environment = Environment {
            timezone: self.timezone,
            locale: self.locale,
            certificates,
            egress: Egress::asked(self.only, self.proxy),
            ..Environment::default()
        };
        let (description, headed, debug) = (self.description, self.headed, self.debug);
        Ok(OpenSession { description, headed, debug, environment, ..OpenSession::new(name, urls) })
    }
}

/// What a model does after a loss.
const TELL: &str = "Tell the user what was lost; check whether the site still knows them.";

/// Brings a session that is not active back, logged in, with its tabs. The receipt names what was
/// lost.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct SessionResume {
    /// Name or id
    #[serde(alias = "session_id")]
    session_id: String,
}

impl Verb for SessionResume {
    const NAME: &'static str = "session_resume";
    const EFFECT: Effect = Effect::Changes;

    fn place(&self) -> ToolPlace {
        ToolPlace::SessionOrRoom(self.session_id.clone())
    }

    async fn call(self, call: Call) -> Result<ToolAnswer, Failure> {
        call.require(Scope::Drive).await?;
        let (told, data) = resume(&call, &self.session_id).await?;
        Ok(ToolAnswer::new(&told, data))
    }
}

/// Resumes a session, and tells what came back.
pub(in crate::mcp) async fn resume(
    call: &Call,
    session: &str,
) -> Result<(Vec<String>, Value), Failure> {
    let doing = format!("resuming {}", answer::cut(session, 100));
    let resuming =
        Box::pin(sessions::resume(&call.context, &call.caller, session, ResumeSession::default()));
    Ok(result(&call.progress.during(&doing, resuming).await?))
}

/// How a session came from the node that held it.
fn came(HandedView { name, how, .. }: &HandedView) -> String {
    let name = answer::cut(name, 100);
    match how {
        Handing::HandedOver => {
            format!("{name} saved it and handed it over: it does not run there any more.")
        }
        Handing::TakenOver => format!(
            "{name} held it and does not answer: taken over as it was saved last. Tell the user: what was \
             done there since is not in it."
        ),
    }
}

/// What a resume or a rollback did.
pub(super) fn result(resumed: &ResumeResult) -> (Vec<String>, Value) {
    let view = &resumed.session;
    let (mut told, mut data) = answer::session(view, clock::now());
    if let Some(handed) = &resumed.handed {
        told.push(came(handed));
        data["handed"] = json!(handed);
    }
    if let Some(receipt) = &view.receipt {
        let (lines, items) = answer::receipt(receipt);
        told.push("Receipt:".to_owned());
        told.extend(lines);
        data["receipt"] = items;
        if receipt.has_losses() {
            told.push(TELL.to_owned());
        }
    }
    data["timing"] = json!(resumed.timing);
    told.push(answer::next_step(view.session.state).to_owned());
    (told, data)
}

/// Saves an active session now. Call it after a login; other changes are saved by themselves.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct SessionCapture {
    /// Default: the active one
    #[serde(alias = "session_id")]
    session_id: Option<String>,
}

impl Verb for SessionCapture {
    const NAME: &'static str = "session_capture";
    const EFFECT: Effect = Effect::Changes;

    fn place(&self) -> ToolPlace {
        ToolPlace::Session(self.session_id.clone())
    }

    async fn call(self, call: Call) -> Result<ToolAnswer, Failure> {
        call.require(Scope::Drive).await?;
        let session = call.session(self.session_id).await?;
        let found = call.context.find(&call.caller.owner, &session).await?;
        let (id, name) = (found.id, found.name.clone());
        let capturing = sessions::capture(&call.context, &call.caller, found);
        let view = call.progress.during(&format!("capturing {name}"), capturing).await?;
        let mut told = vec![format!("Saved {name}: {}.", answer::snapshot(&view, clock::now()))];
        told.extend(answer::unread(&view));
        let data = json!({"sessionId": id, "snapshot": view.id, "unread": view.unread});
        Ok(ToolAnswer::new(&told, data))
    }
}

/// Saves a session and ends its browser. session_resume can still bring it back.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct SessionClose {
    /// Default: the active one
    #[serde(alias = "session_id")]
    session_id: Option<String>,
}

impl Verb for SessionClose {
    const NAME: &'static str = "session_close";
    const EFFECT: Effect = Effect::Changes;

    fn place(&self) -> ToolPlace {
        ToolPlace::Session(self.session_id.clone())
    }

    async fn call(self, call: Call) -> Result<ToolAnswer, Failure> {
        call.require(Scope::Drive).await?;
        let session = call.session(self.session_id).await?;
        let doing = format!("closing {}", answer::cut(&session, 100));
        let closing = Box::pin(sessions::close(&call.context, &call.caller, &session));
        let view = call.progress.during(&doing, closing).await?;
        let (told, data) = answer::session(&view, clock::now());
        Ok(ToolAnswer::new(&told, data))
    }
}

/// Ends a session without saving what came after its last snapshot. The user is asked first.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct SessionAbandon {
    /// Name or id
    #[serde(alias = "session_id")]
    session_id: String,
}

impl Verb for SessionAbandon {
    const NAME: &'static str = "session_abandon";
    const EFFECT: Effect = Effect::Destroys;

    fn place(&self) -> ToolPlace {
        ToolPlace::Session(Some(self.session_id.clone()))
    }

    async fn call(self, call: Call) -> Result<ToolAnswer, Failure> {
        call.require(Scope::Drive).await?;
        let Call { context, caller, confirm, .. } = call;
        let session = context.find(&caller.owner, &self.session_id).await?;
        let (id, name) = (session.id, session.name.clone());
        let what = format!(
            "Abandon session {name}? What happened since its last snapshot is lost, and its browser \
             profile is removed."
        );
        confirm.ask(id, what, format!("baton sessions abandon {name}")).await?;
        let view = sessions::abandon(&context, &caller, session).await?;
        let (told, data) = answer::session(&view, clock::now());
        Ok(ToolAnswer::new(&told, data))
    }
}

#[cfg(test)]
mod tests {
    use super::{answer, result};
    use baton_session::Receipt;
    use baton_session::receipt::{ItemKind, ReceiptItem};
    use serde_json::json;

    #[test]
    fn it_is_told_that_another_node_had_the_session() {
        let told = ["handed_over", "taken_over"].map(|how| {
            let node = "0197c0de-0000-8000-8000-000000000001";
            let resumed = json!({
                "id": "0197c0de-5100-7000-8000-000000000002", "name": "shop", "description": "",
                "owner": "local", "node": node, "headed": false, "state": "active",
                "created_at": "2026-03-01T12:00:00Z", "updated_at": "2026-03-01T12:00:00Z",
                "tabs": [], "timing": {},
                "handed": {"node_id": node, "name": "cloud", "how": how},
            });
            let (told, data) = result(&serde_json::from_value(resumed).unwrap());
            assert_eq!(data["handed"]["how"], how);
            told[1].clone()
        });
        insta::assert_snapshot!(told.join("\n"), @r"
        cloud saved it and handed it over: it does not run there any more.
        cloud held it and does not answer: taken over as it was saved last. Tell the user: what was done there since is not in it.
        ");
    }

    #[test]
    fn a_model_is_told_that_sites_see_another_browser() {
        let reason = "signed in with Chrome 147 on Windows, and sites see Chrome 156 on Linux now";
        let mut receipt = Receipt::default();
        receipt.push(ReceiptItem::restored(ItemKind::Cookie, "shop.test/ sid"));
        receipt.push(ReceiptItem {
            reason: Some(reason.to_owned()),
            ..ReceiptItem::restored(ItemKind::Environment, "browser")
        });
        insta::assert_snapshot!(answer::receipt(&receipt).0.join("\n"), @r"
        2 items restored, 0 rejected, 0 not portable, 0 pending.
        restored: environment browser (1) signed in with Chrome 147 on Windows, and sites see Chrome 156 on Linux now
        ");
    }
}
