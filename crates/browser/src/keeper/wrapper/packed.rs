//! A wrapper as files: a script that programs start as if it were a browser, and what it is a wrapper of.

use super::WrapperSpec;
use crate::profile::memory;
use std::fs::File;
use std::io;
use std::io::{Seek, SeekFrom};
use tar::{Builder, Header};

/// The script, in its folder.
const PROGRAM: &str = "browser";
/// What it is a wrapper of, beside it.
const SPEC: &str = "browser.json";

impl WrapperSpec {
    /// An archive with both for a folder, to be unpacked there. `command` is what calls [`wrap`](super::wrap): it is
    /// given the path of the specification, and what the script is given.
    ///
    /// # Errors
    ///
    /// When there is no memory for it.
    pub fn pack(&self, command: &[String], folder: &str) -> io::Result<File> {
        let spec = serde_json::to_vec(self)?;
        let script = script(command, &format!("{folder}/{SPEC}"));
        let mut archive = Builder::new(memory::file()?);
        for (name, mode, bytes) in [(PROGRAM, 0o755, script.as_bytes()), (SPEC, 0o644, &spec)] {
            let mut header = Header::new_gnu();
            header.set_mode(mode);
            header.set_size(bytes.len() as u64);
            archive.append_data(&mut header, name, bytes)?;
        }
        let mut file = archive.into_inner()?;
        file.seek(SeekFrom::Start(0))?;
        Ok(file)
    }

    /// Where programs find the script.
    pub fn program_in(folder: &str) -> String {
        format!("{folder}/{PROGRAM}")
    }
}

fn script(command: &[String], spec: &str) -> String {
    let words = command.iter().map(String::as_str).chain([spec]).map(quoted);
    let words = words.collect::<Vec<_>>().join(" ");
    format!(
        "#!/bin/sh\n\
         # A browser that is to sites what its session is.\n\
         case \" $* \" in *' --remote-debugging-pipe '*) exec <&3 >&4 3<&- 4>&- ;; esac\n\
         exec {words} -- \"$@\"\n"
    )
}

/// A word as a shell takes it (POSIX, `sh`, 2.2.2).
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_takes_every_word_as_it_is() {
        let command = ["/opt/it's here/baton".to_owned(), "browser-wrapper".to_owned()];
        insta::assert_snapshot!(script(&command, "/workspace/.browser/browser.json"), @r#"
        #!/bin/sh
        # A browser that is to sites what its session is.
        case " $* " in *' --remote-debugging-pipe '*) exec <&3 >&4 3<&- 4>&- ;; esac
        exec '/opt/it'\''s here/baton' 'browser-wrapper' '/workspace/.browser/browser.json' -- "$@"
        "#);
    }
}
