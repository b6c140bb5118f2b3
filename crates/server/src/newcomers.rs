//! Keys of people who came from a provider: made for their pages, and gone with the last of these.
//!
//! The one idea: behind each page stands a key of the database, so all that holds for a key holds for a person: its
//! scopes, its name in the audit log, that revoking it ends everything at once, at any node. But nobody has the secret
//! of this one, and it stays no longer than its pages.

use crate::context::Context;
use crate::error::NodeError;
use crate::page::{PageKey, PagePerson};
use baton_runtime::keys::new_key;
use baton_session::NodeId;
use baton_store::data::DataError;
use baton_store::{ApiKey, PERSON_KEY, StoreError, clock};
use baton_sync::oidc::Person;
use jiff::SignedDuration;
use std::time::Duration;
use tokio::time::sleep;

/// How often it is looked at most whether pages of people have ended.
const LOOK_PAUSE: Duration = Duration::from_mins(1);
/// How often a name is tried that is taken.
const NAMES: usize = 5;

/// What the ids of the keys begin with that a node made for people; no other key has such an id.
fn beginning(node: NodeId) -> String {
    format!("{PERSON_KEY}{}_", node.to_string().replace('-', ""))
}

/// The key behind the pages of a person: the one that they have already, or a new one. The caller has the
/// [turn](crate::page::PageSessions::turn) until there is a page.
pub(crate) async fn key_for(context: &Context, person: Person) -> Result<PageKey, NodeError> {
    let lasts = SignedDuration::try_from(person.lasts).unwrap_or_default();
    let of_page = PagePerson { id: person.id, rule: person.rule, ends_at: clock::now() + lasts };
    if let Some(key) = context.pages.key_of_person(person.id, person.rule)
        && context.store.find_key(key.secret_hash).await?.is_some()
    {
        return Ok(PageKey { person: Some(of_page), ..key });
    }
    // Nobody has a secret whose hash this is.
    let secret_hash: [u8; 32] = rand::random();
    let random: [u8; 8] = rand::random();
    let id = format!("{}{:016x}", beginning(context.node), u64::from_be_bytes(random));
    let mut key = new_key(person.name.clone(), person.owner.clone(), person.scopes);
    key.id = id;
    create(context, &mut key, secret_hash).await?;
    Ok(PageKey { secret_hash, id: key.id, owner: key.owner, person: Some(of_page) })
}

/// Stores a key, under another name where its own is taken: by the pages of the same person at another node, or by
/// another provider's person.
async fn create(
    context: &Context,
    key: &mut ApiKey,
    secret_hash: [u8; 32],
) -> Result<(), StoreError> {
    let name = key.name.clone();
    for _ in 0..NAMES {
        match context.store.create_key(key, secret_hash).await {
            Err(StoreError::KeyNameTaken { .. }) => {
                key.name = format!("{name} {:04x}", rand::random::<u16>());
            }
            created => return created,
        }
    }
    Err(StoreError::KeyNameTaken { name })
}

/// Whether a key was made for a person's pages.
pub(crate) fn is_of_person(context: &Context, key: &str) -> bool {
    key.starts_with(&beginning(context.node))
}

/// Removes the keys whose pages have all ended; what was still open with them ends at once.
pub(crate) async fn sweep(context: &Context) -> Result<(), StoreError> {
    let _turn = context.pages.turn().await;
    let (kept, _) = context.pages.keys_of_persons();
    let gone = context.store.remove_keys(&beginning(context.node), &kept).await?;
    if gone > 0 {
        context.revoked.send_modify(|count| *count += 1);
        tracing::info!(gone, "pages of people have ended");
    }
    Ok(())
}

/// Ends what rules gave that the settings do not name any more, and from now on removes keys when their pages end.
pub(crate) async fn start(context: &Context) -> Result<(), DataError> {
    let rules = context.sign_in.as_ref().map(|sign_in| sign_in.settings().rule_ids());
    context.pages.keep_rules(&rules.unwrap_or_default()).await?;
    let (task, ending) = (tidy(context.clone()), context.ending.clone());
    context.tasks.spawn(async move {
        ending.run_until_cancelled(Box::pin(task)).await;
    });
    Ok(())
}

async fn tidy(context: Context) {
    let mut is_due = true;
    loop {
        let (before, first) = context.pages.keys_of_persons();
        if is_due && let Err(error) = sweep(&context).await {
            tracing::warn!(%error, "keys of people whose pages have ended are still there");
        }
        if context.sign_in.is_none() {
            return;
        }
        let left = first.map(|first| first.duration_since(clock::now()));
        let left = left.map_or(LOOK_PAUSE, |left| Duration::try_from(left).unwrap_or_default());
        sleep(left.clamp(Duration::from_secs(1), LOOK_PAUSE)).await;
        let (now, _) = context.pages.keys_of_persons();
        is_due = !before.is_subset(&now);
    }
}
