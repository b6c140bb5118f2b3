//! The model, and how it is asked.

use super::heard::{ANSWER_MAX, Heard};
use super::reply::failed;
use crate::context::Agents;
use crate::error::AgentsError;
use crate::gateway::settings::UpstreamSettings;
use baton_net::client;
use baton_net::outbound::Reach;
use baton_store::blocking::blocking;
use baton_store::plain;
use secrecy::SecretString;
use serde_json::{Value, json};
use std::time::Duration;
use url::Url;

/// How long one answer of a model may take.
const ANSWER_LIMIT: Duration = Duration::from_mins(10);
/// How much of what a model says of an error is told, in characters.
const TOLD: usize = 300;

/// A model that can be asked.
pub(super) struct Upstream<'a> {
    settings: &'a UpstreamSettings,
    client: reqwest::Client,
    url: Url,
    key: Option<SecretString>,
}

impl<'a> Upstream<'a> {
    /// Looks its address up, and reads its key.
    pub(super) async fn reach(
        context: &Agents,
        settings: &'a UpstreamSettings,
    ) -> Result<Self, AgentsError> {
        // The address is of the settings, so it may be on this machine.
        let client =
            client::client(&context.outbound, &settings.url, Reach { loopback: true }).await?;
        let url = client::address(&settings.url, &["chat", "completions"])?;
        let key = match &settings.key_file {
            Some(file) => {
                let text = plain::secret(file).await;
                let unread = |error| failed(format!("its key cannot be read: {error}"));
                Some(SecretString::from(text.map_err(unread)?.trim()))
            }
            None => None,
        };
        Ok(Self { settings, client, url, key })
    }

    /// Asks for the next turn, which comes piece by piece where the model knows how. One that refuses to is
    /// asked for all of it.
    pub(super) async fn ask(
        &self,
        messages: &[Value],
        tools: &Value,
    ) -> Result<Heard, AgentsError> {
        let mut body = json!({"model": self.settings.model, "messages": messages, "tools": tools});
        let whole = body.clone();
        body["stream"] = true.into();
        body["stream_options"] = json!({"include_usage": true});
        let response = self.post(&body).await?;
        if matches!(response.status().as_u16(), 400 | 422) {
            return self.heard(self.post(&whole).await?).await;
        }
        self.heard(response).await
    }

    async fn post(&self, body: &Value) -> Result<reqwest::Response, AgentsError> {
        let mut call = self.client.post(self.url.clone()).timeout(ANSWER_LIMIT).json(body);
        if let Some(key) = &self.key {
            call = call.header("authorization", client::bearer(key)?);
        }
        Ok(call.send().await.map_err(|error| failed(client::said(error)))?)
    }

    async fn heard(&self, response: reqwest::Response) -> Result<Heard, AgentsError> {
        let status = response.status();
        if status.is_success() {
            return Heard::of(response).await;
        }
        let answer = client::bounded(response, ANSWER_MAX).await.map_err(failed)?;
        let complaint = blocking(move || complaint(&answer)).await?;
        Err(failed(format!("it answers {status}{complaint}")).into())
    }
}

/// What a model says of its error, behind a colon; nothing when it says none.
fn complaint(answer: &[u8]) -> String {
    let answer: Value = serde_json::from_slice(answer).unwrap_or_default();
    match answer["error"]["message"].as_str() {
        Some(text) => format!(": {}", text.chars().take(TOLD).collect::<String>()),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::complaint;

    #[test]
    fn an_error_of_a_model_is_told_where_it_says_one() {
        assert_eq!(complaint(br#"{"error": {"message": "no such model"}}"#), ": no such model");
        assert_eq!(complaint(b"\xff"), "");
    }
}
