//! A table that fits the terminal: the widest columns give way first.

use super::style;
use console::{Term, measure_text_width, truncate_str};

/// No column gets narrower than this.
const NARROWEST: usize = 8;
/// What stands between two columns.
const GAP: usize = 2;

/// Rows of text under headings.
#[derive(Debug)]
pub(super) struct Table {
    headings: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows.
    pub(super) fn new(headings: &[&'static str]) -> Self {
        Self { headings: headings.to_vec(), rows: Vec::new() }
    }

    /// Adds a row with a cell for each heading.
    pub(super) fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(cells.map(|cell| style::plain(&cell)).into());
    }

    /// The table for standard output: as wide as its terminal, as wide as it needs elsewhere.
    pub(super) fn render(&self) -> String {
        let terminal = Term::stdout();
        let width = terminal.is_term().then(|| usize::from(terminal.size().1));
        self.render_within(width)
    }

    fn render_within(&self, width: Option<usize>) -> String {
        let widths = self.widths(width);
        let headings: Vec<String> = self.headings.iter().map(|&text| text.to_owned()).collect();
        let mut lines = vec![style::faint(&line(&headings, &widths))];
        lines.extend(self.rows.iter().map(|row| line(row, &widths)));
        lines.join("\n")
    }

    fn widths(&self, limit: Option<usize>) -> Vec<usize> {
        let mut widths: Vec<usize> = self.headings.iter().map(|h| measure_text_width(h)).collect();
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = measure_text_width(cell).max(*width);
            }
        }
        let room = limit.map(|limit| limit.saturating_sub(GAP * widths.len().saturating_sub(1)));
        while room.is_some_and(|room| widths.iter().sum::<usize>() > room) {
            match widths.iter_mut().max() {
                Some(widest) if *widest > NARROWEST => *widest -= 1,
                _ => break,
            }
        }
        widths
    }
}

fn line(cells: &[String], widths: &[usize]) -> String {
    let mut line = String::new();
    for (cell, width) in cells.iter().zip(widths) {
        let cut = truncate_str(cell, *width, "…");
        let padding = width.saturating_sub(measure_text_width(&cut)) + GAP;
        line.push_str(&cut);
        line.extend(std::iter::repeat_n(' ', padding));
    }
    line.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::Table;

    fn table() -> Table {
        let mut table = Table::new(&["NAME", "WHERE"]);
        table.row(["shop".into(), "https://shop.test/a/very/long/address".into()]);
        table.row(["世界".into(), "here".into()]);
        table
    }

    #[test]
    fn columns_are_as_wide_as_they_need() {
        insta::assert_snapshot!(table().render_within(None), @r"
        NAME  WHERE
        shop  https://shop.test/a/very/long/address
        世界  here
        ");
    }

    #[test]
    fn the_widest_column_gives_way() {
        let text = table().render_within(Some(24));
        insta::assert_snapshot!(text, @r"
        NAME  WHERE
        shop  https://shop.test…
        世界  here
        ");
        assert!(text.lines().all(|line| console::measure_text_width(line) <= 24));
    }
}
