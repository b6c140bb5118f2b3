//! Completions for the shells that there are.

use super::fixture::{Folder, stdout};

#[test]
fn every_shell_gets_the_subcommands() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let text = stdout(&folder.run(&["completions", shell]).success(), &folder.data());
        assert!(text.contains("sessions") && text.contains("idle-exit"), "{shell}");
    }
    folder.run(&["completions", "tcsh"]).code(2);
}
