//! Keys of people who came from a provider: made for their pages, and gone with the last of these.
//!
//! The one idea: behind each page stands a key of the database, so all that holds for a key holds for a person: its
//! scopes, its name in the audit log, that revoking it ends everything at once, at any node. But nobody has the secret
//! of this one, and it stays no longer than its pages.

use crate::context::Context;
use crate::error::NodeError;
use crate::page::{OwnPages, PageError, PageKey, PagePerson, PageSessions, hash};
use baton_runtime::keys::new_key;
use baton_session::NodeId;
use baton_store::{ApiKey, PERSON_KEY, StoreError, clock};
use baton_sync::oidc::Person;
use jiff::SignedDuration;
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::time::sleep;

/// How often it is looked at most whether pages of people have ended.
const LOOK_PAUSE: Duration = Duration::from_mins(1);
/// How often a name is tried that is taken.
const NAMES: usize = 5;
/// How old a key of a cluster is at least when it is removed for want of a page.
const BEING_MADE: Duration = Duration::from_mins(1);

/// What the ids of the keys begin with that this node made for people, or any node of its cluster; no other key has such
/// an id.
fn beginning(context: &Context) -> String {
    match &context.cluster {
        None => beginning_of(context.node),
        Some(cluster) => {
            let hash = hash(&format!("pages of {}", cluster.cluster()));
            let [one, two, three, four, ..] = hash;
            format!("{PERSON_KEY}{:08x}_", u32::from_be_bytes([one, two, three, four]))
        }
    }
}

/// The same of a node that is one by itself.
fn beginning_of(node: NodeId) -> String {
    format!("{PERSON_KEY}{}_", node.to_string().replace('-', ""))
}

/// The key behind the pages of a person: the one that they have already, or a new one. The caller has the
/// [turn](crate::page::PageSessions::turn) until there is a page.
pub(crate) async fn key_for(context: &Context, person: Person) -> Result<PageKey, NodeError> {
    let lasts = SignedDuration::try_from(person.lasts).unwrap_or_default();
    let now = context.pages.now();
    let of_page = PagePerson { id: person.id, rule: person.rule, ends_at: now + lasts };
    if let Some(key) = context.pages.key_of_person(person.id, person.rule).await?
        && context.store.find_key(key.secret_hash).await?.is_some()
    {
        return Ok(PageKey { person: Some(of_page), ..key });
    }
    // Nobody has a secret whose hash this is.
    let secret_hash: [u8; 32] = rand::random();
    let random: [u8; 8] = rand::random();
    let id = format!("{}{:016x}", beginning(context), u64::from_be_bytes(random));
    let mut key = new_key(person.name.clone(), person.owner.clone(), person.scopes);
    (key.id, key.created_at) = (id, now);
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
    key.starts_with(&beginning(context))
}

/// Removes the keys whose pages have all ended; what was still open with them ends at once.
pub(crate) async fn sweep(context: &Context) -> Result<(), StoreError> {
    let gone = match &context.pages {
        PageSessions::Own(pages) => {
            let _turn = pages.turn().await;
            let (kept, _) = pages.keys_of_persons();
            context.store.remove_keys(&beginning(context), &kept).await?
        }
        // One that has just been made has no page yet.
        PageSessions::Shared(pages) => pages.remove_keys(&beginning(context), BEING_MADE).await?,
    };
    if gone > 0 {
        context.revoked.send_modify(|count| *count += 1);
        tracing::info!(gone, "pages of people have ended");
    }
    Ok(())
}

/// Ends what rules gave that the settings do not name any more, and from now on removes keys when their pages end.
pub(crate) async fn start(context: &Context) -> Result<(), PageError> {
    let rules = context.sign_in.as_ref().map(|sign_in| sign_in.settings().rule_ids());
    context.pages.keep_rules(&rules.unwrap_or_default()).await?;
    let (around, ending) = (context.clone(), context.ending.clone());
    match context.pages.clone() {
        PageSessions::Own(pages) => context.tasks.spawn(async move {
            ending.run_until_cancelled(Box::pin(tidy(around, pages))).await;
        }),
        PageSessions::Shared(pages) => {
            // Those that this node made before it was one of a cluster have no page any more.
            context.store.remove_keys(&beginning_of(context.node), &BTreeSet::new()).await?;
            context.tasks.spawn(pages.watch(ending.clone()));
            context.tasks.spawn(async move {
                ending.run_until_cancelled(Box::pin(tidy_shared(around))).await;
            })
        }
    };
    Ok(())
}

/// Any node of a cluster may have signed people in, also where it has ended since.
async fn tidy_shared(context: Context) {
    loop {
        if let Err(error) = sweep(&context).await {
            tracing::warn!(%error, "keys of people whose pages have ended are still there");
        }
        sleep(LOOK_PAUSE).await;
    }
}

async fn tidy(context: Context, pages: OwnPages) {
    let mut is_due = true;
    loop {
        let (before, first) = pages.keys_of_persons();
        if is_due && let Err(error) = sweep(&context).await {
            tracing::warn!(%error, "keys of people whose pages have ended are still there");
        }
        if context.sign_in.is_none() {
            return;
        }
        let left = first.map(|first| first.duration_since(clock::now()));
        let left = left.map_or(LOOK_PAUSE, |left| Duration::try_from(left).unwrap_or_default());
        sleep(left.clamp(Duration::from_secs(1), LOOK_PAUSE)).await;
        let (now, _) = pages.keys_of_persons();
        is_due = !before.is_subset(&now);
    }
}
