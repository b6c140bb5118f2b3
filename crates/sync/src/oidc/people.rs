//! Which people of a provider come in, in whose name, and with which scopes: the rules of the settings, and what a
//! provider says of a person.
//!
//! The one idea: a person has what the first rule says that fits, and nothing where none does. What a rule says is
//! part of its name (`RuleId`), so what a rule gave is known to be over once the settings say something else.

use super::{Issuer, shown};
use baton_session::{Owner, Scope};
use secrecy::SecretString;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// What a provider says of a person: the claims of an ID token, and of its endpoint `userinfo`.
pub(super) type PersonClaims = Map<String, Value>;

/// How people of a provider sign in.
#[derive(Debug, Clone)]
pub struct SignInSettings {
    /// The provider.
    pub issuer: Issuer,
    /// The tenant of Entra ID to which they belong (`tid`); none looks at no tenant.
    pub tenant: Option<String>,
    /// As which client this node sends them there.
    pub client_id: String,
    /// How the client proves who it is; none where the provider knows it as a public one.
    pub client_secret: Option<ClientSecret>,
    /// What people call the provider.
    pub name: String,
    /// What is asked for beside `openid`.
    pub scopes: Vec<String>,
    /// How long a page stays signed in at most.
    pub lasts: Duration,
    /// Who comes in, in this order.
    pub rules: Vec<Rule>,
    /// How far the provider's clock may be from ours.
    pub leeway: Duration,
}

/// The secret of a client.
#[derive(Debug, Clone)]
pub enum ClientSecret {
    /// The settings, or a variable, hold it.
    Given(SecretString),
    /// A file holds it, which is read each time.
    File(PathBuf),
}

impl ClientSecret {
    /// The secret, of which nobody else is told.
    pub(super) async fn read(&self) -> io::Result<SecretString> {
        match self {
            Self::Given(secret) => Ok(secret.clone()),
            Self::File(path) => {
                let text = baton_store::plain::secret(path).await?;
                Ok(text.trim().to_owned().into())
            }
        }
    }
}

/// Whom a rule lets in, and with what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// What of a person is looked at, such as `groups`; parts of an object are parted by dots.
    pub claim: String,
    /// What it is, or has among others.
    pub value: String,
    /// In whose name they ask.
    pub owner: Owner,
    /// What they may do.
    pub scopes: BTreeSet<Scope>,
}

/// Names a rule of a client of a provider, with all that it says.
pub type RuleId = [u8; 32];

impl SignInSettings {
    /// The names of all rules.
    pub fn rule_ids(&self) -> BTreeSet<RuleId> {
        self.rules.iter().map(|rule| self.id_of(rule)).collect()
    }

    fn id_of(&self, rule: &Rule) -> RuleId {
        let scopes: Vec<&str> = rule.scopes.iter().map(|scope| scope.as_str()).collect();
        let tenant = self.tenant.as_deref().unwrap_or_default();
        let (owner, scopes) = (rule.owner.as_str(), scopes.join(" "));
        digest([
            self.issuer.as_str(),
            tenant,
            &self.client_id,
            &rule.claim,
            &rule.value,
            owner,
            &scopes,
        ])
    }

    /// What the first rule gives that fits.
    pub(super) fn admit(&self, person: &PersonClaims) -> Option<(RuleId, &Rule)> {
        let rule = self.rules.iter().find(|rule| rule.fits(person))?;
        Some((self.id_of(rule), rule))
    }

    /// Whether the rules look at something that is not said here.
    pub(super) fn lacks(&self, person: &PersonClaims) -> bool {
        self.rules.iter().any(|rule| find(person, &rule.claim).is_none())
    }

    /// At what the rules look.
    pub(super) fn looked_at(&self) -> String {
        let claims: BTreeSet<&str> = self.rules.iter().map(|rule| rule.claim.as_str()).collect();
        claims.into_iter().collect::<Vec<_>>().join(", ")
    }
}

impl Rule {
    fn fits(&self, person: &PersonClaims) -> bool {
        // Anybody may write any address into a profile of theirs.
        if self.claim == "email" && person.get("email_verified") != Some(&Value::Bool(true)) {
            return false;
        }
        match find(person, &self.claim) {
            Some(Value::Array(values)) => values.iter().any(|value| self.is(value)),
            Some(value) => self.is(value),
            None => false,
        }
    }

    fn is(&self, value: &Value) -> bool {
        match value {
            Value::String(text) => *text == self.value,
            Value::Bool(is_so) => self.value == if *is_so { "true" } else { "false" },
            Value::Number(number) => {
                self.value.parse().is_ok_and(|wanted: serde_json::Number| wanted == *number)
            }
            _ => false,
        }
    }
}

