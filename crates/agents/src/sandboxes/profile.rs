//! Puts the profile of a session into a sandbox.

use super::PROFILE;
use super::error::SandboxRefusal;
use super::found::Found;
use super::run::within_limit;
use crate::context::Agents;
use crate::error::AgentsError;
use baton_browser::profile::at_rest::Instant;
use baton_browser::profile::compile::Times;
use baton_browser::profile::packed::Pack;
use baton_sandbox::Sandbox;
use baton_store::blocking::blocking;
use baton_store::clock;
use futures_util::future::join_all;

/// Makes the profile of a session, whose state goes with that.
pub(super) async fn pack(context: &Agents, found: &mut Found) -> Result<Pack, AgentsError> {
    let now = Instant(clock::now().as_microsecond());
    let times = Times { now, written: Instant(found.taken_at.as_microsecond()) };
    let (cache, key) = (context.hub.compiled().clone(), found.key);
    let (scratch, state) = (context.sandboxes.scratch().clone(), std::mem::take(&mut found.state));
    let local_storage = found.local_storage.take().map(|(kept, _)| kept);
    let work = move || {
        let cached = key.map(|key| (&cache, key));
        Pack::make(&state, &scratch, times, cached, local_storage.as_ref())
    };
    let made = blocking(work).await?;
    Ok(made.map_err(SandboxRefusal::from)?)
}

/// Puts it there.
pub(super) async fn put(sandbox: &dyn Sandbox, pack: &Pack) -> Result<(), AgentsError> {
    let not_put = |why| SandboxRefusal::NotPut { why };
    let archives = pack.open().map_err(|error| not_put(error.to_string()))?;
    let all = archives.into_iter().map(|archive| sandbox.unpack(archive, PROFILE));
    for unpacked in within_limit(async { Ok(join_all(all).await) }).await? {
        unpacked.map_err(SandboxRefusal::from)?.map_err(|why| {
            if why.contains("os error 28") { SandboxRefusal::Full { why } } else { not_put(why) }
        })?;
    }
    Ok(())
}
