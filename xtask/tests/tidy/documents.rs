//! Documents: what a page refers to must be there.

use crate::repository::{File, files, report, root};

#[test]
fn every_link_inside_the_repository_leads_somewhere() {
    let mut findings = Vec::new();
    for page in files(".md") {
        let folder = root().join(&page.path).parent().unwrap().to_owned();
        for link in links(&page) {
            let path = link.split('#').next().unwrap_or_default();
            if !path.is_empty() && !folder.join(path).exists() {
                findings.push(format!("{}: {link}", page.path));
            }
        }
    }
    report("a link leads nowhere", &findings);
}

/// The targets of `[text](target)` that are no web address.
fn links(page: &File) -> Vec<&str> {
    let mut found = Vec::new();
    for after in page.text.split("](").skip(1) {
        let target = after.split([')', ' ']).next().unwrap_or_default();
        if !target.contains("://") {
            found.push(target);
        }
    }
    found
}
