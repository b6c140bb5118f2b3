//! The picture of the demo that the first page shows: an SVG whose lines come when the demo wrote them.
//!
//! It is drawn from what a real run writes, and moves by CSS alone, so that it plays where scripts do not run. Who
//! wants no motion sees all of it at once.

use anyhow::{Context as _, Result, ensure};
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The columns that are shown; a line that is longer ends in `…`.
const COLUMNS: usize = 100;
/// Pixels from line to line, and from letter to letter in a monospaced font of [`SIZE`].
const LINE: usize = 19;
const LETTER: usize = 8;
/// The letters' size, in pixels.
const SIZE: usize = 13;
/// Pixels around the text.
const MARGIN: usize = 16;
/// What the picture shows of the report at the end: from this line on,
const FROM: &str = "THE PAGE SHOWS";
/// to the one that begins so.
const UNTIL: &str = "It is still signed in.";

/// A line of the demo, and when it was written.
struct Line {
    at: Duration,
    text: String,
}

/// Runs the demo, repeats what it writes, and draws it.
pub(super) fn record(baton: &Path, args: &[String], to: &Path) -> Result<()> {
    // Its steps go to the standard error, its report to the output: one reader keeps their order.
    let mut demo = Command::new("sh");
    demo.args(["-c", "exec \"$0\" demo \"$@\" 2>&1"]).arg(baton).args(args);
    let begun = Instant::now();
    let mut run = demo.stdout(Stdio::piped()).spawn()?;
    let output = run.stdout.take().context("expected an output")?;
    let mut lines = vec![Line { at: Duration::ZERO, text: "$ baton demo".to_owned() }];
    for text in BufReader::new(output).lines() {
        let text = text?;
        println!("{text}");
        lines.push(Line { at: begun.elapsed(), text });
    }
    let status = run.wait()?;
    ensure!(status.success(), "expected a demo to draw, found that it ended with {status}");
    std::fs::write(to, drawn(&chosen(lines)))
        .with_context(|| format!("could not write {}", to.display()))
}

/// The steps, and what the page shows at the end.
fn chosen(lines: Vec<Line>) -> Vec<Line> {
    let mut is_the_end = false;
    let is_chosen = |line: &Line| {
        is_the_end |= line.text.starts_with(FROM);
        let is_step = line.text.starts_with('✓') || line.text.starts_with('$');
        let chosen = is_step || is_the_end;
        is_the_end &= !line.text.starts_with(UNTIL);
        chosen
    };
    let mut is_chosen = is_chosen;
    lines.into_iter().filter(|line| is_chosen(line)).collect()
}

fn drawn(lines: &[Line]) -> String {
    let (width, height) = (COLUMNS * LETTER + 2 * MARGIN, lines.len() * LINE + 2 * MARGIN);
    let mut svg = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="baton demo: a session that is signed in survives SIGKILL, moves to another node and into a sandbox">
<style>
rect {{ fill: #16181d }}
text {{ fill: #d7dae0; font: {SIZE}px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre; opacity: 0; animation: come 1ms linear forwards }}
.good {{ fill: #7fd88f }}
.typed {{ fill: #ffffff; font-weight: bold }}
@keyframes come {{ to {{ opacity: 1 }} }}
@media (prefers-reduced-motion: reduce) {{ text {{ opacity: 1; animation: none }} }}
</style>
<rect width="{width}" height="{height}" rx="8"/>
"#
    );
    for (number, Line { at, text }) in lines.iter().enumerate() {
        let class = match text {
            typed if typed.starts_with('$') => " class=\"typed\"",
            good if good.starts_with(UNTIL) => " class=\"good\"",
            _ => "",
        };
        let (y, delay) = (MARGIN + number * LINE + SIZE, at.as_secs_f64());
        let text = escaped(&cut(text));
        let _ = writeln!(
            svg,
            r#"<text{class} x="{MARGIN}" y="{y}" style="animation-delay:{delay:.2}s">{text}</text>"#
        );
    }
    svg + "</svg>\n"
}

fn cut(text: &str) -> String {
    let mut cut: String = text.chars().take(COLUMNS).collect();
    if text.chars().count() > COLUMNS {
        cut.pop();
        cut.push('…');
    }
    cut
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::{COLUMNS, Duration, Line, chosen, drawn};

    #[test]
    fn it_shows_the_steps_and_the_end_and_nothing_that_is_markup() {
        let line = |text: &str| Line { at: Duration::from_millis(1500), text: text.to_owned() };
        let long = format!("✓ {}", "x".repeat(COLUMNS));
        let lines = [
            "$ baton demo",
            "✓ a <b>",
            "KIND  WHERE",
            "THE PAGE SHOWS",
            "row",
            "It is still signed in.",
            "gone",
            &long,
        ];
        let chosen = chosen(lines.map(line).into());
        let texts: Vec<&str> = chosen.iter().map(|line| line.text.as_str()).collect();
        let expected =
            ["$ baton demo", "✓ a <b>", "THE PAGE SHOWS", "row", "It is still signed in.", &long];
        assert_eq!(texts, expected);
        let svg = drawn(&chosen);
        assert!(svg.contains("animation-delay:1.50s\">✓ a &lt;b&gt;</text>"), "{svg}");
        assert!(svg.contains("x…</text>") && svg.ends_with("</svg>\n"), "{svg}");
    }
}
