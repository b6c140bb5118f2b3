//! Members of a file that nobody here knows: each is named once, and counted.
//!
//! A newer version may have added them, or somebody else's program; either way they do not come along.

use std::collections::BTreeMap;

/// The most members that are named of one kind of place, and the most characters of a name: a file is not
/// trusted with the length of a receipt.
const MOST: usize = 20;
const LONGEST: usize = 60;

/// What was found at one kind of place.
#[derive(Debug, Default)]
pub(crate) struct Unknown(BTreeMap<String, usize>);

impl Unknown {
    /// Notes a member.
    pub(crate) fn note(&mut self, name: &str) {
        let name = name.chars().filter(|c| !c.is_control()).take(LONGEST).collect();
        *self.0.entry(name).or_default() += 1;
    }

    /// A line for each member, and one for all beyond a bound.
    pub(crate) fn lines(self) -> Vec<String> {
        let more = self.0.len().saturating_sub(MOST);
        let line = |(name, count): (String, usize)| {
            let times = if count > 1 { format!(" ({count} times)") } else { String::new() };
            format!("{name:?} is no member that is known here{times}: it is left out")
        };
        let mut lines: Vec<String> = self.0.into_iter().take(MOST).map(line).collect();
        if more > 0 {
            lines.push(format!("{more} other members are not known here either"));
        }
        lines
    }
}
