//! The second node: it fetches the session from the first one, which runs it, and goes on with it in a
//! browser of its own.
//!
//! The two share no file. The second one knows of the first where it is asked, an API key that it gave
//! out, and its fingerprint.

use super::steps::Steps;
use super::visitor::Shown;
use super::{SESSION, look, resume, start_node};
use anyhow::{Context as _, Result, ensure};
use baton_api::sync::{ConfirmPeer, Handing, MovementOutcome, RegisterPeer, SaveSession};
use baton_api::{CreateKey, ResumeResult, Scope};
use baton_playground::House;
use baton_session::peer::AuthMethod;
use serde::Serialize;
use url::Url;

/// What the second node calls the first.
const FIRST: &str = "first";

/// What became of the session at the second node.
#[derive(Serialize)]
pub(super) struct Carried {
    /// What the page shows there.
    pub(super) shown: Shown,
    /// What the resume there did.
    pub(super) resume: ResumeResult,
}

/// Moves the session; fails when the page shows anything else there than before.
pub(super) async fn carry(
    steps: &mut Steps,
    first: &House,
    second: &mut House,
    home: &Url,
    before: &Shown,
) -> Result<Carried> {
    steps.step("save the session", save(first)).await?;
    steps.step("start a second node", start_node(second)).await?;
    steps.step("register the first node there", register(first, second)).await?;
    steps.step("compare its fingerprint", confirm(first, second)).await?;
    steps.step("pull the session", pull(second)).await?;
    let resume = steps.step("resume it there", take(second)).await?;
    let id = resume.session.session.id;
    let shown = steps.step("look at the page there", look(second, id, home, before)).await?;
    Ok(Carried { shown, resume })
}

async fn save(first: &House) -> Result<((), String)> {
    let node = first.client()?;
    let saved = node.save_session(SESSION, &SaveSession::default()).await?;
    Ok(((), format!("revision {}; its browser runs on", saved.version)))
}

async fn register(first: &House, second: &House) -> Result<((), String)> {
    let name = "second".to_owned();
    // The key is made for that node, so nobody at the first one has to confirm it.
    let for_node = Some(second.client()?.list_peers().await?.fingerprint);
    let request = CreateKey { name, owner: None, scopes: [Scope::Sync].into(), for_node };
    let key = first.client()?.create_key(&request).await?;
    let request = RegisterPeer {
        url: first.client()?.base().clone(),
        name: FIRST.to_owned(),
        auth_method: AuthMethod::ApiKey,
        api_key: Some(key.secret),
        oidc: None,
        tunnel_token: None,
        fingerprint: None,
        limits: None,
    };
    let peer = second.client()?.register_peer(&request).await?;
    Ok(((), format!("“{}”, {}", peer.name, peer.state)))
}

async fn confirm(first: &House, second: &House) -> Result<((), String)> {
    let fingerprint = first.client()?.list_peers().await?.fingerprint;
    let peer = second.client()?.confirm_peer(FIRST, &ConfirmPeer { fingerprint }).await?;
    let shown = fingerprint.to_string();
    let begins = shown.get(..9).unwrap_or(&shown);
    Ok(((), format!("{begins} … at both; “{}” is {}", peer.name, peer.state)))
}

async fn pull(second: &House) -> Result<((), String)> {
    let moved = second.client()?.pull_session(FIRST, SESSION).await?;
    let found = moved.outcome;
    ensure!(found == MovementOutcome::Moved, "expected the session to move, found {found:?}");
    Ok(((), format!("{} parts, {} bytes, sealed on the way", moved.parts, moved.bytes)))
}

/// The first node runs the session: it captures it once more, saves and closes it, and hands it over.
async fn take(second: &House) -> Result<(ResumeResult, String)> {
    let (resumed, said) = resume(second).await?;
    let handed = resumed.handed.as_ref().context("expected another node to hold the session")?;
    let found = handed.how;
    ensure!(found == Handing::HandedOver, "expected it to be handed over, found {found:?}");
    let said = format!("“{}” handed it over; {said}", handed.name);
    Ok((resumed, said))
}
