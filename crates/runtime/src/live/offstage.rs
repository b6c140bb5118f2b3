//! Browsers of this node that are no session's: each on a profile in a scratch folder, into which it fills
//! what only pages make, or of which it reads that.
//!
//! The one idea: what is filled was captured, and what is read may be anything; so no such browser reaches
//! anything beside its own profile, and it ends when its work does.

use super::{BrowserSupervisor, LiveError};
use baton_browser::keeper::{
    self, BootInstant, BrowserSpec, EgressSpec, Fence, KeeperLink, KeeperSpec, Others, Role,
};
use baton_browser::launch::LaunchOptions;
use baton_browser::profile::ProfileError;
use baton_browser::profile::compile::StoreArchive;
use baton_browser::profile::packed::PageFolders;
use baton_browser::profile::raw;
use baton_browser::restore::RestoreError;
use baton_browser::restore::offstage::{Kinds, MOST_READ, fill, read};
use baton_session::state::OriginState;
use baton_session::{Pages, Receipt, SessionId, StorageKey};
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::future::Future;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;
use tokio::time::timeout;

/// How many such browsers run at once; more wait.
pub(super) const AT_ONCE: usize = 2;
/// How long one may take for its work.
const LIMIT: Duration = Duration::from_mins(2);
/// How long one lives whose node has died meanwhile.
const LIFE: Duration = Duration::from_mins(3);
/// What the socket of its keeper is called.
pub(super) const SOCKET: &str = "keeper.sock";

impl BrowserSupervisor {
    /// Makes what only pages make, in a new profile in a folder of `scratch`, in which nothing stays.
    pub async fn make_pages(
        &self,
        pages: Pages,
        scratch: &Path,
    ) -> Result<StoreArchive, LiveError> {
        let folder = tempfile::tempdir_in(scratch).map_err(LiveError::file(scratch))?;
        let profile = folder.path().join("profile");
        let to = profile.clone();
        let pages = self
            .blocking(move || {
                // What no page can make, a key that its site marked as not extractable, is there first.
                let all = pages.iter().filter(|(_, origin)| !origin.raw.is_empty());
                for (key, origin) in all {
                    raw::write(&to, key, &origin.raw)?;
                }
                Ok::<_, ProfileError>(pages)
            })
            .await?;
        let receipt = self.run_offstage(&folder, &profile, |link| fill(link, pages)).await?;
        self.blocking(move || {
            let made = StoreArchive::of_pages(&profile, receipt);
            drop(folder);
            made
        })
        .await
    }

    /// Reads what only pages can read of these keys, in a profile that came back.
    pub async fn read_pages(
        &self,
        folders: &PageFolders,
        known: BTreeMap<StorageKey, (OriginState, Kinds)>,
        scratch: &Path,
    ) -> Result<(Pages, Receipt), LiveError> {
        let folder = tempfile::tempdir_in(scratch).map_err(LiveError::file(scratch))?;
        self.run_offstage(&folder, folders.profile(), |link| read(link, known, MOST_READ)).await
    }

    async fn run_offstage<T, F>(
        &self,
        folder: &TempDir,
        profile: &Path,
        work: impl FnOnce(KeeperLink) -> F,
    ) -> Result<T, LiveError>
    where
        F: Future<Output = Result<T, RestoreError>>,
    {
        // The semaphore is never closed.
        let _place = self.0.offstage.acquire().await.ok();
        let spec = self.offstage_spec(folder.path(), profile)?;
        // It is no session's: it has its time, whatever the node holds.
        let started = self.config().keepers.spawn(&spec, None).await?;
        tracing::info!(browser = started.ready.browser_pid, "started a browser of no session");
        let link = keeper::connect(&spec.socket, Role::Node).await?;
        let worked = timeout(LIMIT, Box::pin(work(link))).await;
        let ended = async {
            let link = keeper::connect(&spec.socket, Role::Node).await?;
            keeper::close(&link.connection).await
        };
        if let Err(error) = ended.await {
            tracing::warn!(%error, "a browser of no session did not end by itself");
            keeper::force(&spec.socket).await?;
        }
        let slow = LiveError::TooSlow { what: "the pages of a profile", limit: LIMIT };
        Ok(worked.map_err(|_| slow)??)
    }

    fn offstage_spec(&self, folder: &Path, profile: &Path) -> Result<KeeperSpec, LiveError> {
        let config = self.config();
        let options = LaunchOptions {
            files: folder.join("files"),
            confine: config.confine,
            sandbox: config.sandbox,
            extra_args: config.switches.iter().map(ToString::to_string).collect(),
            hidden: Some(config.data.path().to_owned()),
            inherited: config.inherited.clone(),
            ..LaunchOptions::new(self.program()?, profile.to_owned())
        };
        let nowhere = Fence { others: Others::None, ..Fence::default() };
        Ok(KeeperSpec {
            session: SessionId::new(Timestamp::now(), rand::random()),
            socket: folder.join(SOCKET),
            browser: BrowserSpec::Launch(Box::new(options)),
            log: folder.join("keeper.log"),
            hold_until: Some(BootInstant::now().after(LIFE)),
            prelude: Vec::new(),
            egress: Some(EgressSpec { fence: nowhere, ..EgressSpec::default() }),
        })
    }
}
