//! A type's name stands once in its crate: who reads it, or looks for it, finds the one that is meant.
//!
//! What stands inside of a function is that function's own, and what stands in tests is theirs.

use crate::imports::{is_for_tests, is_of_tests};
use crate::repository::{File, files, report};
use std::collections::BTreeMap;
use syn::{Attribute, Ident, Item};

/// Names that stand more than once, by the folder of their crate.
const SHARED: [(&str, &str); 2] = [
    // One for each platform: a build has one of them.
    ("crates/federation", "ChangeSource"),
    // What each chore is given, beside its `run`: read with the name of its file, as in `demo::Args`.
    ("xtask", "Args"),
];

/// The files in which a name stands, by crate and name; as often as it stands there.
type Places = BTreeMap<(String, String), Vec<String>>;

#[test]
fn a_type_name_stands_once_in_its_crate() {
    let twice = twice(&files(".rs"));
    let is_shared = |(folder, name): &(String, String)| {
        SHARED.iter().any(|(of, shared)| of == folder && shared == name)
    };
    let found = twice.iter().filter(|(key, _)| !is_shared(key));
    let findings: Vec<String> = found
        .map(|((folder, name), paths)| format!("{folder}: {name} in {}", paths.join(", ")))
        .collect();
    report("two types of a crate have one name: call each by what it is", &findings);
    let shared = SHARED.map(|(folder, name)| (folder.to_owned(), name.to_owned()));
    let findings: Vec<String> = shared
        .into_iter()
        .filter(|key| !twice.contains_key(key))
        .map(|(folder, name)| format!("{folder}: {name}"))
        .collect();
    report("a name stands once by now: take it from the list", &findings);
}

/// The names that stand more than once in the sources of their crate.
fn twice(files: &[File]) -> Places {
    let mut places = Places::new();
    for file in files {
        let Some((folder, path)) = file.path.split_once("/src/") else { continue };
        if is_of_tests(path) {
            continue;
        }
        let parsed = syn::parse_file(&file.text);
        let parsed = parsed.unwrap_or_else(|error| panic!("{}: {error}", file.path));
        let mut names = Vec::new();
        types(&parsed.items, &mut names);
        for name in names {
            places.entry((folder.to_owned(), name)).or_default().push(path.to_owned());
        }
    }
    places.retain(|_, paths| paths.len() > 1);
    places
}

/// The names of the types of a module and of the modules that stand inside it, without those of tests.
fn types(items: &[Item], names: &mut Vec<String>) {
    for item in items {
        if let Item::Mod(module) = item
            && let Some((_, inside)) = &module.content
            && !is_for_tests(&module.attrs)
        {
            types(inside, names);
        }
        names.extend(
            type_of(item)
                .filter(|(_, attributes)| !is_for_tests(attributes))
                .map(|(name, _)| name.to_string()),
        );
    }
}

fn type_of(item: &Item) -> Option<(&Ident, &[Attribute])> {
    Some(match item {
        Item::Struct(item) => (&item.ident, &item.attrs),
        Item::Enum(item) => (&item.ident, &item.attrs),
        Item::Trait(item) => (&item.ident, &item.attrs),
        Item::Type(item) => (&item.ident, &item.attrs),
        Item::Union(item) => (&item.ident, &item.attrs),
        _ => return None,
    })
}

#[test]
fn what_stands_twice_is_found() {
    let file = |path: &str, text: &str| File { path: path.to_owned(), text: text.to_owned() };
    let found = twice(&[
        file(
            "crates/one/src/a.rs",
            "struct Inner; mod deep { trait Deep {} } fn f() { enum F {} }",
        ),
        file("crates/one/src/b/mod.rs", "type Inner = u8; enum Deep {} fn f() { struct F; }"),
        file("crates/one/src/c.rs", "#[cfg(test)] mod tests { struct Inner; }"),
        file("crates/one/src/b/tests.rs", "struct Inner;"),
        file("crates/one/tests/it/main.rs", "struct Inner;"),
        file("crates/other/src/a.rs", "struct Inner; impl Iterator for Inner { type Item = u8; }"),
    ]);
    let key = |name: &str| ("crates/one".to_owned(), name.to_owned());
    let places = || vec!["a.rs".to_owned(), "b/mod.rs".to_owned()];
    assert_eq!(found, Places::from([(key("Deep"), places()), (key("Inner"), places())]));
}
