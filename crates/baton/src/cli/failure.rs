//! What went wrong, as a person or a program reads it, and how the process ends.

use super::backup::NoKey;
use super::browser::NotWhole;
use super::federation::Nameless;
use super::import::NotImported;
use super::mcp::NotChanged;
use super::open::{BadLogin, NotTrusted};
use super::peers::{NotCompared, NotInvited, NotShown, PeerKeyError};
use super::profile::NeedsMerge;
use super::prompt::{NobodyToAsk, PassphraseError};
use super::state_file::{NoPlace, NotForPeers, Unreadable};
use super::upstreams::NoUpstreams;
use crate::clients::FileError;
use crate::local;
use crate::output::Output;
use baton_api::{ClientError, Exit};
use baton_backup::BackupError;
use baton_browser::install::InstallError;
use baton_browser::profile::compile::CompileError;
use baton_browser::profile::read::ReadError;
use baton_federation::{FederationError, Kind};
use baton_server::ServeError;
use baton_server::config::ConfigError;
use baton_session::import::ImportError;
use baton_store::data::DataError;
use baton_sync::file::BundleError;
use serde::Serialize;
use std::io::ErrorKind;

/// With `--json`: `{"error": {…}}` on standard output.
#[derive(Serialize)]
struct FailureDocument<'a> {
    error: Failure<'a>,
}

/// Why a command failed.
#[derive(Serialize)]
struct Failure<'a> {
    /// The node's error code; `usage`, `conflict`, `denied`, `not_found` or `failed` when
    /// no node was asked.
    code: &'a str,
    /// What was expected and what was found.
    message: &'a str,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
    /// The request's id, as in the node's log.
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<&'a str>,
}

/// An error with its causes, except those that its own text names already.
pub(super) fn whole_text(error: &anyhow::Error) -> String {
    error.chain().fold(String::new(), |text, cause| match cause.to_string() {
        cause if text.is_empty() => cause,
        cause if text.contains(&cause) => text,
        cause => format!("{text}: {cause}"),
    })
}

/// Writes `error`, and says how the process ends.
pub(super) fn report(error: &anyhow::Error, output: Output) -> Exit {
    let text = whole_text(error);
    let (message, hint) = match text.split_once('\n') {
        Some((message, hint)) => (message, Some(hint)),
        None => (text.as_str(), None),
    };
    if let Some(ClientError::Problem(problem)) = error.downcast_ref() {
        let failure = Failure {
            code: problem.code.as_str(),
            message: &problem.detail,
            hint: problem.hint.as_deref(),
            request_id: problem.request_id.as_deref(),
        };
        return write(failure, problem.code.exit(), output);
    }
    let exit = exit_of(error);
    let code = match exit {
        Exit::Usage => "usage",
        Exit::Conflict => "conflict",
        Exit::NotFound => "not_found",
        Exit::Denied => "denied",
        _ => "failed",
    };
    write(Failure { code, message, hint, request_id: None }, exit, output)
}

/// Writes a usage error as a document.
pub(super) fn report_usage(error: &clap::Error, output: Output) -> Exit {
    let text = error.to_string();
    let message = text.trim_start_matches("error: ").trim_end();
    write(Failure { code: "usage", message, hint: None, request_id: None }, Exit::Usage, output)
}

fn write(error: Failure, exit: Exit, output: Output) -> Exit {
    output.error(error.message, error.hint, &FailureDocument { error });
    exit
}

