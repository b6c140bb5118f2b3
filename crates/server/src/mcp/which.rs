//! Which session a tool means: the one that was named, or the caller's only active one.

use super::answer::Failure;
use super::verb::Call;
use baton_api::ListSessions;
use baton_runtime::sessions;
use baton_session::Lifecycle;

/// How many active sessions are named when it is not clear which one is meant.
const NAMED: u32 = 10;

impl Call {
    /// What finds the session: what was named, or the name of the caller's only active session.
    pub(super) async fn session(&self, named: Option<String>) -> Result<String, Failure> {
        if let Some(named) = named {
            return Ok(named);
        }
        let query = ListSessions {
            state: Some(Lifecycle::Active),
            limit: Some(NAMED),
            ..ListSessions::default()
        };
        let found = sessions::list(&self.context, &self.caller.owner, query).await?;
        let active: Vec<&str> = found.items.iter().map(|session| session.name.as_str()).collect();
        match active.as_slice() {
            [only] => Ok((*only).to_owned()),
            [] => Err(Failure::Which { found: "no active session".to_owned() }),
            several => {
                let more = if found.next.is_some() { " and more" } else { "" };
                Err(Failure::Which { found: format!("{}{more}", several.join(", ")) })
            }
        }
    }
}
