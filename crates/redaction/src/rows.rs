//! Rows in JSON: values whose name stands elsewhere, and is found by their place in a list.
//!
//! The one idea: a list beside the rows, the first one of them, or an object in the same list says which
//! places are secrets.

use crate::json::Scan;
use crate::names::Weight;

/// Names of lists of columns, of what names one of them, and of the rows below them.
const COLUMNS: [&str; 7] =
    ["columns", "cols", "fields", "headers", "header", "columnNames", "column_names"];
const COLUMN_NAMES: [&str; 3] = ["name", "field", "key"];
const ROWS: [&str; 5] = ["rows", "values", "records", "data", "results"];
/// How many columns are looked at.
const MAX_COLUMNS: usize = 256;

impl Scan<'_, '_> {
    /// `"columns": ["id", "password"]`, or objects with a name each.
    pub(crate) fn learn_column(&mut self, plain: &str) {
        let Some(last) = self.open.len().checked_sub(2) else { return };
        let is_object = self.top().is_object;
        // `[["id", "user", "password"], …]`: a list of lists, of which the first one names the columns.
        if last > 0 && !is_object && !self.open[last].is_object && self.open[last].count == 0 {
            self.open[last].heads += 1;
            return self.note_column(last, self.open[last + 1].count, plain);
        }
        let around = if is_object { last.checked_sub(1) } else { Some(last) };
        let Some(around) = around.filter(|around| self.open[*around].is_under(&COLUMNS)) else {
            return;
        };
        let names_it = self.top().name.as_deref().is_none_or(|name| COLUMN_NAMES.contains(&name));
        if is_object && !names_it {
            return;
        }
        self.note_column(around, self.open[around + 1].count, plain);
    }

    fn note_column(&mut self, table: usize, column: usize, name: &str) {
        let weight = self.work.weigh(name);
        let columns = &mut self.open[table].columns;
        if weight > Weight::Plain && column < MAX_COLUMNS {
            columns.resize(columns.len().max(column + 1), Weight::Plain);
            columns[column] = columns[column].max(weight);
        }
    }

    /// What the column of this value weighs, if it stands in a row: `"rows": [[1, "…"]]`; or what an object
    /// beside it says: `[{"password": 1}, "…"]`, as Svelte and Nuxt write what they know.
    pub(crate) fn column_above(&self) -> Weight {
        let [.., table, rows, row] = self.open.as_slice() else { return Weight::Plain };
        if row.referred.contains(&row.count) {
            return Weight::Secret;
        }
        if rows.is_table && !row.is_object {
            return rows.columns.get(row.count).copied().unwrap_or(Weight::Plain);
        }
        if row.is_object || rows.is_object || table.columns.is_empty() || !table.is_under(&ROWS) {
            return Weight::Plain;
        }
        table.columns.get(row.count).copied().unwrap_or(Weight::Plain)
    }

    /// Under the name of a secret stands the number of its place in the list around.
    pub(crate) fn refer(&mut self, place: usize) {
        let is_named = self.top().is_object;
        let around = self.open.iter_mut().rev().nth(1).filter(|around| !around.is_object);
        if let Some(around) =
            around.filter(|around| is_named && around.referred.len() < MAX_COLUMNS)
        {
            around.referred.push(place);
        }
    }
}
