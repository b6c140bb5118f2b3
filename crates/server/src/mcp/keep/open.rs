//! `session_open`

use crate::mcp::answer::{Answer, Failure};
use crate::mcp::text;
use crate::mcp::verb::{Call, Effect, Verb};
use baton_api::Invalid;
use baton_api::{OpenSession, Scope};
use baton_runtime::sessions;
use baton_session::{Certificate, Environment};
use baton_store::clock;
use schemars::JsonSchema;
use serde::Deserialize;
use url::Url;

/// Opens a browser as a new session. What is done in it is kept from now on.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SessionOpen {
    /// New and telling, such as shop-admin
    name: String,
    /// One tab each
    #[serde(default)]
    urls: Vec<String>,
    description: Option<String>,
    /// With a window, for a person to log in
    #[serde(default)]
    headed: bool,
    /// Record network and console, for browser_debug_get_network
    #[serde(default)]
    debug: bool,
    /// Such as Asia/Tokyo
    timezone: Option<String>,
    /// Such as ja-JP
    locale: Option<String>,
    /// PEM of authorities of one's own that it trusts
    #[serde(default)]
    certificates: Vec<String>,
}

impl Verb for SessionOpen {
    const NAME: &'static str = "session_open";
    const EFFECT: Effect = Effect::Changes;

    async fn call(self, call: Call) -> Result<Answer, Failure> {
        call.require(Scope::Drive).await?;
        let request = self.request()?;
        let doing = format!("opening {}", request.name);
        let opening = Box::pin(sessions::open(&call.context, &call.caller, request));
        let view = call.progress.during(&doing, opening).await?;
        let (mut told, data) = text::session(&view, clock::now());
        told.push(text::next(view.session.state).to_owned());
        Ok(Answer::new(&told, data))
    }
}

impl SessionOpen {
    fn request(self) -> Result<OpenSession, Failure> {
        let name = self.name.parse();
        let name = name.map_err(|error| Failure::Arguments(format!("name: {error}")))?;
        let mut urls = Vec::new();
        for url in self.urls {
            let parsed = Url::parse(&url).map_err(|_| Invalid {
                field: "urls",
                expected: "addresses such as https://example.org",
                found: text::cut(&url, 100),
            })?;
            urls.push(parsed);
        }
        let mut certificates = Vec::new();
        for text in self.certificates {
            let read = Certificate::read_all(&text);
            let read =
                read.map_err(|error| Failure::Arguments(format!("certificates: {error}")))?;
            certificates.extend(read);
        }
        let environment = Environment {
            timezone: self.timezone,
            locale: self.locale,
            certificates,
            ..Environment::default()
        };
        let (description, headed, debug) = (self.description, self.headed, self.debug);
        Ok(OpenSession { description, headed, debug, environment, ..OpenSession::new(name, urls) })
    }
}
