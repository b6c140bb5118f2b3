//! A person signs in at a provider and comes back: the authorization code flow (RFC 6749, section 4.1; `OpenID`
//! Connect Core 1.0, section 3.1) with PKCE (RFC 7636).
//!
//! The one idea: what comes back through the browser is worth nothing by itself. The code is exchanged by this node,
//! with a verifier that only it knows, and the ID token must be the provider's, for this client, and answer the
//! `nonce` of this very departure. That the browser is the one that departed, the caller of `finish` has to know.

use super::client::proofs;
use super::people::{Person, PersonClaims, SignInSettings, called, identity};
use super::refusal::{Strangers, TokenRefusal};
use super::signed::SignedTokens;
use super::{Issuer, Provider, ProviderError, ProviderMetadata, shown};
use baton_net::outbound::Outbound;
use baton_session::NodeMark;
use baton_store::clock;
use futures_util::future::BoxFuture;
use jiff::Timestamp;
use oauth2::basic::{
    BasicErrorResponse, BasicRevocationErrorResponse, BasicTokenIntrospectionResponse,
    BasicTokenType,
};
use oauth2::{
    AsyncHttpClient, AuthType, AuthUrl, AuthorizationCode, Client, ClientId, CsrfToken,
    ExtraTokenFields, HttpRequest, HttpResponse, PkceCodeChallenge, PkceCodeVerifier, RedirectUrl,
    RequestTokenError, Scope, StandardRevocableToken, StandardTokenResponse, TokenResponse as _,
    TokenUrl,
};
use reqwest::header::AUTHORIZATION;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};
use url::Url;

/// How long what a provider says of itself counts.
const FRESH: Duration = Duration::from_mins(10);

/// Why a person is not let in.
#[derive(Debug, Clone, thiserror::Error)]
pub enum SignInRefusal {
    /// The settings name no provider.
    #[error(
        "expected a provider at which people sign in, found none in the settings\n\
         auth.oidc.people names one; a key signs the page in, too"
    )]
    NotOffered,
    /// Too many people are on their way.
    #[error(
        "expected at most {most} people on their way to the provider, found more\ntry again in some minutes"
    )]
    TooMany {
        /// How many there may be.
        most: usize,
    },
    /// What came back belongs to no departure of this browser.
    #[error(
        "expected an answer to a sign-in that this browser began within {minutes} minutes, found {found}\n\
         begin again: each answer counts once"
    )]
    NotBegun {
        /// How long an answer counts.
        minutes: u64,
        /// What came instead.
        found: &'static str,
    },
    /// The provider sent the person back without a code.
    #[error(
        "the provider signed nobody in: {why}\n\
         begin again, or ask whoever runs the provider"
    )]
    Declined {
        /// What it said.
        why: String,
    },
    /// The provider gave nothing.
    #[error("{0}\ntry again later, or sign in with a key")]
    Provider(ProviderError),
    /// The secret of the client cannot be read.
    #[error(
        "the secret of the client cannot be read: {why}\n\
         auth.oidc.people.client_secret_file in the settings of this node names its file"
    )]
    NoSecret {
        /// Why not.
        why: String,
    },
    /// The ID token is none that counts here.
    #[error("{}\nauth.oidc in the settings of this node says what it expects", first_line(.0))]
    IdToken(TokenRefusal),
    /// The ID token answers another question.
    #[error("expected an ID token for this sign-in, found {found}\nbegin again")]
    NotThisOne {
        /// What it is for.
        found: &'static str,
    },
    /// No rule names the person.
    #[error(
        "expected somebody whom a rule names, found {name}, whose {looked_at} none does\n\
         auth.oidc.people.rules in the settings of this node says who comes in"
    )]
    NoRule {
        /// What the provider calls them.
        name: String,
        /// At what the rules look.
        looked_at: String,
    },
}

/// Hints of tokens are for those who run peers.
fn first_line(refusal: &TokenRefusal) -> String {
    refusal.to_string().lines().next().unwrap_or_default().to_owned()
}

impl SignInRefusal {
    /// That of a provider which says this, in a word and perhaps in words.
    pub fn declined(error: &str, description: Option<&str>) -> Self {
        let why = description.map_or(error.to_owned(), |more| format!("{error}: {more}"));
        let why: String = why.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        Self::Declined { why: shown(&why) }
    }

