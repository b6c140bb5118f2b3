//! Sessions as files, and the files of sessions: all of them in the exchange folder.
//!
//! It is the only place where tools write files and read them: `<data>/exchange/<owner>`, so that no owner's tools
//! reach a file of another. A file is named, never a path, and is not followed elsewhere.

use crate::error::NodeError;
use crate::mcp::answer;
use crate::mcp::answer::{Failure, ToolAnswer};
use crate::mcp::verb::{Call, Effect, ToolPlace, Verb};
use baton_api::{ExportFormat, ExportSession, FileText, ImportSession, Invalid, Scope};
use baton_runtime::sessions::FILE_LIMIT;
use baton_runtime::{RuntimeError, sessions};
use baton_session::{Owner, import};
use baton_store::blocking::blocking;
use baton_store::clock;
use baton_store::data::named::{is_file_name, open_plain};
use baton_store::data::{DataError, DataFolder, write_private};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::convert::Infallible;
use std::fs::DirBuilder;
use std::io::Read;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// Lists the files of a session's browser, with the paths for upload tools. put brings one from Baton's
/// exchange folder; remove takes one away.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct SessionFiles {
    /// Default: the active one
    #[serde(alias = "session_id")]
    session_id: Option<String>,
    /// A file of the exchange folder
    put: Option<String>,
    /// A file of the session
    remove: Option<String>,
}

impl Verb for SessionFiles {
    const NAME: &'static str = "session_files";
    const EFFECT: Effect = Effect::Destroys;

    fn place(&self) -> ToolPlace {
        ToolPlace::Session(self.session_id.clone())
    }

    async fn call(self, call: Call) -> Result<ToolAnswer, Failure> {
        call.require(Scope::Drive).await?;
        let session = call.session(self.session_id).await?;
        let Call { context, caller, .. } = call;
        let mut told = Vec::new();
        if let Some(name) = self.put {
            let exchange = Exchange::of(context.supervisor.data(), &caller.owner);
            let bytes = exchange.read_bytes(&name).await?;
            let bytes = futures_util::stream::iter([Ok::<_, Infallible>(bytes.into())]);
            let file = sessions::put_file(&context, &caller, &session, &name, bytes).await?;
            told.push(format!("Put {}.", file.path));
        }
        if let Some(name) = self.remove {
            sessions::remove_file(&context, &caller, &session, &name).await?;
            told.push(format!("Removed {name}."));
        }
        let files = sessions::files(&context, &caller, &session).await?;
        if files.items.is_empty() {
            told.push("No files.".to_owned());
        }
        let line = |file: &baton_api::SessionFile| {
            format!("{} {} B {}", answer::cut(&file.name, 200), file.bytes, file.path)
        };
        told.extend(files.items.iter().map(line));
        Ok(ToolAnswer::new(&told, json!({ "items": files.items })))
    }
}

/// Writes a session to a file in Baton's exchange folder, for another machine or tool. The file is a
/// login: never read or show it. The user is asked first.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct SessionExport {
    /// Default: the active one
    #[serde(alias = "session_id")]
    session_id: Option<String>,
    /// session (all) or storage-state (Playwright)
    #[serde(default)]
    format: Format,
}

#[derive(Deserialize, JsonSchema, Clone, Copy, Default)]
#[serde(rename_all = "kebab-case")]
enum Format {
    #[default]
    Session,
    StorageState,
}

impl Verb for SessionExport {
    const NAME: &'static str = "session_export";
    const EFFECT: Effect = Effect::Changes;

    fn place(&self) -> ToolPlace {
        ToolPlace::Session(self.session_id.clone())
    }

    async fn call(self, call: Call) -> Result<ToolAnswer, Failure> {
        call.require(Scope::Reveal).await?;
        let session = call.session(self.session_id).await?;
        let Call { context, caller, confirm, progress, .. } = call;
        let found = context.find(&caller.owner, &session).await?;
        let (id, name) = (found.id, found.name.clone());
        let format = match self.format {
            Format::Session => ExportFormat::Session,
            Format::StorageState => ExportFormat::StorageState,
        };
        let exchange = Exchange::of(context.supervisor.data(), &caller.owner);
        let named = format!("{name}.{format}.json");
        // Not every name of a session is one of a file.
        let file = if Exchange::takes(&named) { named } else { format!("{id}.{format}.json") };
        let replaces = if exchange.holds(&file).await? {
            format!(" It takes the place of {file}, which is there already.")
        } else {
            String::new()
        };
        let what = format!(
            "Write session {name} to a file? Whoever has the file is logged in wherever {name} is.{replaces}"
        );
        let command = format!("baton export {name} --format {format} -o FILE");
        confirm.ask(id, what, command).await?;
        let query = ExportSession { format, deep: false };
        let exporting = Box::pin(sessions::export(&context, &caller, found, query));
        let view = progress.during(&format!("exporting {name}"), exporting).await?;
        let path = exchange.write(&file, view.file.as_str().to_owned()).await?;
        let (lost, receipt) = answer::receipt(&view.receipt);
        let mut told = vec![format!("Wrote {}.", path.display()), "Not in the file:".to_owned()];
        told.extend(lost);
        told.push(format!("session_import with file {file:?} makes a session of it."));
        let data = json!({"file": file, "path": path, "receipt": receipt, "holds": view.holds});
        Ok(ToolAnswer::new(&told, data))
    }
}

