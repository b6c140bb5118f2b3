//! The entry of Baton in a list of MCP servers.

use super::Form;
use serde::Serialize;
use serde_json::{Value, json};

/// What the entry is called.
pub(super) const NAME: &str = "baton";

/// What a client starts.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Entry {
    /// The full path of the program.
    pub(crate) command: String,
    /// Its arguments.
    pub(crate) args: Vec<String>,
}

/// Keys and values of an entry, in their order.
pub(crate) type Fields = Vec<(String, Value)>;

/// The keys that Baton writes. Whatever else an entry says is its owner's.
const OURS: [&str; 3] = ["type", "command", "args"];

/// The keys of a server that is no program on this machine. They do not go together with ours.
const ELSEWHERE: [&str; 3] = ["url", "httpUrl", "serverUrl"];

impl Entry {
    /// What is written of it.
    pub(super) fn fields(&self, form: Form) -> Fields {
        let typed = matches!(form, Form::Json { typed: true, .. });
        let kind = typed.then(|| ("type".to_owned(), json!("stdio")));
        let ours =
            [("command".to_owned(), json!(self.command)), ("args".to_owned(), json!(self.args))];
        kind.into_iter().chain(ours).collect()
    }
}

/// Whether what Baton writes fits into an entry beside what stands there.
pub(super) fn can_keep(entry: &Value) -> bool {
    entry.is_object() && ELSEWHERE.iter().all(|key| entry.get(key).is_none())
}

/// What may be shown of an entry that is there: the values of our keys, and of an entry that is to go
/// as a whole the names of the others. Their values may be secrets.
pub(super) fn shown(entry: &Value) -> Fields {
    let whole = !can_keep(entry);
    let Some(entry) = entry.as_object() else { return vec![("…".to_owned(), json!("…"))] };
    let ours = OURS.iter().filter_map(|key| Some(((*key).to_owned(), entry.get(*key)?.clone())));
    let others = entry.keys().filter(|key| whole && !OURS.contains(&key.as_str()));
    ours.chain(others.map(|key| (key.clone(), json!("…")))).collect()
}
