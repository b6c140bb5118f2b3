//! What an agent is asked.

use crate::error::AgentsError;
use baton_api::Invalid;
use baton_api::chat::{ChatMessage, ChatRequest, Content, Role};
use baton_api::sandbox::Login;
use baton_session::login::Likelihood;
use std::fmt::Write;

/// The most messages of a request.
const MOST_MESSAGES: usize = 1000;

/// What was said so far.
#[derive(Debug, Clone)]
pub(super) struct Conversation(Vec<(Role, String)>);

impl Conversation {
    /// What a request says, if an agent can answer it.
    pub(super) fn read(request: &ChatRequest) -> Result<Self, AgentsError> {
        let invalid = |field, expected, found: String| Invalid { field, expected, found };
        if request.n.is_some_and(|n| n != 1) {
            let found = request.n.unwrap_or_default().to_string();
            return Err(invalid("n", "1: an agent gives one answer", found).into());
        }
        if !request.tools.is_empty() {
            let expected = "empty: an agent has tools of its own";
            return Err(invalid("tools", expected, format!("{} tools", request.tools.len())).into());
        }
        let count = request.messages.len();
        if !(1..=MOST_MESSAGES).contains(&count) {
            return Err(invalid("messages", "1 to 1000 messages", count.to_string()).into());
        }
        if !request.messages.iter().any(|message| message.role == Role::User) {
            return Err(invalid("messages", "one of a user at least", "none".to_owned()).into());
        }
        let read = |message: &ChatMessage| Ok((message.role, text(message)?));
        request.messages.iter().map(read).collect::<Result<_, _>>().map(Self)
    }

    /// Who said what.
    pub(super) fn messages(&self) -> &[(Role, String)] {
        &self.0
    }

    /// All of it in one text, behind what else an agent should know. A question alone stays as it is.
    pub(super) fn flat(&self, first: Option<&str>) -> String {
        let mut parts: Vec<String> = first.map(str::to_owned).into_iter().collect();
        let is_system = |role: Role| matches!(role, Role::System | Role::Developer);
        let (system, said): (Vec<_>, Vec<_>) =
            self.0.iter().partition(|(role, _)| is_system(*role));
        parts.extend(system.into_iter().map(|(_, text)| text.clone()));
        match said.as_slice() {
            [(_, question)] => parts.push(question.clone()),
            said => parts.extend(said.iter().map(|(role, text)| {
                let who = if *role == Role::User { "User" } else { "Assistant" };
                format!("{who}: {text}")
            })),
        }
        parts.join("\n\n")
    }
}

fn text(message: &ChatMessage) -> Result<String, AgentsError> {
    match &message.content {
        None => Ok(String::new()),
        Some(Content::Text(text)) => Ok(text.clone()),
        Some(Content::Parts(parts)) => {
            let read = parts.iter().map(|part| {
                let text = part.text.as_deref().filter(|_| part.kind == "text");
                text.ok_or_else(|| Invalid {
                    field: "messages",
                    expected: "parts of type text",
                    found: format!(
                        "one of type {:?}",
                        part.kind.chars().take(50).collect::<String>()
                    ),
                })
            });
            Ok(read.collect::<Result<Vec<_>, _>>()?.concat())
        }
    }
}

const AUTHENTICATED: &str =
    "You have an authenticated browser session available for the following domains";
const PERHAPS: &str =
    "The browser session keeps something that may be a login for the following domains";

