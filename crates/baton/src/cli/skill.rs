//! `baton skill`

use super::Context;
use super::prompt::Consent;
use crate::clients::{ClientFile, Homes, differing};
use crate::output;
use anyhow::Context as _;
use baton_api::Exit;
use clap::Args;
use serde_json::json;

/// Write what teaches an agent to keep, resume and hand over logins
#[derive(Debug, Args)]
#[command(after_help = "\
The text is a skill: a SKILL.md as agents read it. Without --install it goes to standard output.

Examples:
  baton skill --install                 to ~/.claude/skills/baton/SKILL.md
  baton skill --install --project       the same below the current folder
  baton skill > skills/baton/SKILL.md   to where another agent looks")]
pub(super) struct Skill {
    /// Put it where Claude Code looks for the skills of a user
    #[arg(long)]
    install: bool,
    /// Put it where Claude Code looks for the skills of the project in the current folder
    #[arg(long, requires = "install")]
    project: bool,
    #[command(flatten)]
    consent: Consent,
}

/// The skill.
const TEXT: &str = include_str!("skill/SKILL.md");

impl Skill {
    pub(super) fn run(self, context: &Context) -> anyhow::Result<Exit> {
        if self.install {
            return self.install(context);
        }
        context.output.answer(&json!({ "skill": TEXT }), || TEXT.trim_end().to_owned());
        Ok(Exit::Done)
    }

    fn install(&self, context: &Context) -> anyhow::Result<Exit> {
        let homes = Homes::of_this_user()?;
        let folder = if self.project { homes.project.join(".claude") } else { homes.claude() };
        let found = ClientFile::read(folder.join("skills/baton/SKILL.md"))?;
        let path = found.path.display().to_string();
        let is_same = found.bytes() == TEXT.as_bytes();
        let written = !is_same && self.consent.given(context.output, &path, &shown(&found)?)?;
        if written {
            found.replace(TEXT.as_bytes())?;
        }
        context.output.answer(
            &json!({ "path": found.path, "written": written }),
            || match written {
                true => format!("written to {path}"),
                false if is_same => format!("already in {path}"),
                false => "left as it is".to_owned(),
            },
        );
        Ok(Exit::Done)
    }
}

/// What is to happen: a skill that is there already is shown with what would be lost.
fn shown(found: &ClientFile) -> anyhow::Result<String> {
    let path = found.path.display();
    if !found.is_there() {
        return Ok(format!(
            "{path}\n+ the skill, {} (baton skill shows it)",
            output::size(TEXT.len() as u64)
        ));
    }
    let old = str::from_utf8(found.bytes()).with_context(|| format!("{path} is not UTF-8"))?;
    let lines = |text: &str| text.lines().map(output::plain).collect::<Vec<_>>();
    let mut shown = differing(&lines(old), &lines(TEXT));
    shown.retain(|line| !line.starts_with(' '));
    Ok(format!("{path}\n{}", shown.join("\n")))
}

#[cfg(test)]
mod tests {
    use super::TEXT;
    use crate::cli::Cli;
    use clap::Parser;

    /// What stands between backticks, or as a line of its own, and begins with the program's name.
    fn commands() -> Vec<&'static str> {
        let pieces = TEXT.split(['`', '\n']).map(str::trim);
        pieces.filter(|piece| piece.starts_with("baton ")).collect()
    }

    #[test]
    fn every_command_that_it_names_is_one() {
        assert!(commands().len() > 10, "found {:?}", commands());
        for command in commands() {
            let parsed = Cli::try_parse_from(command.split_whitespace());
            assert!(parsed.is_ok(), "{command}: {}", parsed.unwrap_err());
        }
    }

    #[test]
    fn it_is_a_skill_of_a_page() {
        assert!(TEXT.starts_with("---\nname: baton\ndescription: "));
        let description = TEXT.lines().nth(2).unwrap();
        assert!(description.len() <= 1024 && !description["description: ".len()..].contains(": "));
        assert!(TEXT.len() <= 4000, "found {} bytes", TEXT.len());
        assert!(TEXT.is_ascii() && TEXT.ends_with('\n'));
    }
}
