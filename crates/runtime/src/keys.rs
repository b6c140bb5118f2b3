//! API keys: what opens the node to callers, how a request shows one, and the operations on them.
//!
//! A secret is `baton_` and 43 characters, the base64url of 32 random bytes. The database knows only its
//! SHA-256. A key is looked up by that hash, so the time a look-up takes says nothing about the secrets that
//! exist; and 256 random bits need no slow hash.

use crate::audit::{Action, Note};
use crate::error::RuntimeError;
use crate::here::Runtime;
use crate::request::{Actor, Caller};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use baton_api::{CreateKey, CreatedKey, Invalid, KeyList, KeyView, Scope};
use baton_net::connections::Keys;
use baton_session::Owner;
use baton_store::{ApiKey, Store, StoreError, clock};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use http::HeaderMap;
use http::header::AUTHORIZATION;
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};

/// What every secret begins with, so that scanners for leaked secrets can find it.
const PREFIX: &str = "baton_";

/// The secret of a key.
#[derive(Debug, Clone)]
pub struct KeySecret(SecretString);

impl KeySecret {
    /// A new one.
    pub fn generate() -> Self {
        let bytes: [u8; 32] = rand::random();
        Self(format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes)).into())
    }

    /// Reads one; `None` when the text does not have the form of a secret.
    pub fn parse(text: &str) -> Option<Self> {
        let random = URL_SAFE_NO_PAD.decode(text.strip_prefix(PREFIX)?).ok()?;
        (random.len() == 32).then(|| Self(text.to_owned().into()))
    }

    /// Whether there is one anywhere in these bytes, whatever surrounds it.
    pub fn stands_in(bytes: &[u8]) -> bool {
        bytes.windows(PREFIX.len()).any(|found| found == PREFIX.as_bytes())
    }

    /// What the database knows of it.
    pub fn hash(&self) -> [u8; 32] {
        Sha256::digest(self.0.expose_secret().as_bytes()).into()
    }

    /// The text, for the one time that it is shown or written.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

/// A request carries no key that opens anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoKey {
    /// What it carries instead; never the key itself.
    pub found: &'static str,
}

/// The key that a request shows. The proxy asks here, too, so that it never passes on as a stranger's what
/// the node takes for a key.
pub fn key_of(headers: &HeaderMap) -> Result<KeySecret, NoKey> {
    let token = authorization(headers)?;
    KeySecret::parse(token).ok_or(NoKey { found: "no key of Baton" })
}

/// The token of a request that shows one. What it is worth is not known.
pub fn token(headers: &HeaderMap) -> Option<&str> {
    let token = authorization(headers).ok()?;
    // A key has no dots; three parts with dots between them are a signed token.
    (token.split('.').count() == 3).then_some(token)
}

/// What a request shows, be it a key or a token.
fn authorization(headers: &HeaderMap) -> Result<&str, NoKey> {
    let none = NoKey { found: "no such header" };
    let value = headers.get(AUTHORIZATION).ok_or(none)?;
    let text = value.to_str().unwrap_or_default();
    match text.split_once([' ', '\t']) {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => Ok(token.trim()),
        _ => Err(NoKey { found: "another kind of credentials" }),
    }
}

/// The keys of a database.
pub struct StoredKeys(pub Store);

impl Keys for StoredKeys {
    fn is_good<'a>(&'a self, owner: &'a Owner, id: &'a str) -> BoxFuture<'a, bool> {
        self.0.is_key_good(owner, id).map(|is_good| is_good.unwrap_or(true)).boxed()
    }
}

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

/// All keys of the owner that is named, or of the caller, without their secrets.
pub async fn list(
    context: &Runtime,
    caller: &Caller,
    owner: Option<Owner>,
) -> Result<KeyList, RuntimeError> {
    let keys = context.store.list_keys(owner.as_ref().unwrap_or(&caller.owner)).await?;
    Ok(KeyList { items: keys.into_iter().map(view).collect() })
}

/// Revokes a key of the owner that is named, or of the caller: from now on it opens nothing.
/// `reference` is its id, or the name of one that is not revoked.
pub async fn revoke(
    context: &Runtime,
    caller: &Caller,
    owner: Option<Owner>,
    reference: &str,
) -> Result<(), RuntimeError> {
    let owner = owner.unwrap_or_else(|| caller.owner.clone());
    let note = Note::new(&caller.actor, &owner, Action::RevokeKey, reference);
    match find(context, &owner, reference).await {
        Ok(key) => {
            let note = note.about(&key.id).with("name", key.name);
            let revoked = context.store.revoke_key(&owner, &key.id, clock::now()).await;
            // It opens nothing any more, also where that cannot be noted.
            context.revoked.send_modify(|count| *count += 1);
            note.end(&context.store, revoked.map_err(RuntimeError::from)).await?;
            tracing::info!(key = %key.id, %owner, "revoked a key");
            Ok(())
        }
        Err(error) => Err(note.failed(&context.store, error).await),
    }
}

async fn find(context: &Runtime, owner: &Owner, reference: &str) -> Result<ApiKey, RuntimeError> {
    let keys = context.store.list_keys(owner).await?;
    let by_id = keys.iter().find(|key| key.id == reference);
    let by_name = || keys.iter().find(|key| key.name == reference && key.revoked_at.is_none());
    let key = by_id.or_else(by_name).cloned();
    Ok(key.ok_or_else(|| StoreError::KeyNotFound { id: reference.to_owned() })?)
}

/// A key as its owner sees it.
fn view(key: ApiKey) -> KeyView {
    KeyView {
        id: key.id,
        name: key.name,
        owner: key.owner,
        scopes: key.scopes,
        created_at: key.created_at,
        revoked_at: key.revoked_at,
        for_node: key.for_node,
    }
}
