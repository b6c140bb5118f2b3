//! Reads and writes files of a sandbox, with the rights of what runs in it.

use super::SandboxRefusal;
use super::run::tool;
use crate::auth::Caller;
use crate::{Context, NodeError};
use baton_sandbox::WORKSPACE;

/// The largest file that is read or written, in bytes.
pub const FILE_LIMIT: usize = 64 << 20;

/// A file of a sandbox.
pub async fn read(
    context: &Context,
    caller: &Caller,
    reference: &str,
    path: &str,
) -> Result<Vec<u8>, NodeError> {
    let kept = context.sandboxes.find(&caller.owner, reference)?;
    let command = kept.sandbox.tool("read", &place(path)?);
    let read = tool(&*kept.sandbox, &command, &[], FILE_LIMIT).await?;
    Ok(read.map_err(|why| SandboxRefusal::Path { why })?)
}

/// Writes a file of a sandbox, whole or not at all.
pub async fn write(
    context: &Context,
    caller: &Caller,
    reference: &str,
    path: &str,
    bytes: &[u8],
) -> Result<(), NodeError> {
    let kept = context.sandboxes.find(&caller.owner, reference)?;
    let command = kept.sandbox.tool("write", &place(path)?);
    match tool(&*kept.sandbox, &command, bytes, 0).await? {
        Ok(_) => Ok(()),
        Err(why) if why.contains("os error 28") => Err(SandboxRefusal::Full { why }.into()),
        Err(why) => Err(SandboxRefusal::Path { why }.into()),
    }
}

/// A path from the workspace on.
fn place(path: &str) -> Result<String, NodeError> {
    if path.is_empty() || path.contains('\0') || path.len() > 4096 {
        let expected = "a path of at most 4096 bytes";
        return Err(NodeError::Invalid {
            field: "path",
            expected,
            found: "another text".to_owned(),
        });
    }
    Ok(if path.starts_with('/') { path.to_owned() } else { format!("{WORKSPACE}/{path}") })
}
