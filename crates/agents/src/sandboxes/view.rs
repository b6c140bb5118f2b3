//! A display that is seen through the node, without a port and without a password (RFB 3.8, RFC 6143).
//!
//! The one idea: a viewer that comes here was let in by the node already. So the node answers the display, which wants
//! its password, and welcomes the viewer, which is asked for none and is told none; from then on it passes on what both
//! say.

use super::vnc::{LENGTH, MOST_VIEWERS, SOCKET};
use crate::Agents;
use crate::error::{AgentsError, SandboxRefusal};
use crate::registry::{Kept, OwnView};
use baton_runtime::Caller;
use baton_runtime::audit::{Action, Note};
use baton_sandbox::Process;
use baton_session::SandboxId;
use des::Des;
use des::cipher::{Array, BlockCipherEncrypt, KeyInit};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, copy, join, split};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;

/// What both sides speak (section 7.1.1).
const VERSION: &[u8; 12] = b"RFB 003.008\n";
/// To log in with nothing, and with a password (section 7.2).
const NONE: u8 = 1;
const PASSWORD: u8 = 2;
/// How long the first words may take.
const GREETING_LIMIT: Duration = Duration::from_secs(15);

/// A display that the node has logged in to.
pub struct DisplayView {
    kept: Arc<Kept>,
    process: Process,
    _place: OwnedSemaphorePermit,
}

/// Why a view of a display has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ViewEnd {
    /// The viewer left.
    Left,
    /// The sandbox has ended.
    SandboxEnded,
    /// The display has ended, or says what none does.
    DisplayEnded,
}

/// The sandbox of the caller whose display is meant. Fails where it was made without one.
pub fn find_display(
    context: &Agents,
    caller: &Caller,
    reference: &str,
) -> Result<SandboxId, AgentsError> {
    let kept = context.sandboxes.find(&caller.owner, reference)?;
    kept.display.get().ok_or(SandboxRefusal::HasNoDisplay)?;
    Ok(kept.view.id)
}

/// Opens the display of one of the caller's sandboxes, which is in the audit log then.
pub async fn open_display(
    context: &Agents,
    caller: &Caller,
    reference: &str,
) -> Result<DisplayView, AgentsError> {
    let kept = context.sandboxes.find(&caller.owner, reference)?;
    let note =
        Note::new(&caller.actor, &caller.owner, Action::WatchSandbox, kept.view.id.to_string());
    let opened = open(kept).await.map_err(AgentsError::from);
    note.end(&context.store, opened).await
}

async fn open(kept: Arc<Kept>) -> Result<DisplayView, SandboxRefusal> {
    let Some(OwnView { viewers, .. }) = kept.display.get() else {
        return Err(SandboxRefusal::HasNoDisplay);
    };
    let place = Arc::clone(viewers).try_acquire_owned();
    let place = place.map_err(|_| SandboxRefusal::TooManyViewers { most: MOST_VIEWERS })?;
    let connect = kept.sandbox.tool("connect", SOCKET);
    let process = kept.sandbox.start(&connect).await?;
    Ok(DisplayView { kept, process, _place: place })
}

impl DisplayView {
    /// Shows it to a viewer, until one of both leaves or the sandbox ends.
    ///
    /// The viewer and the display have 15 seconds each for their first words.
    pub async fn show(mut self, mut viewer: impl AsyncRead + AsyncWrite + Unpin) -> ViewEnd {
        let Some(input) = self.process.input.take() else { return ViewEnd::DisplayEnded };
        let output = std::mem::replace(&mut self.process.output, Box::new(tokio::io::empty()));
        let mut display = join(output, input);
        let kept = Arc::clone(&self.kept);
        let password = kept.display.get().map(|own| own.password.as_str()).unwrap_or_default();
        let shown = async {
            let greeted = timeout(GREETING_LIMIT, log_in(&mut display, password)).await;
            if !matches!(greeted, Ok(Ok(()))) {
                return ViewEnd::DisplayEnded;
            }
            let welcomed = timeout(GREETING_LIMIT, welcome(&mut viewer)).await;
            if !matches!(welcomed, Ok(Ok(()))) {
                return ViewEnd::Left;
            }
            let (mut shows, mut hears) = split(display);
            let (mut does, mut sees) = split(viewer);
            // Whichever side ends, by itself or by a fault, ends the other one.
            tokio::select! {
                biased;
                _ = copy(&mut shows, &mut sees) => ViewEnd::DisplayEnded,
                _ = copy(&mut does, &mut hears) => ViewEnd::Left,
            }
        };
        tokio::select! {
            biased;
            () = kept.ended.cancelled() => ViewEnd::SandboxEnded,
            end = shown => end,
        }
    }
}

