//! What the browser of an agent is told of the environment of the session that a sandbox has.
//!
//! The one idea: agents start their browsers themselves, and nothing of ours stands between the two. So what
//! switches of a browser can say is said by variables, which agent-browser reads, and what they cannot say
//! without contradicting the rest is not said at all: a user agent beside the client hints of another browser
//! gives a session away sooner than the browser of the sandbox does.

use baton_browser::launch::switches;
use baton_runtime::sessions::check;
use baton_session::{Environment, Identity};
use std::collections::BTreeMap;

/// The variable with switches for the browser, a line each.
pub(super) const SWITCHES: &str = "AGENT_BROWSER_ARGS";
/// What programs know the time zone by.
const TIMEZONE: &str = "TZ";

/// What is told, and what is not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Looks {
    switches: Vec<String>,
    timezone: Option<String>,
    /// What sites see otherwise than in a browser of the node.
    pub(super) warning: Option<String>,
}

impl Looks {
    /// Of the session that is handed in, wherever it comes from: nothing of an environment that no session of
    /// ours could have.
    pub(super) fn of(environment: &Environment) -> Self {
        if check::environment(environment).is_err() {
            return Self::default();
        }
        let is_another = environment.names_a_browser();
        let identity = environment.identity.as_ref();
        let user_agent = environment.user_agent.clone().filter(|_| !is_another);
        let said = Environment {
            user_agent,
            locale: environment.locale.clone(),
            identity: identity.cloned(),
            ..Environment::default()
        };
        Self {
            switches: switches(&said),
            timezone: environment.timezone.clone(),
            warning: missing(is_another, identity),
        }
    }

    /// The variables for commands, in a sandbox whose own has these switches.
    pub(super) fn variables(&self, own: Option<&String>) -> BTreeMap<String, String> {
        let mut variables = BTreeMap::new();
        if !self.switches.is_empty() {
            // Of two switches the last one counts, and that is the one of who made the sandbox.
            let all = self.switches.iter().chain(own);
            let all: Vec<&str> = all.map(String::as_str).collect();
            variables.insert(SWITCHES.to_owned(), all.join("\n"));
        }
        variables.extend(self.timezone.clone().map(|zone| (TIMEZONE.to_owned(), zone)));
        variables
    }
}

/// What no switch says.
fn missing(is_another: bool, identity: Option<&Identity>) -> Option<String> {
    let processors = identity.is_some_and(|one| one.hardware_concurrency.is_some());
    let parts = [
        (is_another, "user agent, client hints and platform"),
        (processors, "the number of processors"),
    ];
    let parts: Vec<&str> = parts.iter().filter(|(is, _)| *is).map(|(_, part)| *part).collect();
    (!parts.is_empty()).then(|| {
        format!(
            "identity: sites see {} of the browser in the sandbox, and not those of the session",
            parts.join(", and ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use baton_session::identity::ColorScheme;

    const MAC: &str = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 \
                       (KHTML, like Gecko) Chrome/147.0.0.0 Safari/537.36";

    #[test]
    fn a_usual_session_says_nothing() {
        let looks = Looks::of(&Environment::default());
        assert_eq!(looks, Looks::default());
        assert!(looks.variables(Some(&"--disable-gpu".to_owned())).is_empty());
    }

    #[test]
    fn what_switches_say_is_said_before_those_of_the_sandbox() {
        let identity = Identity {
            languages: vec!["de-DE".to_owned(), "de".to_owned()],
            color_scheme: Some(ColorScheme::Dark),
            device_scale_factor: Some(2.0),
            ..Identity::default()
        };
        let environment = Environment {
            user_agent: Some("Shopper/2.1".to_owned()),
            timezone: Some("Asia/Tokyo".to_owned()),
            identity: Some(identity),
            ..Environment::default()
        };
        let looks = Looks::of(&environment);
        assert_eq!(looks.warning, None);
        let variables = looks.variables(Some(&"--disable-gpu,--mute-audio".to_owned()));
        let lines: Vec<&str> = variables[SWITCHES].lines().collect();
        assert_eq!(
            lines,
            [
                "--lang=de-DE",
                "--accept-lang=de-DE,de",
                "--user-agent=Shopper/2.1",
                "--force-device-scale-factor=2",
                "--force-dark-mode",
                "--disable-gpu,--mute-audio",
            ]
        );
        assert_eq!(variables[TIMEZONE], "Asia/Tokyo");
    }

    #[test]
    fn half_of_another_browser_is_not_said() {
        let identity =
            Identity { hardware_concurrency: Some(10), ..Identity::of_user_agent(MAC).unwrap() };
        let environment = Environment {
            user_agent: Some(MAC.to_owned()),
            identity: Some(identity),
            ..Environment::default()
        };
        let looks = Looks::of(&environment);
        assert!(looks.switches.is_empty(), "{looks:?}");
        let warning = looks.warning.unwrap();
        assert!(
            warning.contains("user agent, client hints and platform, and the number"),
            "{warning}"
        );
    }

    #[test]
    fn an_environment_that_makes_no_sense_says_nothing() {
        let user_agent = Some("a\n--load-extension=/tmp".to_owned());
        let environment = Environment { user_agent, ..Environment::default() };
        assert_eq!(Looks::of(&environment), Looks::default());
    }
}