/// How a command ends that failed before a node could say why.
fn exit_of(error: &anyhow::Error) -> Exit {
    if let Some(error) = error.downcast_ref::<ClientError>() {
        return error.exit();
    }
    if let Some(error) = error.downcast_ref::<ServeError>() {
        return match error {
            ServeError::Config(_) | ServeError::Tls(_) => Exit::Usage,
            ServeError::Data(error) => exit_of_data(error),
            _ => Exit::Failed,
        };
    }
    if let Some(error) = error.downcast_ref::<InstallError>() {
        return exit_of_install(error);
    }
    if error.is::<ConfigError>() || error.is::<Nameless>() || error.is::<NotWhole>() {
        return Exit::Usage;
    }
    if error.is::<super::serve::PortTaken>() || error.is::<local::Elsewhere>() {
        return Exit::Conflict;
    }
    if error.is::<PassphraseError>() || error.is::<NoKey>() {
        return Exit::Usage;
    }
    if let Some(error) = error.downcast_ref::<Unreadable>() {
        return match error {
            Unreadable::NotThere(_) => Exit::NotFound,
            _ => Exit::Usage,
        };
    }
    if let Some(PeerKeyError::NotThere { .. }) = error.downcast_ref() {
        return Exit::NotFound;
    }
    if error.is::<PeerKeyError>()
        || error.is::<NotShown>()
        || error.is::<NotCompared>()
        || error.is::<NotInvited>()
    {
        return Exit::Usage;
    }
    if error.is::<NoPlace>()
        || error.is::<NotForPeers>()
        || error.is::<NoUpstreams>()
        || error.is::<NotTrusted>()
        || error.is::<BadLogin>()
        || error.is::<NobodyToAsk>()
    {
        return Exit::Usage;
    }
    if error.is::<ImportError>() {
        return Exit::Usage;
    }
    if let Some(error) = error.downcast_ref::<FederationError>() {
        return exit_of_board(error);
    }
    if let Some(exit) = exit_of_profile(error) {
        return exit;
    }
    if let Some(NotChanged::NoneFound) = error.downcast_ref() {
        return Exit::NotFound;
    }
    if let Some(NotChanged::TwoServers) = error.downcast_ref() {
        return Exit::Usage;
    }
    if let Some(error) = error.downcast_ref::<FileError>() {
        return error.exit();
    }
    if let Some(error) = error.downcast_ref::<BundleError>() {
        return match error {
            BundleError::NoRecipient(_) | BundleError::NoIdentity => Exit::Usage,
            BundleError::ForOthers => Exit::Denied,
            _ => Exit::Failed,
        };
    }
    if let Some(error) = error.downcast_ref::<BackupError>() {
        return exit_of_backup(error);
    }
    error.downcast_ref::<DataError>().map_or(Exit::Failed, exit_of_data)
}

/// How a command on a profile ends, when that is why it failed.
fn exit_of_profile(error: &anyhow::Error) -> Option<Exit> {
    if let Some(error) = error.downcast_ref::<NotImported>() {
        return Some(match error {
            NotImported::NoneFound { .. } | NotImported::NoneCalled { .. } => Exit::NotFound,
            _ => Exit::Usage,
        });
    }
    if let Some(error) = error.downcast_ref::<ReadError>() {
        return Some(match error {
            ReadError::NoProfile(_) => Exit::NotFound,
            ReadError::Several { .. } => Exit::Usage,
            ReadError::Profile(_) => Exit::Failed,
        });
    }
    if error.is::<NeedsMerge>() {
        return Some(Exit::Conflict);
    }
    Some(match error.downcast_ref::<CompileError>()? {
        CompileError::NoProfile(_) => Exit::NotFound,
        CompileError::NotEmpty(_) | CompileError::InUse { .. } | CompileError::Elsewhere { .. } => {
            Exit::Conflict
        }
        _ => Exit::Failed,
    })
}

fn exit_of_board(error: &FederationError) -> Exit {
    match error.kind() {
        Kind::Invalid => Exit::Usage,
        Kind::NotFound => Exit::NotFound,
        Kind::Conflict => Exit::Conflict,
        Kind::Denied => Exit::Denied,
        Kind::Failed => Exit::Failed,
    }
}

fn exit_of_install(error: &InstallError) -> Exit {
    match error {
        InstallError::NotAsked(_) => Exit::Usage,
        InstallError::NoSuchVersion { .. } => Exit::NotFound,
        InstallError::UnderWay(_) => Exit::Conflict,
        InstallError::File { source, .. } if source.kind() == ErrorKind::NotFound => Exit::NotFound,
        _ => Exit::Failed,
    }
}

fn exit_of_data(error: &DataError) -> Exit {
    match error {
        DataError::Locked { .. } => Exit::Conflict,
        DataError::NotAFolder { .. } | DataError::PathTooLong { .. } => Exit::Usage,
        _ => Exit::Failed,
    }
}

fn exit_of_backup(error: &BackupError) -> Exit {
    match error {
        BackupError::Data(error) => exit_of_data(error),
        BackupError::Sealed { source, .. } if source.is_key() => Exit::Denied,
        BackupError::NothingThere(_) => Exit::NotFound,
        BackupError::OtherFile(_) => Exit::Usage,
        BackupError::InTheWay(_)
        | BackupError::UnderWay(_)
        | BackupError::NotEmpty(_)
        | BackupError::DatabaseNotEmpty(_)
        | BackupError::NotOurs(_)
        | BackupError::BrowserRuns { .. } => Exit::Conflict,
        _ => Exit::Failed,
    }
}