/// Logs in to a display, up to where a viewer says whether others may look, too.
async fn log_in(
    display: &mut (impl AsyncRead + AsyncWrite + Unpin),
    password: &str,
) -> io::Result<()> {
    let mut version = [0; VERSION.len()];
    display.read_exact(&mut version).await?;
    display.write_all(VERSION).await?;
    display.flush().await?;
    let mut kinds = vec![0; display.read_u8().await?.into()];
    display.read_exact(&mut kinds).await?;
    if version != *VERSION || !kinds.contains(&PASSWORD) {
        return Err(io::ErrorKind::InvalidData.into());
    }
    display.write_u8(PASSWORD).await?;
    display.flush().await?;
    let mut challenge = [0; 2 * LENGTH];
    display.read_exact(&mut challenge).await?;
    display.write_all(&answer(challenge, password)).await?;
    display.flush().await?;
    match display.read_u32().await? {
        0 => Ok(()),
        _ => Err(io::ErrorKind::PermissionDenied.into()),
    }
}

/// Welcomes a viewer, up to the same place.
async fn welcome(viewer: &mut (impl AsyncRead + AsyncWrite + Unpin)) -> io::Result<()> {
    viewer.write_all(VERSION).await?;
    viewer.flush().await?;
    let mut version = [0; VERSION.len()];
    viewer.read_exact(&mut version).await?;
    viewer.write_all(&[1, NONE]).await?;
    viewer.flush().await?;
    if version != *VERSION || viewer.read_u8().await? != NONE {
        return Err(io::ErrorKind::InvalidData.into());
    }
    viewer.write_u32(0).await?;
    viewer.flush().await
}

/// The challenge, encrypted with the password, each of whose bytes has its bits in the reverse order (section 7.2.2).
fn answer(mut challenge: [u8; 2 * LENGTH], password: &str) -> [u8; 2 * LENGTH] {
    let mut key = [0; LENGTH];
    key.iter_mut().zip(password.bytes()).for_each(|(place, byte)| *place = byte.reverse_bits());
    let cipher = Des::new(&Array::from(key));
    for part in challenge.as_chunks_mut::<LENGTH>().0 {
        let mut block = Array::from(*part);
        cipher.encrypt_block(&mut block);
        *part = block.into();
    }
    challenge
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::duplex;

    #[tokio::test]
    async fn a_viewer_is_asked_for_no_password_and_told_none() {
        let (mut viewer, mut node) = duplex(64);
        let welcomed = tokio::spawn(async move { welcome(&mut node).await });
        let mut heard = [0; 12];
        viewer.read_exact(&mut heard).await.unwrap();
        viewer.write_all(&heard).await.unwrap();
        let mut kinds = [0; 2];
        viewer.read_exact(&mut kinds).await.unwrap();
        assert_eq!(kinds, [1, NONE]);
        viewer.write_u8(NONE).await.unwrap();
        assert_eq!(viewer.read_u32().await.unwrap(), 0);
        welcomed.await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn what_is_no_viewer_and_no_display_is_left() {
        let (mut viewer, mut node) = duplex(64);
        viewer.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
        assert!(welcome(&mut node).await.is_err());
        let (mut display, mut node) = duplex(64);
        display.write_all(b"RFB 003.008\n\x01\x01").await.unwrap();
        assert!(log_in(&mut node, "password").await.is_err(), "it wants no password");
    }
}
