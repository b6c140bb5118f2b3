//! The tokens that this node has got, each kept until shortly before it ends.
//!
//! The one idea: whoever wants a token while another one gets the same waits for that, and is told
//! what that one was told, be it a token or that there is none. So a provider is asked once, however
//! many sessions move.

use super::client::{OidcClient, Token};
use super::provider::ProviderError;
use backon::{ExponentialBuilder, Retryable};
use baton_net::outbound::Outbound;
use secrecy::ExposeSecret;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// Of how many clients tokens are kept.
const MOST: usize = 1000;
/// How often a provider that does not answer is asked again.
const RETRIES: usize = 3;
/// How long all that may take.
const LIMIT: Duration = Duration::from_secs(20);

/// Tokens by client. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Tokens(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    outbound: Outbound,
    places: Mutex<HashMap<[u8; 32], Arc<Place>>>,
}

/// What is known of one client.
#[derive(Debug, Default)]
struct Place(tokio::sync::Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    token: Option<Token>,
    /// When there was none, and why.
    failed: Option<(Instant, ProviderError)>,
}

/// A token, and whether it was here before.
pub(crate) struct Found {
    pub(crate) token: Token,
    pub(crate) is_kept: bool,
}

impl Tokens {
    /// None yet; providers are asked where `outbound` allows it.
    pub fn new(outbound: Outbound) -> Self {
        Self(Arc::new(Inner { outbound, places: Mutex::default() }))
    }

    /// A token of this client.
    pub(crate) async fn of(&self, client: &OidcClient) -> Result<Found, ProviderError> {
        let begun = Instant::now();
        let place = self.place(client);
        let mut known = place.0.lock().await;
        if let Some(token) = known.token.clone().filter(|token| token.is_good(Instant::now())) {
            return Ok(Found { token, is_kept: true });
        }
        if let Some((at, error)) = &known.failed
            && *at > begun
        {
            return Err(error.clone());
        }
        // What a provider is asked takes more room than a future should that most of the time needs none.
        match Box::pin(self.fetch(client)).await {
            Ok(token) => {
                *known = Known { token: Some(token.clone()), failed: None };
                Ok(Found { token, is_kept: false })
            }
            Err(error) => {
                tracing::warn!(client = client.id, %error, "there is no token");
                *known = Known { token: None, failed: Some((Instant::now(), error.clone())) };
                Err(error)
            }
        }
    }

    /// Throws a token away that was refused, unless there is another one already.
    pub(crate) async fn discard(&self, client: &OidcClient, refused: &Token) {
        let place = self.place(client);
        let mut known = place.0.lock().await;
        let is_it = |token: &mut Token| token.text.expose_secret() == refused.text.expose_secret();
        known.token.take_if(is_it);
    }

    fn place(&self, client: &OidcClient) -> Arc<Place> {
        let mut places = self.0.places.lock().unwrap_or_else(PoisonError::into_inner);
        let digest = client.digest();
        if places.len() >= MOST && !places.contains_key(&digest) {
            places.clear();
        }
        places.entry(digest).or_default().clone()
    }

    async fn fetch(&self, client: &OidcClient) -> Result<Token, ProviderError> {
        let pauses = ExponentialBuilder::default()
            .with_min_delay(Duration::from_millis(250))
            .with_max_delay(Duration::from_secs(2))
            .with_max_times(RETRIES)
            .with_jitter();
        let fetched = (|| client.fetch(&self.0.outbound)).retry(pauses);
        let fetched = timeout(LIMIT, fetched.when(ProviderError::is_passing)).await;
        let (issuer, why) = (client.issuer.to_string(), "it took too long".to_owned());
        fetched.unwrap_or(Err(ProviderError::Silent { issuer, why }))
    }
}