/// Says where an agent is logged in, or may be; nothing when it is nowhere.
pub(super) fn browser_session(logins: &[Login]) -> Option<String> {
    let of = |likelihood| logins.iter().filter(move |login| login.likelihood == likelihood);
    let (likely, possible): (Vec<_>, Vec<_>) =
        (of(Likelihood::Likely).collect(), of(Likelihood::Possible).collect());
    let (first, sure) = match (likely.first(), possible.first()) {
        (Some(first), _) => (first, "You should already be logged in"),
        (None, Some(first)) => (first, "You may already be logged in: look before you rely on it"),
        (None, None) => return None,
    };
    let mut text = "## Browser Session\n".to_owned();
    let mut list = |what: &str, logins: &[&Login]| {
        if !logins.is_empty() {
            let _ = writeln!(text, "\n{what}:");
            for login in logins {
                let why = login.sign_in.as_ref().map(|seen| format!(": {}", seen.changed));
                let _ = writeln!(text, "- {}{}", login.domain, why.unwrap_or_default());
            }
        }
    };
    list(AUTHENTICATED, &likely);
    list(PERHAPS, &possible);
    let _ = write!(
        text,
        "\nTo use this session, run agent-browser commands without manual login:\n\
         ```bash\nagent-browser open {}\n# {sure}\n```",
        first.address
    );
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::{Conversation, browser_session};
    use baton_api::chat::{ChatMessage, Role};
    use baton_api::sandbox::{Login, SeenSignIn};
    use baton_session::Forecast;
    use baton_session::login::Likelihood::{self, Likely, Over, Possible};
    use jiff::Timestamp;

    fn login(domain: &str, likelihood: Likelihood) -> Login {
        let (domain, address) = (domain.to_owned(), format!("https://{domain}"));
        let forecast = Forecast::default();
        Login { domain, likelihood, address, stored: false, sign_in: None, forecast }
    }

    #[test]
    fn an_agent_is_told_where_it_is_logged_in() {
        assert_eq!(browser_session(&[login("over.example", Over)]), None);
        let logins =
            [login("twitter.com", Likely), login("x.com", Likely), login("over.example", Over)];
        insta::assert_snapshot!(browser_session(&logins).unwrap(), @r##"
        ## Browser Session

        You have an authenticated browser session available for the following domains:
        - twitter.com
        - x.com

        To use this session, run agent-browser commands without manual login:
        ```bash
        agent-browser open https://twitter.com
        # You should already be logged in
        ```
        "##);
    }

    #[test]
    fn an_agent_is_not_told_more_than_is_known() {
        let told = browser_session(&[login("shop.example", Possible)]);
        insta::assert_snapshot!(told.unwrap(), @"
        ## Browser Session

        The browser session keeps something that may be a login for the following domains:
        - shop.example

        To use this session, run agent-browser commands without manual login:
        ```bash
        agent-browser open https://shop.example
        # You may already be logged in: look before you rely on it
        ```
        ");
        let told =
            browser_session(&[login("bank.example", Likely), login("shop.example", Possible)]);
        insta::assert_snapshot!(told.unwrap(), @"
        ## Browser Session

        You have an authenticated browser session available for the following domains:
        - bank.example

        The browser session keeps something that may be a login for the following domains:
        - shop.example

        To use this session, run agent-browser commands without manual login:
        ```bash
        agent-browser open https://bank.example
        # You should already be logged in
        ```
        ");
    }

    #[test]
    fn an_agent_is_told_why() {
        let changed = "1 cookie at bank.example is new (x7) since a password was entered there";
        let seen = SeenSignIn {
            at: Timestamp::UNIX_EPOCH,
            changed: changed.to_owned(),
            changes: Vec::new(),
        };
        let signed_in = Login { sign_in: Some(seen), ..login("bank.example", Likely) };
        let told = browser_session(&[signed_in, login("x.com", Likely)]).unwrap();
        insta::assert_snapshot!(told.lines().skip(3).take(2).collect::<Vec<_>>().join("\n"), @"
        - bank.example: 1 cookie at bank.example is new (x7) since a password was entered there
        - x.com
        ");
    }

    fn request(said: &[(Role, &str)]) -> Conversation {
        let said = said.iter().map(|(role, text)| (*role, (*text).to_owned()));
        Conversation(said.collect())
    }

    #[test]
    fn a_question_alone_stays_as_it_is() {
        let question = request(&[(Role::User, "Who am I?")]);
        assert_eq!(question.flat(None), "Who am I?");
        assert_eq!(question.flat(Some("first")), "first\n\nWho am I?");
        let longer = [
            (Role::User, "Hi"),
            (Role::Assistant, "Hello"),
            (Role::Developer, "Be brief."),
            (Role::User, "Who am I?"),
        ];
        let flat = request(&longer).flat(None);
        assert_eq!(flat, "Be brief.\n\nUser: Hi\n\nAssistant: Hello\n\nUser: Who am I?");
    }

    #[test]
    fn what_an_agent_cannot_answer_is_refused() {
        let refused = |json: &str| {
            let request = serde_json::from_str(json).unwrap();
            Conversation::read(&request).unwrap_err().to_string()
        };
        let image = r#"[{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}]"#;
        let told = [
            refused(r#"{"model": "a", "messages": []}"#),
            refused(r#"{"model": "a", "messages": [{"role": "system", "content": "x"}]}"#),
            refused(r#"{"model": "a", "messages": [], "n": 2}"#),
            refused(r#"{"model": "a", "messages": [], "tools": [{}]}"#),
            refused(&format!(r#"{{"model": "a", "messages": {image}}}"#)),
        ];
        insta::assert_snapshot!(told.join("\n"), @r##"
        expected messages to be 1 to 1000 messages, found 0
        expected messages to be one of a user at least, found none
        expected n to be 1: an agent gives one answer, found 2
        expected tools to be empty: an agent has tools of its own, found 1 tools
        expected messages to be parts of type text, found one of type "image_url"
        "##);
    }

    #[test]
    fn parts_of_a_text_are_one_text() {
        let message: ChatMessage = serde_json::from_str(
            r#"{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}"#,
        )
        .unwrap();
        assert_eq!(super::text(&message).unwrap(), "ab");
    }
}