    /// What was wrong, in one word for the audit log.
    pub fn word(&self) -> &'static str {
        match self {
            Self::NotOffered => "not_offered",
            Self::TooMany { .. } => "too_many",
            Self::NotBegun { .. } => "not_begun",
            Self::Declined { .. } => "declined",
            Self::Provider(_) => "provider",
            Self::NoSecret { .. } => "no_secret",
            Self::IdToken(refusal) => refusal.word(),
            Self::NotThisOne { .. } => "not_this_one",
            Self::NoRule { .. } => "no_rule",
        }
    }

    /// Whether the provider is what does not answer.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Provider(_) => true,
            Self::IdToken(refusal) => refusal.is_passing(),
            _ => false,
        }
    }

    /// Whether the provider has signed what is refused.
    pub fn is_vouched_for(&self) -> bool {
        match self {
            Self::NoRule { .. } => true,
            Self::IdToken(refusal) => refusal.is_vouched_for(),
            _ => false,
        }
    }
}

/// What is exchanged for a code, with the ID token beside it.
type TokenAnswer = StandardTokenResponse<IdTokenField, BasicTokenType>;
type CodeClient = Client<
    BasicErrorResponse,
    TokenAnswer,
    BasicTokenIntrospectionResponse,
    StandardRevocableToken,
    BasicRevocationErrorResponse,
>;

/// The ID token of an answer.
#[derive(Deserialize, Serialize)]
struct IdTokenField {
    id_token: Option<String>,
}

impl ExtraTokenFields for IdTokenField {}

impl fmt::Debug for IdTokenField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IdTokenField(***)")
    }
}

/// A person on their way to the provider.
pub struct Departure {
    /// Where their browser goes.
    pub url: Url,
    /// What comes back with them.
    pub state: SecretString,
    /// What is needed when they are back.
    pub kept: KeptDeparture,
}

/// What a node keeps of a departure.
pub struct KeptDeparture {
    nonce: SecretString,
    verifier: PkceCodeVerifier,
    back: Url,
}

/// What a provider sends a browser back with.
pub struct Arrival<'a> {
    /// The code.
    pub code: &'a str,
    /// The provider, as it names itself (RFC 9207).
    pub issuer: Option<&'a str>,
}

/// Signs people in at a provider. Cheap to clone.
#[derive(Debug, Clone)]
pub struct SignIn(Arc<SignInState>);

#[derive(Debug)]
struct SignInState {
    settings: SignInSettings,
    outbound: Outbound,
    tokens: SignedTokens,
    known: tokio::sync::Mutex<KnownProvider>,
    strangers: Strangers,
}

/// What is known of the provider, and when it was asked last.
#[derive(Debug, Default)]
struct KnownProvider {
    document: Option<(Instant, ProviderMetadata)>,
    failed: Option<(Instant, ProviderError)>,
}

impl SignIn {
    /// The way in that these settings make; the provider is asked where `outbound` allows it.
    pub fn new(settings: SignInSettings, outbound: Outbound) -> Self {
        let (issuer, audience) = (settings.issuer.clone(), vec![settings.client_id.clone()]);
        let tokens = SignedTokens::new(issuer, audience, settings.leeway, outbound.clone());
        let (known, strangers) = (tokio::sync::Mutex::default(), Strangers::default());
        Self(Arc::new(SignInState { settings, outbound, tokens, known, strangers }))
    }

    /// What the settings say.
    pub fn settings(&self) -> &SignInSettings {
        &self.0.settings
    }

    /// Counts refusals of senders whom nobody vouches for; see `Strangers::note`.
    pub fn stranger(&self) -> Option<u64> {
        self.0.strangers.note()
    }

    /// Sends a person to the provider, from where they come back to `back`, with a state that ends with the mark of the
    /// `node` from which they leave.
    pub async fn depart(&self, back: Url, node: NodeMark) -> Result<Departure, SignInRefusal> {
        let document = self.document().await?;
        let provider = self.provider();
        let Some(url) = document.authorization_endpoint else {
            return Err(missing(&provider, "authorization_endpoint"));
        };
        let settings = &self.0.settings;
        let client = CodeClient::new(ClientId::new(settings.client_id.clone()))
            .set_auth_uri(AuthUrl::from_url(url))
            .set_redirect_uri(RedirectUrl::from_url(back.clone()));
        let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
        let nonce = CsrfToken::new_random();
        let (url, state) = client
            .authorize_url(|| CsrfToken::new(format!("{}{node}", CsrfToken::new_random().secret())))
            .add_scope(Scope::new("openid".to_owned()))
            .add_scopes(settings.scopes.iter().cloned().map(Scope::new))
            .add_extra_param("nonce", nonce.secret())
            .set_pkce_challenge(challenge)
            .url();
        let kept = KeptDeparture { nonce: nonce.into_secret().into(), verifier, back };
        Ok(Departure { url, state: state.into_secret().into(), kept })
    }

