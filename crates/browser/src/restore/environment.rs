//! The environment and the permissions that a snapshot wants: which side counts, and what a page sees
//! of it.
//!
//! Viewport, time zone, locale and user agent are given to the browser at its launch, geolocation by its
//! keeper, an identity by both, permissions by the settings of its profile; here they are only read back.
//!
//! Permissions are written before the browser starts, so they hold from the first page on. The settings
//! of a profile move forward only: what a profile that belongs to the snapshot says otherwise was
//! decided later, unless its browser died before it wrote.

use super::PAGES_AT_ONCE;
use super::tabs::OpenTab;
use crate::launch::expect_itself;
use crate::profile::at_rest::Instant;
use crate::script::Script;
use crate::{script, targets};
use baton_session::identity::{Identity, UserAgentMetadata};
use baton_session::permission::{Setting, origin_of};
use baton_session::receipt::{ItemKind, ReceiptItem, Source, Verified};
use baton_session::state::Viewport;
use baton_session::{Environment, Permission, Receipt};
use futures_util::stream;
use futures_util::stream::StreamExt;
use serde::Deserialize;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(5);
const USER_AGENT: &str = "user agent";

/// What `inspect.js` returns.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PageEnvironment {
    viewport: Viewport,
    timezone: String,
    locale: String,
    user_agent: String,
    /// None when it was not asked for.
    identity: Option<Identity>,
    url: String,
    permissions: BTreeMap<String, String>,
}

/// One line for each setting that the snapshot has, and what a tab of each site that it names sees of
/// its permissions. `version` is what the browser says of itself.
pub(super) async fn verify(
    tabs: &[OpenTab<'_>],
    wanted: &Environment,
    version: &str,
) -> (Receipt, SeenPermissions) {
    let looks = witnesses(tabs, wanted).into_iter().map(|tab| read_environment(tab, wanted));
    let looks: Vec<_> = looks.collect();
    let seen: Vec<_> = stream::iter(looks).buffered(PAGES_AT_ONCE).collect().await;
    let told = seen.iter().flatten();
    let told = told.filter_map(|seen| Some((origin_of(&seen.url)?, seen.permissions.clone())));
    let told = told.collect();
    (compare(seen.first().and_then(Option::as_ref), wanted, version), told)
}

/// The first tab, and of each site with permissions the first one that shows it.
fn witnesses<'a, 't>(tabs: &'a [OpenTab<'t>], wanted: &Environment) -> Vec<&'a OpenTab<'t>> {
    let mut origins: BTreeSet<&str> =
        wanted.permissions.iter().map(|permission| permission.origin.as_str()).collect();
    let mut is_witness = |at: usize, tab: &OpenTab<'_>| {
        let shows = origin_of(tab.url()).is_some_and(|origin| origins.remove(origin.as_str()));
        shows || at == 0
    };
    tabs.iter().enumerate().filter(|(at, tab)| is_witness(*at, tab)).map(|(_, tab)| tab).collect()
}

fn compare(seen: Option<&PageEnvironment>, wanted: &Environment, version: &str) -> Receipt {
    let mut receipt = Receipt::default();
    let is_whole = wanted.identity.as_ref().is_some_and(|identity| identity.metadata.is_some());
    let mut compare = |place: &str, wanted: Option<String>, found: Option<String>| {
        if let Some(wanted) = wanted {
            let mut item = item(place, &wanted, found);
            if place == USER_AGENT && item.reason.is_none() && !is_whole {
                // It was taken along from another browser, or this one has become newer.
                let other = expect_itself(&wanted, version).err();
                item.reason = other.map(|other| other.to_string());
            }
            receipt.push(item);
        }
    };
    let size = |viewport: Viewport| format!("{}x{}", viewport.width, viewport.height);
    compare("viewport", wanted.viewport.map(size), seen.map(|seen| size(seen.viewport)));
    compare("timezone", wanted.timezone.clone(), seen.map(|seen| seen.timezone.clone()));
    compare("locale", wanted.locale.clone(), seen.map(|seen| seen.locale.clone()));
    compare(USER_AGENT, wanted.user_agent.clone(), seen.map(|seen| seen.user_agent.clone()));
    if let Some(wanted) = &wanted.identity {
        let seen = seen.and_then(|seen| seen.identity.as_ref());
        for (place, say) in IDENTITY {
            compare(place, say(wanted), seen.and_then(say));
        }
    }
    compare("geolocation", wanted.geolocation.map(|_| String::new()), None);
    compare("egress", wanted.egress.as_ref().map(|_| String::new()), None);
    receipt
}

