//! What the files of one crate import of each other, told by their `use`s and their paths.

use crate::repository::File;
use std::collections::{BTreeMap, BTreeSet};
use syn::visit::Visit;
use syn::{Attribute, ItemMod, ItemUse, Macro, Path, UseTree, Visibility};

/// A module, by the names that lead to it from the root of its crate.
pub(crate) type Module = Vec<String>;

/// How many hands a name may go through.
const HANDS: usize = 8;

/// The files of a crate.
pub(crate) struct Imports {
    files: BTreeMap<Module, Source>,
}

/// One of them.
#[derive(Default)]
struct Source {
    path: String,
    /// What it names, from the root of the crate.
    named: BTreeSet<Module>,
    /// What it hands on that is of its own children, and under which name; `*` for all of it.
    handed: Vec<(String, Module)>,
}

/// A file that names something in another one.
pub(crate) struct Arrow<'i> {
    pub(crate) from: &'i Module,
    pub(crate) to: &'i Module,
    /// What is named.
    pub(crate) name: String,
}

impl Imports {
    /// Of the sources among `files` that stand below `folder`, such as `crates/store/src/`.
    pub(crate) fn of(files: &[File], folder: &str) -> Self {
        let inside = files.iter().filter_map(|file| Some((file.path.strip_prefix(folder)?, file)));
        let sources = inside.filter(|(path, _)| !is_of_tests(path)).map(|(path, file)| {
            let module = module(path);
            (module.clone(), read(file, module))
        });
        Self { files: sources.collect() }
    }

    /// Every arrow from one file to another, but for those of a parent to what stands below it.
    pub(crate) fn arrows(&self) -> Vec<Arrow<'_>> {
        let mut arrows = Vec::new();
        for (from, source) in &self.files {
            for named in &source.named {
                let Some(to) = self.home(named, HANDS) else { continue };
                if !to.starts_with(from) {
                    let name = named.last().cloned().unwrap_or_default();
                    arrows.push(Arrow { from, to, name });
                }
            }
        }
        arrows
    }

    /// What is imported from a module above that only hands it on, a line each.
    pub(crate) fn through_a_face(&self) -> Vec<String> {
        let mut found = Vec::new();
        for (from, source) in &self.files {
            for named in &source.named {
                let Some((face, rest)) = self.deepest(named) else { continue };
                let Some(name) = rest.first().filter(|_| from.starts_with(face) && from != face)
                else {
                    continue;
                };
                let handed = self.files[face].handed.iter().find(|(as_name, _)| as_name == name);
                if let Some((_, home)) = handed {
                    let (path, from_here) = (&source.path, home.join("::"));
                    found.push(format!("{path}: {name} of crate::{from_here}"));
                }
            }
        }
        found
    }

    /// The file that a path leads to, through whatever hands its name on.
    fn home(&self, path: &[String], hands: usize) -> Option<&Module> {
        let (module, rest) = self.deepest(path)?;
        let handed = rest.first().filter(|_| hands > 0).and_then(|name| {
            let of_name = self.files[module].handed.iter().filter(|(as_name, _)| as_name == name);
            let all = self.files[module].handed.iter().filter(|(as_name, _)| as_name == "*");
            let by_name = of_name.map(|(_, home)| [home, &rest[1..]].concat());
            by_name.chain(all.map(|(_, home)| [home, rest].concat())).find_map(|further| {
                let home = self.home(&further, hands - 1)?;
                (home.len() > module.len()).then_some(home)
            })
        });
        Some(handed.unwrap_or(module))
    }

    /// The deepest file on the way of a path, and what of the path is left.
    fn deepest<'p>(&self, path: &'p [String]) -> Option<(&Module, &'p [String])> {
        (0..=path.len()).rev().find_map(|length| {
            let (module, _) = self.files.get_key_value(&path[..length])?;
            Some((module, &path[length..]))
        })
    }
}

/// Files that belong to the tests of a module.
pub(crate) fn is_of_tests(path: &str) -> bool {
    path.ends_with("_tests.rs") || path.ends_with("/tests.rs") || path.contains("/tests/")
}