/// A claim by its name, or by a path of names: a name may hold dots, as addresses do.
fn find<'a>(person: &'a PersonClaims, claim: &str) -> Option<&'a Value> {
    if let Some(found) = person.get(claim) {
        return Some(found);
    }
    let mut names = claim.split('.');
    let first = person.get(names.next()?)?;
    names.try_fold(first, |value, name| value.get(name))
}

/// A person whom a rule lets in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// Who they are at the provider, whatever they are called.
    pub id: [u8; 32],
    /// What they are called there, and how the provider is.
    pub name: String,
    /// The provider.
    pub issuer: String,
    /// What the provider itself calls them.
    pub subject: String,
    /// In whose name they ask.
    pub owner: Owner,
    /// What they may do.
    pub scopes: BTreeSet<Scope>,
    /// The rule that lets them in.
    pub rule: RuleId,
    /// How long their page stays signed in at most.
    pub lasts: Duration,
}

/// Who somebody is at a provider.
pub(super) fn identity(issuer: &Issuer, subject: &str) -> [u8; 32] {
    digest([issuer.as_str(), subject])
}

/// What somebody is called, on one line: what people read first.
pub(super) fn called(person: &PersonClaims) -> String {
    let names = ["email", "preferred_username", "name", "sub"];
    let mut found = names.iter().filter_map(|name| person.get(*name)?.as_str()).map(shown);
    found.find(|name| !name.trim().is_empty()).unwrap_or_else(|| "somebody".to_owned())
}

/// Parts have an end, so that none reaches into the next one.
fn digest<const N: usize>(parts: [&str; N]) -> [u8; 32] {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update(part.len().to_be_bytes());
        digest.update(part.as_bytes());
    }
    digest.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn settings(rules: &[(&str, &str, &str)]) -> SignInSettings {
        let rules = rules.iter().map(|(claim, value, owner)| Rule {
            claim: (*claim).to_owned(),
            value: (*value).to_owned(),
            owner: owner.parse().unwrap(),
            scopes: [Scope::Read].into(),
        });
        SignInSettings {
            issuer: "https://id.test".parse().unwrap(),
            tenant: None,
            client_id: "baton".to_owned(),
            client_secret: None,
            name: "Example".to_owned(),
            scopes: Vec::new(),
            lasts: Duration::from_hours(1),
            rules: rules.collect(),
            leeway: Duration::ZERO,
        }
    }

    fn owner_of(settings: &SignInSettings, person: &Value) -> Option<String> {
        let (_, rule) = settings.admit(person.as_object().unwrap())?;
        Some(rule.owner.as_str().to_owned())
    }

    #[test]
    fn the_first_rule_that_fits_says_in_whose_name() {
        let settings = settings(&[
            ("groups", "shop", "shop"),
            ("realm_access.roles", "books", "books"),
            ("https://id.test/level", "7", "seven"),
            ("email", "ada@example.org", "ada"),
        ]);
        for (person, owner) in [
            (json!({"groups": ["other", "shop"]}), Some("shop")),
            (json!({"groups": "shop", "email": "ada@example.org"}), Some("shop")),
            (json!({"groups": "shopkeepers"}), None),
            (json!({"groups": {"shop": true}}), None),
            (json!({"realm_access": {"roles": ["books"]}}), Some("books")),
            (json!({"https://id.test/level": 7}), Some("seven")),
            (json!({"email": "ada@example.org", "email_verified": true}), Some("ada")),
            (json!({"email": "ada@example.org", "email_verified": "true"}), None),
            (json!({"email": "ada@example.org"}), None),
            (json!({}), None),
        ] {
            assert_eq!(owner_of(&settings, &person).as_deref(), owner, "{person}");
        }
    }

    #[test]
    fn a_rule_that_says_something_else_is_another_one() {
        let before = settings(&[("groups", "shop", "shop")]);
        assert_eq!(before.rule_ids(), settings(&[("groups", "shop", "shop")]).rule_ids());
        for other in [("group", "shop", "shop"), ("groups", "sho", "shop"), ("groups", "shop", "s")]
        {
            assert!(before.rule_ids().is_disjoint(&settings(&[other]).rule_ids()), "{other:?}");
        }
        let mut wider = before.clone();
        wider.rules[0].scopes.insert(Scope::Drive);
        assert!(before.rule_ids().is_disjoint(&wider.rule_ids()));
        let elsewhere = SignInSettings { client_id: "other".to_owned(), ..before.clone() };
        assert!(before.rule_ids().is_disjoint(&elsewhere.rule_ids()));
    }

    #[test]
    fn people_are_called_by_what_others_know_them_by() {
        let called = |person: Value| called(person.as_object().unwrap());
        assert_eq!(called(json!({"sub": "7", "email": "ada@example.org"})), "ada@example.org");
        assert_eq!(called(json!({"sub": "7", "name": "Ada\nL."})), "AdaL.");
        assert_eq!(called(json!({"sub": "7", "email": " "})), "7");
    }
}
