//! Makes a key.

use super::secret::KeySecret;
use super::view;
use crate::actor::Actor;
use crate::audit::{Action, Note};
use crate::caller::Caller;
use crate::error::RuntimeError;
use crate::here::Runtime;
use baton_api::Invalid;
use baton_api::{CreateKey, CreatedKey, Scope};
use baton_session::Owner;
use baton_store::ApiKey;
use baton_store::clock;

/// Makes a key for the owner that is named, or for the caller; its secret is shown this once, and
/// only once that is in the audit log.
pub async fn create(
    context: &Runtime,
    caller: &Caller,
    request: CreateKey,
) -> Result<CreatedKey, RuntimeError> {
    check(&request)?;
    let owner = request.owner.unwrap_or_else(|| caller.owner.clone());
    let key = ApiKey { for_node: request.for_node, ..new_key(request.name, owner, request.scopes) };
    let secret = KeySecret::generate();
    let made = context.store.create_key(&key, secret.hash()).await.map_err(RuntimeError::from);
    note(&caller.actor, &key).end(&context.store, made).await?;
    tracing::info!(key = %key.id, owner = %key.owner, "made a key");
    Ok(CreatedKey { key: view(key), secret: secret.expose().to_owned() })
}

/// What is noted about a key that is made.
pub fn note(actor: &Actor, key: &ApiKey) -> Note {
    let scopes: Vec<&str> = key.scopes.iter().map(|scope| scope.as_str()).collect();
    let note = Note::new(actor, &key.owner, Action::CreateKey, &key.id);
    let note = note.with("name", key.name.as_str()).with("scopes", scopes);
    match key.for_node {
        Some(made_for) => note.with("for_node", made_for.to_string()),
        None => note,
    }
}

/// A key of now.
pub fn new_key(name: String, owner: Owner, scopes: impl IntoIterator<Item = Scope>) -> ApiKey {
    let random: [u8; 8] = rand::random();
    ApiKey {
        id: format!("key_{:016x}", u64::from_be_bytes(random)),
        name,
        owner,
        scopes: scopes.into_iter().collect(),
        created_at: clock::now(),
        revoked_at: None,
        for_node: None,
    }
}

fn check(request: &CreateKey) -> Result<(), RuntimeError> {
    let name = &request.name;
    if !(1..=64).contains(&name.chars().count()) || name.chars().any(char::is_control) {
        let found = format!("{name:?}");
        let expected = "1 to 64 characters, none of them a control character";
        return Err(Invalid { field: "name", expected, found }.into());
    }
    if request.scopes.is_empty() {
        let expected = "at least one scope";
        return Err(Invalid { field: "scopes", expected, found: "none".to_owned() }.into());
    }
    if request.for_node.is_some() && !request.scopes.contains(&Scope::Sync) {
        let found =
            request.scopes.iter().map(|scope| scope.as_str()).collect::<Vec<_>>().join(", ");
        let expected = "sync among them where the key is for one node";
        return Err(Invalid { field: "scopes", expected, found }.into());
    }
    Ok(())
}
