//! Asks another service for a session that is to be handed in.
//!
//! The one idea: a service is one of the settings, and is asked with the key that the settings name, never
//! the caller's; and only for the owner whose that key is. So nobody reaches through this node what they
//! could not reach themselves.

use super::error::SandboxRefusal;
use super::settings::SessionService;
use crate::context::Agents;
use crate::error::AgentsError;
use baton_net::client;
use baton_net::outbound::Reach;
use baton_runtime::Caller;
use baton_session::import::{self, ImportError, Imported};
use baton_session::{Receipt, State};
use baton_store::blocking::blocking;
use baton_store::plain;
use secrecy::SecretString;
use std::time::Duration;
use url::Url;

/// The largest answer, in bytes.
const ANSWER_MAX: usize = 128 << 20;
/// How long an answer may take.
const ANSWER_LIMIT: Duration = Duration::from_secs(30);

/// What a session holds at a service: `GET URL/ID/state?reveal=true`, as a Baton answers it, or any file
/// that is imported.
pub(super) async fn fetch(
    context: &Agents,
    caller: &Caller,
    url: &str,
    session: &str,
) -> Result<(State, Receipt), AgentsError> {
    let services = &context.sandboxes.settings().services;
    let named = url.parse::<Url>().ok();
    let found = services.iter().find(|one| {
        one.owner == caller.owner && named.as_ref().is_some_and(|named| is_same(named, &one.url))
    });
    let service = found.ok_or(SandboxRefusal::UnknownService)?;
    let failed = |why: String| SandboxRefusal::Service { url: service.url.clone(), why };
    let asked = ask(context, service, session);
    let answer = tokio::time::timeout(ANSWER_LIMIT, asked).await;
    let answer = answer.map_err(|_| failed(format!("no answer within {ANSWER_LIMIT:?}")))??;
    Ok(blocking(move || read(&answer)).await?.map_err(failed)?)
}

/// The same address, whether or not a slash stands at its end.
fn is_same(one: &Url, other: &Url) -> bool {
    one.as_str().trim_end_matches('/') == other.as_str().trim_end_matches('/')
}

async fn ask(
    context: &Agents,
    service: &SessionService,
    session: &str,
) -> Result<Vec<u8>, AgentsError> {
    let failed = |why: String| SandboxRefusal::Service { url: service.url.clone(), why };
    let key = plain::secret(&service.key_file).await;
    let key = key.map_err(|error| failed(format!("its key cannot be read: {error}")))?;
    let key = SecretString::from(key.trim());
    let client = client::client(&context.outbound, &service.url, Reach::default()).await?;
    let url = client::address(&service.url, &[session, "state"])?;
    let call = client.get(url).query(&[("reveal", true)]);
    let call = call.header("authorization", client::bearer(&key)?);
    let response = call.send().await.map_err(|error| failed(client::said(error)))?;
    let status = response.status();
    match status.as_u16() {
        200 => {}
        404 => return Err(SandboxRefusal::NotThere { session: session.to_owned() }.into()),
        300..=399 => {
            return Err(failed("it sends us elsewhere, where we do not go".to_owned()).into());
        }
        401 | 403 => return Err(failed("it refuses our key".to_owned()).into()),
        _ => return Err(failed(format!("it answers {status}")).into()),
    }
    client::bounded(response, ANSWER_MAX).await.map_err(|why| failed(why).into())
}

fn read(answer: &[u8]) -> Result<(State, Receipt), String> {
    match import::read(answer) {
        Ok(Imported { state, left_out, .. }) => Ok((state, left_out)),
        Err(ImportError::Redacted) => {
            Err("its answer has no secrets: its key for us lacks the scope reveal".to_owned())
        }
        Err(error) => Err(error.to_string()),
    }
}
