//! Which browser a session was signed in with, what a resume in another one says, and how it becomes that one
//! again.
//!
//! The one idea: a site that sees another browser may ask for the login anew, and nobody would know why. So
//! the receipt says it, and what is to be done about it is one option of a resume.

use baton_api::{Invalid, ResumeAs};
use baton_browser::launch::name_of;
use baton_session::identity::{BrowserName, Identity};
use baton_session::receipt::{ItemKind, ReceiptItem, Verified};
use baton_session::{Environment, SessionName};

/// Notes in which browser a session goes on, by what that says of its version. Returns a line where it was
/// signed in with another one.
pub(super) fn note_browser(
    environment: &mut Environment,
    version: &str,
    session: &SessionName,
) -> Option<ReceiptItem> {
    let here = name_of(version)?;
    let before = environment.note_browser(here.clone())?;
    let can_be_had = before.user_agent().is_some();
    let hint = if can_be_had {
        format!(
            "to be the former: baton sessions close {session}, then baton sessions resume {session} \
             --browser same"
        )
    } else {
        "no browser of this node can be the former".to_owned()
    };
    let reason = format!("signed in with {before}, and sites see {here} now; {hint}");
    Some(ReceiptItem {
        reason: Some(reason),
        verified: Verified::None,
        ..ReceiptItem::restored(ItemKind::Environment, "browser")
    })
}

/// Makes an environment that of the browser which a caller chose.
pub(crate) fn choose(environment: &mut Environment, choice: ResumeAs) -> Result<(), Invalid> {
    match choice {
        ResumeAs::Same if environment.names_a_browser() => {}
        ResumeAs::Same => {
            let user_agent = environment.browser.as_ref().and_then(BrowserName::user_agent);
            let found =
                environment.browser.as_ref().map_or("none known".to_owned(), ToString::to_string);
            environment.user_agent = Some(user_agent.ok_or(Invalid {
                field: "browser",
                expected: "same for a session that was signed in with a Chrome, Chromium or Edge of a desktop",
                found,
            })?);
        }
        ResumeAs::New => {
            environment.browser = None;
            if environment.names_a_browser() {
                environment.user_agent = None;
                let own = |identity| Identity { metadata: None, platform: None, ..identity };
                environment.identity = environment.identity.take().map(own);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: &str = "Chrome/156.0.8078.79";

    fn signed_in(product: &str, version: u32, platform: &str) -> Environment {
        let (product, platform) = (product.to_owned(), platform.to_owned());
        let browser = Some(BrowserName { product, version, platform });
        Environment { browser, ..Environment::default() }
    }

    fn line(environment: &mut Environment) -> Option<String> {
        note_browser(environment, HERE, &"shop".parse().unwrap()).and_then(|item| item.reason)
    }

    #[test]
    fn another_browser_is_named_and_stays_noted() {
        let mut environment = signed_in("Chrome", 147, "Windows");
        for _ in 0..2 {
            let said = line(&mut environment).unwrap();
            assert!(said.contains("signed in with Chrome 147 on Windows"), "{said}");
            assert!(said.ends_with("baton sessions resume shop --browser same"), "{said}");
        }
        let said = line(&mut signed_in("Firefox", 140, "Windows")).unwrap();
        assert!(said.ends_with("no browser of this node can be the former"), "{said}");
    }

    #[test]
    fn an_update_and_an_unknown_one_say_nothing() {
        let here = name_of(HERE).unwrap();
        let mut older = signed_in("Chrome", 147, &here.platform);
        assert_eq!(line(&mut older), None);
        assert_eq!(older.browser, Some(here.clone()));
        let mut unknown = Environment::default();
        assert_eq!(line(&mut unknown), None);
        assert_eq!(unknown.browser, Some(here));
        assert!(line(&mut signed_in("Chrome", 157, &older.browser.unwrap().platform)).is_some());
    }

    #[test]
    fn the_same_one_is_no_other_any_more_and_a_new_one_is_forgotten() {
        let mut environment = signed_in("Edge", 147, "Windows");
        choose(&mut environment, ResumeAs::Same).unwrap();
        assert_eq!(line(&mut environment), None, "{environment:?}");
        choose(&mut environment, ResumeAs::Same).unwrap();
        choose(&mut environment, ResumeAs::New).unwrap();
        assert_eq!(environment, Environment::default());
        let refused = |mut environment| choose(&mut environment, ResumeAs::Same).unwrap_err();
        assert_eq!(refused(Environment::default()).found, "none known");
        assert_eq!(refused(signed_in("Safari", 26, "macOS")).found, "Safari 26 on macOS");
    }
}
