//! What sites may do, after a browser somewhere else had the profile.
//!
//! The one idea: whatever ran there could write into the settings what it liked, and a site that may use the camera
//! by them asks nobody any more. So what was denied there is taken, as other state of the sites that were handed in
//! is; what a site may besides is for a person to allow. What is not in the settings any more stays as it was.

use super::tabs::Foreign;
use crate::permission::{MAX_PERMISSIONS, Permission, Setting};
use crate::receipt::{ItemKind, Receipt, ReceiptItem};
use crate::storage::Site;
use std::collections::BTreeSet;

/// The most permissions that are named which are not for a sandbox to decide.
const MOST_REFUSED: usize = 200;

/// The permissions `known` before, after a browser whose profile has `found`; what of that is of other sites, and
/// what is not for it to decide. Without `sites` all is taken.
pub(super) fn merged(
    mut known: Vec<Permission>,
    found: Vec<Permission>,
    sites: Option<&BTreeSet<Site>>,
) -> (Vec<Permission>, Vec<Foreign>, Receipt) {
    let (mut foreign, mut refused) = (Vec::new(), Vec::new());
    for permission in found {
        let at = known.iter().position(|one| one.key() == permission.key());
        let before = at.and_then(|at| known.get_mut(at));
        if before.as_ref().is_some_and(|before| before.setting == permission.setting) {
            continue;
        }
        let site = Site::of_origin(&permission.origin);
        let (kind, place) = (ItemKind::Permission, permission.place());
        if sites.is_some_and(|sites| !sites.contains(&site)) {
            foreign.push(Foreign { kind, place, site });
        } else if sites.is_some() && permission.setting == Setting::Allow {
            let why = "a person allows it, and nothing that runs elsewhere; takeBack all takes it";
            refused.push(ReceiptItem::rejected(kind, place, why));
        } else if let Some(before) = before {
            *before = permission;
        } else if known.len() < MAX_PERMISSIONS {
            // None of those that were there goes for it.
            known.push(permission);
        } else {
            let why = format!("expected at most {MAX_PERMISSIONS} permissions");
            refused.push(ReceiptItem::rejected(kind, place, why));
        }
    }
    let more = refused.len().saturating_sub(MOST_REFUSED);
    refused.truncate(MOST_REFUSED);
    if more > 0 {
        let (place, why) = (format!("{more} more"), "they are not taken, as those are not");
        refused.push(ReceiptItem::rejected(ItemKind::Permission, place, why));
    }
    (known, foreign, refused.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use Setting::{Allow, Deny};

    fn permission(name: &str, origin: &str, setting: Setting) -> Permission {
        Permission { name: name.to_owned(), origin: origin.to_owned(), setting, changed: None }
    }

    /// A permission in a line.
    fn line(permission: &Permission) -> String {
        format!("{} {}", permission.place(), permission.setting)
    }

    #[test]
    fn a_site_that_was_handed_in_may_less_afterwards_and_never_more() {
        let (shop, bank) = ("https://app.shop.test", "https://bank.test");
        let known = vec![
            permission("camera", shop, Deny),
            permission("geolocation", shop, Allow),
            permission("midi", shop, Allow),
            permission("notifications", bank, Allow),
        ];
        let found = vec![
            permission("camera", shop, Allow),
            permission("geolocation", shop, Deny),
            permission("microphone", shop, Allow),
            permission("popups", shop, Deny),
            permission("camera", bank, Deny),
            permission("notifications", bank, Allow),
        ];
        let sites = BTreeSet::from([Site::of_origin(shop)]);
        let (taken, foreign, refused) = merged(known.clone(), found.clone(), Some(&sites));
        let taken: Vec<String> = taken.iter().map(line).collect();
        assert_eq!(
            taken,
            [
                "camera https://app.shop.test deny",
                "geolocation https://app.shop.test deny",
                "midi https://app.shop.test allow",
                "notifications https://bank.test allow",
                "popups https://app.shop.test deny",
            ]
        );
        let foreign: Vec<String> = foreign.into_iter().map(|one| one.place).collect();
        assert_eq!(foreign, ["camera https://bank.test"]);
        let refused: Vec<&str> = refused.items.iter().map(|item| &*item.place).collect();
        assert_eq!(refused, ["camera https://app.shop.test", "microphone https://app.shop.test"]);

        let (taken, foreign, refused) = merged(known, found.clone(), None);
        assert!(found.iter().all(|one| taken.contains(one)), "{taken:?}");
        assert_eq!((taken.len(), foreign.len(), refused.items.len()), (7, 0, 0));
    }

    #[test]
    fn those_that_are_too_many_push_none_out() {
        let many = |first: usize| {
            let origins = (first..first + MAX_PERMISSIONS).map(|at| format!("https://a{at}.test"));
            let all = origins.map(|origin| permission("camera", &origin, Deny));
            all.collect::<Vec<Permission>>()
        };
        let (taken, _, refused) = merged(many(0), many(MAX_PERMISSIONS), None);
        assert_eq!(taken, many(0));
        assert_eq!(refused.items.len(), MOST_REFUSED + 1);
        assert_eq!(refused.items.last().unwrap().place, "800 more");
    }
}