/// What an identity says of one thing, in words.
type IdentityText = fn(&Identity) -> Option<String>;

/// What an identity is made of.
const IDENTITY: [(&str, IdentityText); 8] = [
    ("client hints", |one| one.metadata.as_ref().map(hints)),
    ("platform", |one| one.platform.clone()),
    ("languages", |one| (!one.languages.is_empty()).then(|| one.languages.join(","))),
    // Pages see what a screen makes of it.
    ("scale", |one| one.device_scale_factor.map(|scale| format!("{scale:.2}"))),
    ("touch", |one| one.max_touch_points.map(|points| points.to_string())),
    ("colour scheme", |one| one.color_scheme.map(|scheme| scheme.as_str().to_owned())),
    ("reduced motion", |one| one.reduced_motion.map(|reduced| reduced.to_string())),
    ("processors", |one| one.hardware_concurrency.map(|count| count.to_string())),
];

fn hints(metadata: &UserAgentMetadata) -> String {
    let names = ["", "-full-version-list", "-platform", "-platform-version", "-arch", "-bitness"];
    let names = names.iter().chain(&["-model", "-mobile", "-wow64"]);
    let hints = names.filter_map(|name| metadata.header(&format!("sec-ch-ua{name}")));
    hints.collect::<Vec<_>>().join(" ")
}

fn item(place: &str, wanted: &str, found: Option<String>) -> ReceiptItem {
    match found {
        Some(found) if found == wanted => ReceiptItem::restored(ItemKind::Environment, place),
        Some(found) => {
            let reason = format!("expected {wanted}, found {found}");
            ReceiptItem::rejected(ItemKind::Environment, place, reason)
        }
        None => ReceiptItem {
            verified: Verified::None,
            ..ReceiptItem::restored(ItemKind::Environment, place)
        },
    }
}

async fn read_environment(tab: &OpenTab<'_>, wanted: &Environment) -> Option<PageEnvironment> {
    let frame = targets::frames_of(tab.session()).await.ok()?.into_iter().next()?;
    let world = script::world(tab.session(), &frame.id).await.ok()?;
    let by_name = json!({ "timezone": wanted.timezone, "identity": wanted.identity.is_some() });
    let mut seen: PageEnvironment =
        script::run(tab.session(), &world, Script::Inspect, &by_name, LIMIT).await.ok()?;
    if let Some(identity) = &mut seen.identity {
        read_machine(tab, identity).await;
    }
    Some(seen)
}

/// What the page's own scripts see of the machine: it is said in no other world.
async fn read_machine(tab: &OpenTab<'_>, identity: &mut Identity) {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Machine {
        platform: String,
        hardware_concurrency: u16,
        max_touch_points: u8,
    }
    const ASK: &str = "(({ platform, hardwareConcurrency, maxTouchPoints }) => \
        ({ platform, hardwareConcurrency, maxTouchPoints }))(navigator)";
    let asked = json!({ "expression": ASK, "returnByValue": true });
    let Ok(told) = tab.session().call_within(LIMIT, "Runtime.evaluate", asked).await else {
        return;
    };
    if let Ok(found) = Machine::deserialize(&told["result"]["value"]) {
        identity.platform = Some(found.platform);
        identity.hardware_concurrency = Some(found.hardware_concurrency);
        identity.max_touch_points = Some(found.max_touch_points);
    }
}

/// A permission that a profile is to have, and the side that it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PermissionChoice {
    /// The permission.
    pub permission: Permission,
    /// From where.
    pub source: Source,
}

/// What pages see of their permissions: by origin, then by name.
pub(super) type SeenPermissions = BTreeMap<String, BTreeMap<String, String>>;

