//! What still holds a profile: a browser of ours that is known and ended, or any that is waited for.
//!
//! A browser ends by itself when its keeper's end of the pipe closes, unless it hangs. Ours bear a mark
//! on their command line: a browser that a person started on the same profile is left alone.
//!
//! The kernel tells when a process ends, so nothing is polled. All processes of the machine are looked at
//! once, on a thread that may block, and again only when those that were found have ended.

use super::lock::LockState;
use super::options::LaunchError;
use super::{flags, lock};
use baton_egress::{blocking, group_of};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use std::fs::File;
use std::path::Path;
use std::time::Duration;
use tokio::net::unix::pipe;
use tokio::time::{Instant, sleep, timeout_at};

/// Kills the browser that holds `profile`, with its process group, if we started it (SIGKILL); true
/// when there was one. The caller has made sure that no keeper holds it.
pub fn kill_leftover(profile: &Path) -> Result<bool, LaunchError> {
    let LockState::InUse { pid } = lock::check(profile)? else { return Ok(false) };
    // Where bubblewrap started it, that program leads its group.
    let group = Some(pid).filter(|pid| is_ours(*pid)).and_then(group_of);
    let group = group.and_then(|group| Pid::from_raw(i32::try_from(group).ok()?));
    let Some(group) = group else { return Ok(false) };
    tracing::warn!(pid, profile = %profile.display(), "killing a browser that lost its keeper");
    // One that is gone by now is what we want.
    let _ = kill_process_group(group, Signal::KILL);
    Ok(true)
}

/// Whether a process is one of a browser that we started, or was started by one: it is in the group
/// that such a browser leads.
pub fn is_of_browser(pid: i32) -> bool {
    u32::try_from(pid).ok().and_then(group_of).is_some_and(is_ours)
}

/// Whether a process bears the mark of the browsers that we start.
fn is_ours(pid: u32) -> bool {
    lock::CommandLine::of(pid).has(flags::MARK.as_bytes())
}

/// How often a process is looked at of whose end the kernel does not tell.
const STEP: Duration = Duration::from_millis(50);

/// Waits until no process uses `profile`, at most for `limit`; who does then still.
pub async fn wait_until_free(profile: &Path, limit: Duration) -> Result<Option<u32>, LaunchError> {
    wait(profile, limit, lock::users).await
}

async fn wait(
    profile: &Path,
    limit: Duration,
    look: impl Fn(&Path) -> Result<Vec<u32>, LaunchError> + Clone + Send + 'static,
) -> Result<Option<u32>, LaunchError> {
    let deadline = Instant::now() + limit;
    loop {
        let users = off_thread(profile, look.clone()).await?;
        if users.is_empty() {
            return Ok(None);
        }
        for pid in users {
            if timeout_at(deadline, ended(pid, profile, STEP)).await.is_err() {
                // It may have let go of the profile and live on.
                return Ok(off_thread(profile, look).await?.first().copied());
            }
        }
    }
}

/// Waits until a process has ended, and looks at it every `step` if the kernel does not tell.
async fn ended(pid: u32, profile: &Path, step: Duration) {
    let handle = handle(pid);
    // By now another process may have its number.
    while lock::is_used_by(profile, pid) {
        match &handle {
            // The kernel says so once, whether the process was waited for or not.
            Some(handle) if handle.readable().await.is_ok() => return,
            _ => sleep(step).await,
        }
    }
}

/// What becomes readable when the process ends; none where the kernel does not give it. It is no pipe,
/// but waited for as one: nothing is read of it.
fn handle(pid: u32) -> Option<pipe::Receiver> {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw)?;
    let handle = pidfd_open(pid, PidfdFlags::NONBLOCK).ok()?;
    pipe::Receiver::from_file_unchecked(File::from(handle)).ok()
}

async fn off_thread<T: Send + 'static>(
    profile: &Path,
    look: impl FnOnce(&Path) -> Result<T, LaunchError> + Send + 'static,
) -> Result<T, LaunchError> {
    let profile = profile.to_owned();
    blocking(move || look(&profile)).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Child, Command, Stdio};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use tokio::time::timeout;

    /// For how long it is seen that nothing looks: longer than a poll would take.
    const QUIET: Duration = Duration::from_millis(400);

    /// A process that was started with the profile, and ends when its input does.
    fn user_of(profile: &Path) -> Child {
        let profile = format!("--user-data-dir={}", profile.display());
        let mut command = Command::new("sh");
        command.args(["-c", "echo; read line", "sh", &profile]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        // From here on it is what it was started as.
        let mut output = std::io::BufReader::new(child.stdout.take().unwrap());
        std::io::BufRead::read_line(&mut output, &mut line).unwrap();
        child
    }

    #[tokio::test]
    async fn all_processes_are_looked_at_once_and_again_when_those_that_were_found_have_ended() {
        let profile = tempfile::tempdir().unwrap();
        let mut child = user_of(profile.path());
        let pid = child.id();
        assert_eq!(wait_until_free(profile.path(), Duration::ZERO).await.unwrap(), Some(pid));

        let (looks, (sender, mut looked)) =
            (Arc::new(AtomicUsize::new(0)), tokio::sync::mpsc::unbounded_channel());
        let counted = Arc::clone(&looks);
        let look = move |profile: &Path| {
            counted.fetch_add(1, Ordering::Relaxed);
            let users = lock::users(profile);
            sender.send(()).unwrap();
            users
        };
        let waiting = wait(profile.path(), Duration::from_mins(1), look);
        let ending = async {
            looked.recv().await.unwrap();
            // It has been found, and as long as it lives nothing looks for it again.
            timeout(QUIET, looked.recv()).await.unwrap_err();
            drop(child.stdin.take());
            looked.recv().await.unwrap();
        };
        let (waited, ()) = tokio::join!(waiting, ending);
        assert_eq!(waited.unwrap(), None);
        assert_eq!(looks.load(Ordering::Relaxed), 2);
        child.wait().unwrap();
    }

    #[tokio::test]
    async fn the_kernel_tells_the_end_of_a_process_and_nobody_looks_at_it_again() {
        let profile = tempfile::tempdir().unwrap();
        let mut child = user_of(profile.path());
        let (pid, never) = (child.id(), Duration::from_hours(1));
        let told = timeout(Duration::from_secs(20), ended(pid, profile.path(), never));
        let ending = async { drop(child.stdin.take()) };
        let (told, ()) = tokio::join!(told, ending);
        told.expect("nobody waits for a clock");
        child.wait().unwrap();
    }

    #[tokio::test]
    async fn a_profile_that_nobody_uses_is_looked_at_once() {
        let profile = tempfile::tempdir().unwrap();
        assert_eq!(wait_until_free(profile.path(), Duration::ZERO).await.unwrap(), None);
    }
}