    /// Who has come back, if a rule names them.
    pub async fn finish(
        &self,
        kept: KeptDeparture,
        arrival: Arrival<'_>,
    ) -> Result<Person, SignInRefusal> {
        let settings = &self.0.settings;
        let document = self.document().await?;
        let is_said = document.authorization_response_iss_parameter_supported == Some(true);
        if arrival.issuer.is_some_and(|issuer| issuer != settings.issuer.as_str())
            || (is_said && arrival.issuer.is_none())
        {
            return Err(SignInRefusal::NotThisOne { found: "an answer of another provider" });
        }
        let KeptDeparture { nonce, verifier, back } = kept;
        let answer = Box::pin(self.exchange(&document, arrival.code, verifier, back)).await?;
        let Some(token) = &answer.extra_fields().id_token else {
            return Err(missing(&self.provider(), "ID token"));
        };
        let mut person: PersonClaims =
            self.0.tokens.read(token).await.map_err(SignInRefusal::IdToken)?;
        let subject = self.check(&person, &nonce)?;
        if settings.lacks(&person) {
            let bearer = answer.access_token().secret();
            Box::pin(self.ask_more(&document, bearer, &subject, &mut person)).await?;
        }
        let lasts = lasts(settings.lasts, &person);
        if lasts.is_zero() {
            return Err(SignInRefusal::NotThisOne {
                found: "one of a session that has ended there",
            });
        }
        let name = called(&person);
        let Some((rule, found)) = settings.admit(&person) else {
            return Err(SignInRefusal::NoRule { name, looked_at: settings.looked_at() });
        };
        Ok(Person {
            id: identity(&settings.issuer, &subject),
            name: format!("{name} ({})", settings.name),
            issuer: settings.issuer.to_string(),
            subject: shown(&subject),
            owner: found.owner.clone(),
            scopes: found.scopes.clone(),
            rule,
            lasts,
        })
    }

    /// Exchanges a code for tokens.
    async fn exchange(
        &self,
        document: &ProviderMetadata,
        code: &str,
        verifier: PkceCodeVerifier,
        back: Url,
    ) -> Result<TokenAnswer, SignInRefusal> {
        let provider = self.provider();
        let Some(url) = &document.token_endpoint else {
            return Err(missing(&provider, "token_endpoint"));
        };
        let settings = &self.0.settings;
        let mut client = CodeClient::new(ClientId::new(settings.client_id.clone()))
            .set_token_uri(TokenUrl::from_url(url.clone()))
            .set_redirect_uri(RedirectUrl::from_url(back))
            .set_auth_type(AuthType::RequestBody);
        if let Some(secret) = &settings.client_secret {
            let secret = secret.read().await;
            let secret =
                secret.map_err(|error| SignInRefusal::NoSecret { why: error.to_string() })?;
            client = client
                .set_client_secret(oauth2::ClientSecret::new(secret.expose_secret().to_owned()));
            if proofs(document).first().is_some_and(|proof| proof.is_header()) {
                client = client.set_auth_type(AuthType::BasicAuth);
            }
        }
        let endpoint = TokenEndpoint {
            outbound: self.0.outbound.clone(),
            issuer: settings.issuer.clone(),
            url: url.clone(),
        };
        let exchanged = client
            .exchange_code(AuthorizationCode::new(code.to_owned()))
            .set_pkce_verifier(verifier)
            .request_async(&endpoint)
            .await;
        exchanged.map_err(|error| match error {
            RequestTokenError::Request(error) => SignInRefusal::Provider(error),
            RequestTokenError::ServerResponse(refused) => {
                let description = refused.error_description().map(String::as_str);
                SignInRefusal::declined(refused.error().as_ref(), description)
            }
            // What is wrong with it is not repeated: it may hold a token.
            RequestTokenError::Parse(..) | RequestTokenError::Other(_) => {
                SignInRefusal::Provider(provider.other("its answer holds no token".to_owned()))
            }
        })
    }

    /// Checks what a good token says of this sign-in, and returns who it is about.
    fn check(&self, person: &PersonClaims, nonce: &SecretString) -> Result<String, SignInRefusal> {
        let text = |claim: &str| person.get(claim).and_then(|value| value.as_str());
        let settings = &self.0.settings;
        if text("nonce") != Some(nonce.expose_secret()) {
            return Err(SignInRefusal::NotThisOne { found: "one for another sign-in" });
        }
        let audiences = person.get("aud").and_then(|aud| aud.as_array()).map_or(1, Vec::len);
        let party = text("azp").or((audiences == 1).then_some(settings.client_id.as_str()));
        if party != Some(settings.client_id.as_str()) {
            return Err(SignInRefusal::NotThisOne { found: "one that another client asked for" });
        }
        if let Some(expected) = &settings.tenant
            && text("tid") != Some(expected)
        {
            let found = text("tid").map_or_else(|| "none".to_owned(), shown);
            let refusal = TokenRefusal::Tenant { expected: expected.clone(), found };
            return Err(SignInRefusal::IdToken(refusal));
        }
        let subject = text("sub").filter(|subject| (1..=SUBJECT_MAX).contains(&subject.len()));
        subject.map(str::to_owned).ok_or(SignInRefusal::NotThisOne { found: "one about nobody" })
    }