/// Chooses between the permissions of a snapshot and those `found` in a profile. Without an instant
/// at which the snapshot was taken, the two have nothing to do with each other, and the snapshot is
/// taken.
pub fn choose(
    wanted: &[Permission],
    found: Option<&[Permission]>,
    taken_at: Option<Instant>,
) -> Vec<PermissionChoice> {
    let by_key =
        |all| -> BTreeMap<_, _> { <[Permission]>::iter(all).map(|one| (one.key(), one)).collect() };
    let (wanted, found) = (by_key(wanted), found.map(by_key));
    let of_disk = |permission: &Permission| PermissionChoice {
        permission: permission.clone(),
        source: Source::Disk,
    };
    let mut chosen = Vec::new();
    for (key, wanted) in &wanted {
        let there = found.as_ref().and_then(|found| found.get(key));
        let told_by_settings = wanted.changed.is_some() && found.is_some();
        match (there, taken_at) {
            (Some(there), _) if there.setting == wanted.setting => chosen.push(of_disk(there)),
            (Some(there), Some(at)) if there.changed > wanted.changed.or(Some(at.0)) => {
                chosen.push(of_disk(there));
            }
            // It was in the settings, and is no more: a person took it back.
            (None, Some(_)) if told_by_settings => {}
            _ => chosen
                .push(PermissionChoice { permission: (*wanted).clone(), source: Source::Snapshot }),
        }
    }
    let others = found.iter().flatten().filter(|(key, _)| !wanted.contains_key(*key));
    chosen.extend(others.filter(|_| taken_at.is_some()).map(|(_, there)| of_disk(there)));
    chosen
}

/// One line for each permission. One of a site that a tab shows was read back there, others stand in
/// the settings; with a reason, nothing could be written.
pub(super) fn receipt(
    choices: &[PermissionChoice],
    refused: Option<&str>,
    seen: &SeenPermissions,
) -> Receipt {
    choices.iter().map(|choice| permission_item(choice, refused, seen)).collect()
}

