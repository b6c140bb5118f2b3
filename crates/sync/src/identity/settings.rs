//! What a node says of itself to others: how it is deployed, what it is called, where it is asked.

use baton_session::wire::NodeType;
use url::{Position, Url};

/// The longest name of a node, in characters.
const NAME_MAX: usize = 64;
/// The longest address of a node, in bytes.
const URL_MAX: usize = 2048;

/// What a node says of itself to others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeSettings {
    /// How it is deployed.
    pub node_type: NodeType,
    /// What it calls itself.
    pub name: String,
    /// Where the world asks it.
    pub public_url: Option<Url>,
    /// Where its own network asks it.
    pub internal_url: Option<Url>,
}

/// Whether a node may be called so: others show it in a terminal.
pub fn is_node_name(text: &str) -> bool {
    let shown = |c: char| !c.is_control() && !is_invisible(c);
    (1..=NAME_MAX).contains(&text.chars().count()) && text.trim() == text && text.chars().all(shown)
}

/// Marks that change in which order a line is shown, or that nobody sees.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// Whether a node may be asked there. The path stays empty: what is signed names the path, which a
/// proxy that cuts its beginning off would change.
pub fn is_node_url(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https")
        && url.as_str().len() <= URL_MAX
        && url.username().is_empty()
        && url.password().is_none()
        && matches!(&url[Position::BeforePath..], "" | "/")
}

#[cfg(test)]
mod tests {
    use super::{is_node_name, is_node_url};

    #[test]
    fn a_name_can_be_shown() {
        for good in ["laptop", "Ada's laptop", "büro-1", &"x".repeat(64)] {
            assert!(is_node_name(good), "{good:?}");
        }
        for bad in ["", " laptop", "a\nb", "\u{1b}[2J", "safe\u{202e}txt", &"x".repeat(65)] {
            assert!(!is_node_name(bad), "{bad:?}");
        }
    }

    #[test]
    fn an_address_has_neither_path_nor_user() {
        let is_one = |text: &str| text.parse().is_ok_and(|url| is_node_url(&url));
        for good in ["https://baton.example.org", "http://10.0.0.7:7420/", "https://[2001:db8::1]"]
        {
            assert!(is_one(good), "{good}");
        }
        for bad in [
            "baton.example.org",
            "ftp://baton.example.org",
            "https://ada@baton.example.org",
            "https://baton.example.org/baton",
            "https://baton.example.org/?a",
            "https://baton.example.org/#a",
        ] {
            assert!(!is_one(bad), "{bad}");
        }
    }
}
