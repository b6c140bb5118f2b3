//! Where programs keep what they are told, on this machine.

use anyhow::Context as _;
use etcetera::BaseStrategy as _;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The folders in which configuration is looked for.
#[derive(Debug, Clone)]
pub(crate) struct Homes {
    /// The user's home folder.
    pub(crate) home: PathBuf,
    /// Where programs with a window keep their settings.
    pub(crate) settings: PathBuf,
    /// The folder of Claude Code, if it was moved.
    pub(crate) claude: Option<PathBuf>,
    /// The folder of Codex, if it was moved.
    pub(crate) codex: Option<PathBuf>,
    /// The current folder.
    pub(crate) project: PathBuf,
}

impl Homes {
    /// Those of whoever runs this.
    pub(crate) fn of_this_user() -> anyhow::Result<Self> {
        let strategy = etcetera::base_strategy::choose_native_strategy()
            .context("expected a home folder, found none\nset HOME")?;
        let settings =
            if cfg!(target_os = "macos") { strategy.data_dir() } else { strategy.config_dir() };
        Ok(Self {
            home: strategy.home_dir().to_owned(),
            settings,
            claude: folder(std::env::var_os("CLAUDE_CONFIG_DIR")),
            codex: folder(std::env::var_os("CODEX_HOME")),
            project: std::env::current_dir().context("could not find the current folder")?,
        })
    }

    /// The folder of Claude Code.
    pub(crate) fn claude(&self) -> PathBuf {
        self.claude.clone().unwrap_or_else(|| self.home.join(".claude"))
    }

    /// The file of Claude Code: beside its folder, or in the folder when that was moved.
    pub(super) fn claude_file(&self) -> PathBuf {
        self.claude.as_ref().unwrap_or(&self.home).join(".claude.json")
    }

    /// The folder of Codex.
    pub(super) fn codex(&self) -> PathBuf {
        self.codex.clone().unwrap_or_else(|| self.home.join(".codex"))
    }
}

/// A variable that is set to nothing is not set.
fn folder(variable: Option<OsString>) -> Option<PathBuf> {
    let path = PathBuf::from(variable.filter(|text| !text.is_empty())?);
    std::path::absolute(path).ok()
}

/// How this program is found again, by its full path. `program` is the file that runs; a name on the
/// `path` that leads to it is preferred, for it still leads to Baton after an update.
pub(crate) fn lasting_name(program: &Path, path: &[PathBuf]) -> PathBuf {
    let same = |candidate: &PathBuf| {
        candidate.is_absolute() && candidate.canonicalize().is_ok_and(|found| found == program)
    };
    let name = program.file_name().unwrap_or_default();
    path.iter().map(|folder| folder.join(name)).find(same).unwrap_or_else(|| program.to_owned())
}

#[cfg(test)]
mod tests {
    use super::lasting_name;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_name_that_outlives_an_update_is_preferred() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        let (old, bin) = (folder.join("baton-1.0"), folder.join("bin"));
        std::fs::create_dir(&old).unwrap();
        std::fs::create_dir(&bin).unwrap();
        let program = old.join("baton");
        std::fs::write(&program, "").unwrap();
        assert_eq!(lasting_name(&program, std::slice::from_ref(&bin)), program);
        symlink(&program, bin.join("baton")).unwrap();
        assert_eq!(lasting_name(&program, &["bin".into(), bin.clone()]), bin.join("baton"));
    }
}