fn permission_item(
    PermissionChoice { permission, source }: &PermissionChoice,
    refused: Option<&str>,
    seen: &SeenPermissions,
) -> ReceiptItem {
    let (kind, place, source) = (ItemKind::Permission, permission.place(), *source);
    if let (Some(reason), Source::Snapshot) = (refused, source) {
        return ReceiptItem::rejected(kind, place, reason);
    }
    if let Err(reason) = permission.validate() {
        return ReceiptItem::rejected(kind, place, reason);
    }
    let wanted = match permission.setting {
        Setting::Allow => "granted",
        Setting::Deny => "denied",
    };
    let found = seen.get(&permission.origin).and_then(|names| names.get(&permission.name));
    match found {
        Some(found) if found != wanted => {
            let reason = format!("expected {wanted}, found {found}");
            ReceiptItem { source, ..ReceiptItem::rejected(kind, place, reason) }
        }
        Some(_) => ReceiptItem { source, ..ReceiptItem::restored(kind, place) },
        None => {
            let verified = if source == Source::Disk { Verified::Disk } else { Verified::None };
            ReceiptItem { source, verified, ..ReceiptItem::restored(kind, place) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use baton_session::identity::{BrandVersion, ColorScheme};
    use baton_session::receipt::Outcome;

    const TAKEN: Instant = Instant(100);
    const VERSION: &str = "Chrome/156.0.8078.79";

    /// An environment that says all that a page sees of one.
    fn wanted() -> Environment {
        let identity = Identity {
            metadata: Some(UserAgentMetadata::default()),
            platform: Some("MacIntel".to_owned()),
            languages: ["de-DE", "de"].map(str::to_owned).into(),
            device_scale_factor: Some(2.0),
            max_touch_points: Some(5),
            color_scheme: Some(ColorScheme::Dark),
            reduced_motion: Some(true),
            hardware_concurrency: Some(10),
        };
        Environment {
            viewport: Some(Viewport { width: 900, height: 700 }),
            user_agent: Some("Tester/1".to_owned()),
            identity: Some(identity),
            timezone: Some("Asia/Tokyo".to_owned()),
            locale: Some("de-DE".to_owned()),
            ..Environment::default()
        }
    }

    /// A page that sees just that.
    fn page() -> PageEnvironment {
        let wanted = wanted();
        PageEnvironment {
            viewport: wanted.viewport.unwrap(),
            timezone: wanted.timezone.unwrap(),
            locale: wanted.locale.unwrap(),
            user_agent: wanted.user_agent.unwrap(),
            identity: wanted.identity,
            url: "https://app.test/".to_owned(),
            permissions: BTreeMap::new(),
        }
    }

    /// The places where a page that was changed sees something else than what is wanted.
    fn differing(change: impl FnOnce(&mut PageEnvironment)) -> Vec<String> {
        let mut page = page();
        change(&mut page);
        let receipt = compare(Some(&page), &wanted(), VERSION);
        assert_eq!(receipt.items.len(), 4 + IDENTITY.len(), "{receipt:#?}");
        let rejected = receipt.items.into_iter().filter(|item| item.outcome == Outcome::Rejected);
        rejected.map(|item| item.place).collect()
    }

    fn identity(page: &mut PageEnvironment) -> &mut Identity {
        page.identity.as_mut().unwrap()
    }

    #[test]
    fn what_a_page_sees_otherwise_is_rejected_and_nothing_else_is() {
        type Change = fn(&mut PageEnvironment);
        let cases: [(&str, Change); 13] = [
            ("viewport", |page| page.viewport.width += 1),
            ("viewport", |page| page.viewport.height += 1),
            ("timezone", |page| page.timezone = "Asia/Seoul".to_owned()),
            ("locale", |page| page.locale = "de".to_owned()),
            (USER_AGENT, |page| page.user_agent = "Tester/2".to_owned()),
            ("client hints", |page| identity(page).metadata.as_mut().unwrap().mobile = true),
            ("platform", |page| identity(page).platform = Some("Win32".to_owned())),
            ("languages", |page| identity(page).languages.reverse()),
            ("scale", |page| identity(page).device_scale_factor = Some(2.01)),
            ("touch", |page| identity(page).max_touch_points = Some(0)),
            ("colour scheme", |page| identity(page).color_scheme = Some(ColorScheme::Light)),
            ("reduced motion", |page| identity(page).reduced_motion = Some(false)),
            ("processors", |page| identity(page).hardware_concurrency = Some(8)),
        ];
        for (place, change) in cases {
            assert_eq!(differing(change), [place]);
        }
        assert!(differing(|_| ()).is_empty());
        let rounded = differing(|page| identity(page).device_scale_factor = Some(2.001));
        assert!(rounded.is_empty(), "a screen makes something else of it: {rounded:?}");
    }

    #[test]
    fn every_client_hint_counts() {
        type Change = fn(&mut UserAgentMetadata);
        let brand = || vec![BrandVersion { brand: "B".to_owned(), version: "1".to_owned() }];
        let cases: [Change; 7] = [
            |hints| hints.platform = "Windows".to_owned(),
            |hints| hints.platform_version = "1".to_owned(),
            |hints| hints.architecture = "arm".to_owned(),
            |hints| hints.bitness = "32".to_owned(),
            |hints| hints.model = "Pixel".to_owned(),
            |hints| hints.mobile = true,
            |hints| hints.wow64 = true,
        ];
        let differs = |change: &dyn Fn(&mut UserAgentMetadata)| {
            differing(|page| change(identity(page).metadata.as_mut().unwrap()))
        };
        for change in cases {
            assert_eq!(differs(&change), ["client hints"]);
        }
        assert_eq!(differs(&|hints| hints.brands = brand()), ["client hints"]);
        assert_eq!(differs(&|hints| hints.full_version_list = brand()), ["client hints"]);
    }

    #[test]
    fn what_no_page_tells_is_back_and_not_verified() {
        let verified = |page: Option<&PageEnvironment>| {
            let receipt = compare(page, &wanted(), VERSION);
            assert!(!receipt.has_losses(), "{receipt:#?}");
            let items = receipt.items.into_iter();
            items.filter(|item| item.verified == Verified::Page).count()
        };
        assert_eq!(verified(Some(&page())), 4 + IDENTITY.len());
        assert_eq!(verified(Some(&PageEnvironment { identity: None, ..page() })), 4);
        assert_eq!(verified(None), 0);
    }

    #[test]
    fn a_user_agent_of_another_browser_is_back_and_told() {
        let older = "Mozilla/5.0 (X11; Linux x86_64) Chrome/147.0.0.0 Safari/537.36".to_owned();
        let page = PageEnvironment { user_agent: older.clone(), ..page() };
        let told = |identity| {
            let wanted = Environment { user_agent: Some(older.clone()), identity, ..wanted() };
            let items = compare(Some(&page), &wanted, VERSION).items;
            let item = items.into_iter().find(|item| item.place == USER_AGENT).unwrap();
            (item.outcome, item.reason.is_some())
        };
        assert_eq!(told(None), (Outcome::Restored, true));
        assert_eq!(told(wanted().identity), (Outcome::Restored, false), "its hints are wanted too");
    }

    fn permission(name: &str, setting: Setting, changed: Option<i64>) -> Permission {
        let (name, origin) = (name.to_owned(), "https://app.test".to_owned());
        Permission { name, origin, setting, changed }
    }

    fn allow(changed: Option<i64>) -> Permission {
        permission("camera", Setting::Allow, changed)
    }

    fn deny(changed: Option<i64>) -> Permission {
        permission("camera", Setting::Deny, changed)
    }

    /// What is chosen of one permission, from where.
    fn chosen(
        wanted: Option<Permission>,
        found: Option<Permission>,
        at: Option<Instant>,
    ) -> Option<(Setting, Source)> {
        let (wanted, found) = (Vec::from_iter(wanted), Vec::from_iter(found));
        let choices = choose(&wanted, Some(&found), at);
        assert!(choices.len() < 2);
        choices.first().map(|choice| (choice.permission.setting, choice.source))
    }

    #[test]
    fn on_the_ground_of_its_profile_what_was_decided_later_counts() {
        let (yes, no) = (Setting::Allow, Setting::Deny);
        let case = |wanted, found| chosen(wanted, found, Some(TAKEN));
        assert_eq!(case(Some(allow(Some(5))), Some(allow(Some(5)))), Some((yes, Source::Disk)));
        assert_eq!(case(Some(allow(Some(5))), Some(deny(Some(6)))), Some((no, Source::Disk)));
        // Only a page told of it, and the browser died before it wrote, or wrote of something later.
        assert_eq!(case(Some(allow(None)), Some(deny(Some(5)))), Some((yes, Source::Snapshot)));
        assert_eq!(case(Some(allow(None)), Some(deny(Some(105)))), Some((no, Source::Disk)));
        assert_eq!(case(Some(allow(None)), None), Some((yes, Source::Snapshot)));
        // Taken back, or decided since.
        assert_eq!(case(Some(allow(Some(5))), None), None);
        assert_eq!(case(None, Some(deny(Some(105)))), Some((no, Source::Disk)));
        // Settings that say no instant are no later ones.
        assert_eq!(case(Some(allow(Some(5))), Some(deny(None))), Some((yes, Source::Snapshot)));
    }

    #[test]
    fn on_any_other_profile_the_snapshot_counts() {
        let (wanted, found) = (Some(allow(Some(5))), Some(deny(Some(105))));
        let snapshot = Some((Setting::Allow, Source::Snapshot));
        assert_eq!(chosen(wanted.clone(), found.clone(), None), snapshot);
        assert_eq!(chosen(wanted.clone(), None, None), snapshot);
        assert_eq!(chosen(None, found, None), None);
        let [choice] = &choose(&[allow(Some(5))], None, Some(TAKEN))[..] else { panic!() };
        assert_eq!(choice.source, Source::Snapshot, "settings that are gone say nothing");
    }

    #[test]
    fn a_page_has_the_last_word() {
        let choices = choose(&[allow(None)], None, None);
        let told = |word: Option<&str>, refused| {
            let names = word.map(|word| ("camera".to_owned(), word.to_owned()));
            let seen = SeenPermissions::from([(
                "https://app.test".to_owned(),
                names.into_iter().collect(),
            )]);
            let receipt = receipt(&choices, refused, &seen);
            (receipt.has_losses(), receipt.items[0].verified)
        };
        assert_eq!(told(Some("granted"), None), (false, Verified::Page));
        assert_eq!(told(Some("prompt"), None), (true, Verified::None));
        assert_eq!(told(None, None), (false, Verified::None));
        assert_eq!(told(None, Some("the disk is full")), (true, Verified::None));
        let unknown = permission("of-a-newer-version", Setting::Allow, None);
        assert!(
            receipt(&choose(&[unknown], None, None), None, &SeenPermissions::new()).has_losses()
        );
    }
}