    /// Asks for what the ID token does not say (`OpenID` Connect Core 1.0, section 5.3).
    async fn ask_more(
        &self,
        document: &ProviderMetadata,
        bearer: &str,
        subject: &str,
        person: &mut PersonClaims,
    ) -> Result<(), SignInRefusal> {
        let Some(url) = &document.userinfo_endpoint else { return Ok(()) };
        let provider = self.provider();
        let secret = SecretString::from(bearer.to_owned());
        let header = baton_net::outbound::bearer(&secret);
        let header = header.map_err(|_| missing(&provider, "access token"))?;
        let asked = provider.ask(url, |http| http.get(url.clone()).header(AUTHORIZATION, header));
        let more: PersonClaims = provider
            .read(url, &asked.await.map_err(SignInRefusal::Provider)?)
            .map_err(SignInRefusal::Provider)?;
        if more.get("sub").and_then(|sub| sub.as_str()) != Some(subject) {
            return Err(SignInRefusal::NotThisOne { found: "an answer about another person" });
        }
        for (claim, value) in more {
            // What was signed for this sign-in counts first.
            person.entry(claim).or_insert(value);
        }
        Ok(())
    }

    /// What the provider says of itself, asked by one caller at a time and not each time.
    async fn document(&self) -> Result<ProviderMetadata, SignInRefusal> {
        let asked = Instant::now();
        let mut known = self.0.known.lock().await;
        if let Some((at, document)) = &known.document
            && at.elapsed() < FRESH
        {
            return Ok(document.clone());
        }
        // Who waited while another caller asked gets the same answer.
        if let Some((at, error)) = &known.failed
            && *at > asked
        {
            return Err(SignInRefusal::Provider(error.clone()));
        }
        match Box::pin(self.provider().document()).await {
            Ok(document) => {
                *known = KnownProvider {
                    document: Some((Instant::now(), document.clone())),
                    failed: None,
                };
                Ok(document)
            }
            Err(error) => {
                tracing::warn!(%error, "nobody signs in at the provider");
                known.failed = Some((Instant::now(), error.clone()));
                Err(SignInRefusal::Provider(error))
            }
        }
    }

    fn provider(&self) -> Provider<'_> {
        Provider { outbound: &self.0.outbound, issuer: &self.0.settings.issuer }
    }
}

/// Where codes are exchanged. It is asked as this node asks all others: checked, bounded and in time.
struct TokenEndpoint {
    outbound: Outbound,
    issuer: Issuer,
    url: Url,
}

impl<'a> AsyncHttpClient<'a> for TokenEndpoint {
    type Error = ProviderError;
    type Future = BoxFuture<'a, Result<HttpResponse, ProviderError>>;

    fn call(&'a self, request: HttpRequest) -> Self::Future {
        Box::pin(async move {
            let provider = Provider { outbound: &self.outbound, issuer: &self.issuer };
            let (parts, body) = request.into_parts();
            let asked = provider.ask(&self.url, |http| {
                http.post(self.url.clone()).headers(parts.headers).body(body)
            });
            let answered = asked.await?;
            let mut response = HttpResponse::new(answered.body);
            if !answered.is_success {
                *response.status_mut() = http::StatusCode::BAD_REQUEST;
            }
            Ok(response)
        })
    }
}

/// The longest name by which a provider knows somebody, in bytes (`OpenID` Connect Core 1.0, section 2).
const SUBJECT_MAX: usize = 255;

/// How long a page stays signed in: as the settings say, and no longer than the provider's own session, where it says
/// when that ends (`session_expiry`, `OpenID` Connect Enterprise Extensions 1.0). `exp` says until when the token
/// counts, which is a matter of minutes at many providers.
fn lasts(most: Duration, person: &PersonClaims) -> Duration {
    let ends = person.get("session_expiry").and_then(serde_json::Value::as_i64);
    let Some(ends) = ends.and_then(|seconds| Timestamp::from_second(seconds).ok()) else {
        return most;
    };
    Duration::try_from(ends.duration_since(clock::now())).unwrap_or_default().min(most)
}

fn missing(provider: &Provider<'_>, what: &str) -> SignInRefusal {
    SignInRefusal::Provider(provider.other(format!("it has no {what}")))
}
