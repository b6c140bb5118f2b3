//! What a token says.

use serde::Deserialize;

/// The longest text of a token that is repeated, in characters.
const SHOWN: usize = 120;

/// What is looked at in a token.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Claims {
    #[serde(default)]
    pub(super) iss: Option<String>,
    #[serde(default)]
    pub(super) aud: Texts,
    #[serde(default)]
    pub(super) exp: Option<f64>,
    #[serde(default)]
    pub(super) nbf: Option<f64>,
    /// The tenant, as Entra ID names it.
    #[serde(default)]
    pub(super) tid: Option<String>,
    /// The client: in tokens of Entra ID's second version, of its first, and of others (RFC 9068).
    #[serde(default)]
    azp: Option<String>,
    #[serde(default)]
    appid: Option<String>,
    #[serde(default)]
    client_id: Option<String>,
    #[serde(default)]
    roles: Texts,
    /// Scopes, as Entra ID names them and as others do.
    #[serde(default)]
    scp: Texts,
    #[serde(default)]
    scope: Texts,
}

/// A text, or a list of them.
#[derive(Debug, Default, Deserialize)]
#[serde(untagged)]
pub(super) enum Texts {
    One(String),
    Many(Vec<String>),
    #[default]
    None,
}

impl Texts {
    fn list(&self) -> &[String] {
        match self {
            Self::One(text) => std::slice::from_ref(text),
            Self::Many(texts) => texts,
            Self::None => &[],
        }
    }

    /// As a refusal shows it.
    pub(super) fn shown(&self) -> String {
        match self.list() {
            [] => "none".to_owned(),
            texts => shown(&texts.join(", ")),
        }
    }
}

impl Claims {
    /// To whom the token was given; none when nobody is named, or more than one.
    pub(super) fn client(&self) -> Option<&str> {
        let mut named = [&self.azp, &self.appid, &self.client_id].into_iter().flatten();
        let first = named.next()?;
        named.all(|other| other == first).then_some(first)
    }

    /// Whether it has this role or scope.
    pub(super) fn allows(&self, needed: &str) -> bool {
        self.allowed().any(|one| one == needed)
    }

    /// Its roles and scopes.
    pub(super) fn allowed(&self) -> impl Iterator<Item = &str> {
        let scopes = self.scp.list().iter().chain(self.scope.list());
        let scopes = scopes.flat_map(|scopes| scopes.split_ascii_whitespace());
        self.roles.list().iter().map(String::as_str).chain(scopes)
    }
}

/// A text of a token on one line, and not an essay.
pub(super) fn shown(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(SHOWN).collect()
}

#[cfg(test)]
mod tests {
    use super::Claims;
    use serde_json::json;

    #[test]
    fn clients_are_found_by_whatever_name_they_have() {
        for (claims, client) in [
            (json!({"azp": "a"}), Some("a")),
            (json!({"appid": "a", "azp": "a"}), Some("a")),
            (json!({"client_id": "a"}), Some("a")),
            (json!({"client_id": "a", "azp": "b"}), None),
            (json!({}), None),
        ] {
            let read: Claims = serde_json::from_value(claims.clone()).unwrap();
            assert_eq!(read.client(), client, "{claims}");
        }
    }

    #[test]
    fn roles_and_scopes_allow_alike() {
        let read = |claims| serde_json::from_value::<Claims>(claims).unwrap();
        assert!(read(json!({"roles": ["Sync", "Other"]})).allows("Sync"));
        assert!(read(json!({"scp": "other Sync"})).allows("Sync"));
        assert!(read(json!({"scope": "Sync"})).allows("Sync"));
        assert!(!read(json!({"scope": "Synchronous", "roles": ["Sync it"]})).allows("Sync"));
        assert!(!read(json!({})).allows("Sync"));
    }
}
