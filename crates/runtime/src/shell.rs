//! Commands that texts ask people to type.

/// A word of a command that a person is asked to type, so that a shell takes it as one word.
pub fn word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.:/@%+=,".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::word;

    #[test]
    fn a_word_of_a_command_stays_one_word() {
        assert_eq!(word("https://baton.example.org:7420/"), "https://baton.example.org:7420/");
        assert_eq!(word("my server"), "'my server'");
        assert_eq!(word("x; rm -rf ~"), "'x; rm -rf ~'");
        assert_eq!(word("it's $(id)"), r"'it'\''s $(id)'");
        assert_eq!(word(""), "''");
    }
}
