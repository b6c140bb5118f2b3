//! Puts the profile of a session into a sandbox.

use super::found::Found;
use super::run::tool;
use super::{PROFILE, SandboxRefusal};
use crate::live::LiveError;
use crate::{Context, NodeError, clock};
use baton_browser::profile::at_rest::Instant;
use baton_browser::profile::compile::Times;
use baton_browser::profile::packed;
use baton_sandbox::Sandbox;
use baton_session::{Receipt, State};
use zeroize::Zeroizing;

/// A profile on its way.
pub(super) struct Packed {
    archive: Zeroizing<Vec<u8>>,
    /// What of the session is in it.
    pub(super) receipt: Receipt,
    /// What was packed.
    pub(super) state: State,
}

/// Makes the profile of a session, beside whatever else is done meanwhile.
pub(super) async fn pack(context: &Context, found: &mut Found) -> Result<Packed, NodeError> {
    let now = Instant(clock::now().as_microsecond());
    let times = Times { now, written: Instant(found.taken_at.as_microsecond()) };
    let (cache, key) = (context.hub.compiled().clone(), found.key);
    let (scratch, state) = (context.sandboxes.scratch().clone(), std::mem::take(&mut found.state));
    let work = move || {
        let cached = key.map(|key| (&cache, key));
        let made = packed::pack(&state, &scratch, times, cached);
        let (archive, receipt) = made.map_err(SandboxRefusal::from)?;
        Ok(Packed { archive, receipt, state })
    };
    tokio::task::spawn_blocking(work).await.map_err(|_| LiveError::Stopping)?
}

/// Puts it there.
pub(super) async fn put(sandbox: &dyn Sandbox, packed: &Packed) -> Result<(), NodeError> {
    let unpack = sandbox.tool("unpack", PROFILE);
    match tool(sandbox, &unpack, &packed.archive, 0).await? {
        Ok(_) => Ok(()),
        Err(why) if why.contains("os error 28") => Err(SandboxRefusal::Full { why }.into()),
        Err(why) => Err(SandboxRefusal::NotPut { why }.into()),
    }
}
