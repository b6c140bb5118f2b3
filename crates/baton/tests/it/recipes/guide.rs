//! Reading the guides: the blocks of code under a heading.

const GUIDES: [&str; 4] = [
    include_str!("../../../../../docs/guide/other-tools.md"),
    include_str!("../../../../../docs/reference/mcp.md"),
    include_str!("../../../../../docs/guide/profiles.md"),
    include_str!("../../../../../docs/guide/take-turns.md"),
];

/// A block of code.
pub(super) struct Block {
    /// The first word behind the fence.
    pub(super) language: String,
    /// The second one: the file that it is.
    pub(super) file: Option<String>,
    pub(super) text: String,
}

/// The blocks under a heading.
pub(super) fn recipe(heading: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let (mut here, mut inside) = (false, false);
    for line in GUIDES.into_iter().flat_map(str::lines) {
        if let Some(info) = line.strip_prefix("```") {
            inside = !inside;
            if inside && here {
                let mut words = info.split_whitespace().map(ToOwned::to_owned);
                let language = words.next().unwrap_or_default();
                blocks.push(Block { language, file: words.next(), text: String::new() });
            }
        } else if let Some(title) = line.strip_prefix("## ").filter(|_| !inside) {
            here = title == heading;
        } else if inside && here {
            let block = blocks.last_mut().unwrap();
            block.text.push_str(line);
            block.text.push('\n');
        }
    }
    assert!(!blocks.is_empty(), "expected a recipe under the heading {heading}, found none");
    blocks
}

/// What is typed behind the prompts of a console.
pub(super) fn commands(console: &str) -> String {
    let typed = console.lines().filter_map(|line| line.strip_prefix("$ "));
    typed.collect::<Vec<_>>().join("\n")
}

/// The tables of versions: package and version.
pub(super) fn versions() -> Vec<(String, String)> {
    let rows = GUIDES.into_iter().flat_map(str::lines).filter(|line| line.starts_with("| ["));
    rows.map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let package = cells[1].split('`').nth(1).unwrap();
        (package.to_owned(), cells[2].to_owned())
    })
    .collect()
}
