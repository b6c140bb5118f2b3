//! Help that reads at any width: a paragraph flows, and what is indented stands as it is written.

use clap::Command;

/// The same command line, with paragraphs of one line each, which clap wraps where the terminal ends: what
/// is written by hand ends its lines where the source does.
pub(super) fn flowing(command: Command) -> Command {
    let text = command.get_after_help().map(|text| flow(&text.to_string()));
    let command = command.mut_subcommands(flowing);
    match text {
        Some(text) => command.after_help(text),
        None => command,
    }
}

fn flow(text: &str) -> String {
    let mut flowing = String::with_capacity(text.len());
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        flowing.push_str(line);
        match lines.peek() {
            Some(next) if goes_on(line) && goes_on(next) => flowing.push(' '),
            Some(_) => flowing.push('\n'),
            None => {}
        }
    }
    flowing
}

/// Whether a line is one of a paragraph.
fn goes_on(line: &str) -> bool {
    !line.is_empty() && !line.starts_with(' ')
}

#[cfg(test)]
mod tests {
    use super::flow;

    #[test]
    fn paragraphs_flow_and_lists_stand() {
        let text = flow(
            "A session is captured\nfirst. What follows\nis this:\n  one  first\n  two  second\n\nIt is\nsealed.",
        );
        insta::assert_snapshot!(text, @r"
        A session is captured first. What follows is this:
          one  first
          two  second

        It is sealed.
        ");
    }
}