/// The module of a file below `src`.
fn module(path: &str) -> Module {
    let names = path.trim_end_matches(".rs").split('/').map(str::to_owned);
    let mut module: Module = names.collect();
    if matches!(module.last().map(String::as_str), Some("mod" | "lib" | "main")) {
        module.pop();
    }
    module
}

fn read(file: &File, module: Module) -> Source {
    let parsed = syn::parse_file(&file.text);
    let parsed = parsed.unwrap_or_else(|error| panic!("{}: {error}", file.path));
    let source = Source { path: file.path.clone(), ..Source::default() };
    let mut reader = Reader { module, source };
    reader.visit_file(&parsed);
    reader.source
}

/// Reads a file; `module` grows by the modules that stand inside it.
struct Reader {
    module: Module,
    source: Source,
}

impl Reader {
    /// A path from the root of the crate; none for what is no path inside it.
    fn rooted(&self, path: &[String]) -> Option<Module> {
        let mut names = path.iter().peekable();
        let mut module = match names.peek()?.as_str() {
            "crate" => Module::new(),
            "self" | "super" => self.module.clone(),
            _ => return None,
        };
        while let Some(word) =
            names.next_if(|word| matches!(word.as_str(), "crate" | "self" | "super"))
        {
            if word == "super" {
                module.pop()?;
            }
        }
        Some(module.into_iter().chain(names.cloned()).collect())
    }

    fn names(&mut self, path: &[String]) {
        self.source.named.extend(self.rooted(path));
    }
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        if item.content.is_some() && !is_for_tests(&item.attrs) {
            self.module.push(item.ident.to_string());
            syn::visit::visit_item_mod(self, item);
            self.module.pop();
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        if is_for_tests(&item.attrs) {
            return;
        }
        let is_handed_on = !matches!(item.vis, Visibility::Inherited);
        for (path, name) in leaves(&item.tree) {
            let of_child = [&["self".to_owned()], path.as_slice()].concat();
            match self.rooted(&path).or_else(|| self.rooted(&of_child)) {
                Some(home) if is_handed_on => self.source.handed.push((name, home)),
                _ => self.names(&path),
            }
        }
    }

    fn visit_path(&mut self, path: &'ast Path) {
        let names: Vec<String> = path.segments.iter().map(|one| one.ident.to_string()).collect();
        self.names(&names);
        syn::visit::visit_path(self, path);
    }

    // What a macro is given is no syntax yet: its paths are read as words.
    fn visit_macro(&mut self, given: &'ast Macro) {
        // What defines a macro stands in other files too, wherever it is used.
        if given.path.is_ident("macro_rules") {
            return;
        }
        let text = given.tokens.to_string().replace(" :: ", "::");
        let is_of_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
        for word in text.split(|c| !is_of_path(c)).filter(|word| word.contains("::")) {
            let path: Vec<String> = word.split("::").map(str::to_owned).collect();
            self.names(&path);
        }
        syn::visit::visit_macro(self, given);
    }
}

/// Whether an item stands only where tests are built.
pub(crate) fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|one| {
        one.path().is_ident("cfg")
            && one.parse_args::<Path>().is_ok_and(|condition| condition.is_ident("test"))
    })
}

/// Every path of a `use`, and the name that it gets.
fn leaves(tree: &UseTree) -> Vec<(Vec<String>, String)> {
    match tree {
        UseTree::Path(path) => {
            let below = leaves(&path.tree).into_iter();
            let first = path.ident.to_string();
            below.map(|(rest, name)| ([vec![first.clone()], rest].concat(), name)).collect()
        }
        UseTree::Name(name) => vec![(vec![name.ident.to_string()], name.ident.to_string())],
        UseTree::Rename(to) => vec![(vec![to.ident.to_string()], to.rename.to_string())],
        UseTree::Glob(_) => vec![(Vec::new(), "*".to_owned())],
        UseTree::Group(group) => group.items.iter().flat_map(leaves).collect(),
    }
}
