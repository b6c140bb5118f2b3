//! What a command wrote, without what nobody wants to read: its beginning and its end.

/// How much of the beginning and of the end is kept, in characters.
const BEGINNING: usize = 2_000;
const END: usize = 6_000;

/// A text of which the middle may be missing.
#[derive(Debug, Default)]
pub(super) struct Said {
    beginning: String,
    begun: usize,
    end: String,
    left_out: usize,
}

impl Said {
    /// Adds what comes next.
    pub(super) fn hear(&mut self, text: &str) {
        let room = BEGINNING - self.begun;
        let cut = text.char_indices().nth(room).map_or(text.len(), |(at, _)| at);
        let (first, rest) = text.split_at(cut);
        self.beginning.push_str(first);
        self.begun += first.chars().count();
        self.end.push_str(rest);
        let over = self.end.chars().count().saturating_sub(END);
        if over > 0 {
            let cut = self.end.char_indices().nth(over).map_or(self.end.len(), |(at, _)| at);
            self.end.drain(..cut);
            self.left_out += over;
        }
    }

    /// How many characters are missing.
    pub(super) fn left_out(&self) -> usize {
        self.left_out
    }

    /// The text; none when there is nothing.
    pub(super) fn told(&self) -> Option<String> {
        let missing = match self.left_out {
            0 => String::new(),
            count => format!("\n[{count} characters left out]\n"),
        };
        let text = format!("{}{missing}{}", self.beginning, self.end);
        let text = text.trim_end();
        (!text.is_empty()).then(|| text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::{BEGINNING, END, Said};

    #[test]
    fn the_middle_of_a_long_text_is_left_out() {
        let mut said = Said::default();
        assert_eq!(said.told(), None);
        said.hear("é");
        said.hear(&"a".repeat(BEGINNING - 1));
        said.hear(&"b".repeat(100));
        said.hear(&"c".repeat(END));
        let told = said.told().unwrap();
        assert!(told.starts_with('é') && told.ends_with('c') && !told.contains('b'));
        assert!(told.contains("[100 characters left out]"), "{}", said.left_out());
    }
}