/// Makes a session of a file in Baton's exchange folder: session file, storageState, list of cookies.
/// session_resume starts it.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SessionImport {
    /// Name of a file in that folder
    file: String,
    /// Default: the file's own
    name: Option<String>,
}

impl Verb for SessionImport {
    const NAME: &'static str = "session_import";
    const EFFECT: Effect = Effect::Changes;

    async fn call(self, call: Call) -> Result<ToolAnswer, Failure> {
        call.require(Scope::Drive).await?;
        let exchange = Exchange::of(call.context.supervisor.data(), &call.caller.owner);
        let name = self.name.map(|name| name.parse()).transpose();
        let name = name.map_err(|error| Failure::Arguments(format!("name: {error}")))?;
        let doing = format!("importing {}", answer::cut(&self.file, 100));
        let importing = async {
            let file = text_of(&exchange.read_bytes(&self.file).await?)?;
            let request = ImportSession { name, description: None, file };
            Ok::<_, Failure>(sessions::import(&call.context, &call.caller, request).await?)
        };
        let view = Box::pin(call.progress.during(&doing, importing)).await?;
        let (mut told, mut data) = answer::session(&view.session, clock::now());
        let (left_out, receipt) = answer::receipt(&view.left_out);
        data["leftOut"] = receipt;
        told.push("Not taken from the file:".to_owned());
        told.extend(left_out);
        told.push(answer::next_step(view.session.session.state).to_owned());
        Ok(ToolAnswer::new(&told, data))
    }
}

fn text_of(bytes: &[u8]) -> Result<FileText, NodeError> {
    let text = import::text(bytes);
    let text = text
        .map_err(|error| NodeError::Runtime(RuntimeError::BadFile { reason: error.to_string() }))?;
    Ok(FileText::of(text.into_owned()))
}

/// The exchange folder of an owner.
struct Exchange(PathBuf);

impl Exchange {
    fn of(data: &DataFolder, owner: &Owner) -> Self {
        Self(data.exchange().join(folder_name(owner)))
    }

    /// Whether a file may have this name.
    fn takes(name: &str) -> bool {
        is_file_name(name)
    }

    /// Where a file of this name is.
    fn path(&self, name: &str) -> Result<PathBuf, Failure> {
        if !Self::takes(name) {
            return Err(refused(&self.0, "another name"));
        }
        Ok(self.0.join(name))
    }

    /// Whether there is something of this name.
    async fn holds(&self, name: &str) -> Result<bool, Failure> {
        Ok(tokio::fs::symlink_metadata(self.path(name)?).await.is_ok())
    }

    /// Writes a file, 0600, whole or not at all.
    async fn write(&self, name: &str, text: String) -> Result<PathBuf, Failure> {
        let (folder, path) = (self.0.clone(), self.path(name)?);
        let written = blocking(move || {
            let made = DirBuilder::new().recursive(true).mode(0o700).create(&folder);
            made.map_err(|source| DataError::Io { path: folder, source })?;
            write_private(&path, text.as_bytes())?;
            Ok(path)
        });
        written.await.map_err(NodeError::from)?.map_err(failed)
    }

    /// Reads a file, a bounded one.
    async fn read_bytes(&self, name: &str) -> Result<Vec<u8>, Failure> {
        let (folder, path, name) = (self.0.clone(), self.path(name)?, name.to_owned());
        let place = folder.clone();
        let read = move || read(&place, &name).map_err(|source| DataError::Io { path, source });
        match blocking(read).await.map_err(NodeError::from)? {
            Ok(bytes) if bytes.len() <= FILE_LIMIT => Ok(bytes),
            Ok(_) => Err(refused(&folder, "a larger file than 128 MiB")),
            Err(DataError::Io { source, .. }) => Err(refused(&folder, &source.to_string())),
            Err(error) => Err(failed(error)),
        }
    }
}

fn read(folder: &Path, name: &str) -> std::io::Result<Vec<u8>> {
    let file = open_plain(folder, name)?;
    let mut bytes = Vec::new();
    let limit = u64::try_from(FILE_LIMIT).unwrap_or(u64::MAX).saturating_add(1);
    file.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn refused(folder: &Path, found: &str) -> Failure {
    let expected = "the name of a readable file in the exchange folder";
    let found = format!("{found}; the folder is {}", folder.display());
    Invalid { field: "file", expected, found }.into()
}

fn failed(error: DataError) -> Failure {
    NodeError::Exchange(error).into()
}

/// An owner's name as that of a folder: what might be more than a name is written in hex.
fn folder_name(owner: &Owner) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let written = |byte| match byte {
        byte if is_plain(byte) => char::from(byte).to_string(),
        byte => format!("%{byte:02x}"),
    };
    owner.as_str().bytes().map(written).collect()
}
