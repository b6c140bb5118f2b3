//! Calls: secrets among the arguments of functions, by their place.
//!
//! The one idea: libraries have few names for what signs in, connects and seals, and say in their documents which
//! argument is the secret. A name that others may use too counts only where the argument looks as people write
//! passwords.

use crate::look::is_like_password;
use crate::names::Weight;
use crate::search::{
    Search, argument, behind_comma, call_before, is_in_name, is_quote, last_argument, position,
    quoted_at, quoted_before,
};
use std::ops::Range;
use std::sync::LazyLock;

/// Names of calls in small letters: behind `=2` those whose second argument is a secret, behind `=2?` those where it
/// is one if it looks so.
const CALLS: &str = "=1 azurekeycredential checkpw comparesync cookieparser createsecretkey fernet frommnemonic fromphrase \
     fromseed generate_password_hash hashpw make_password mnemonictoseed mnemonictoseedsync password_hash pbkdf2sync \
     privatekeytoaccount scryptsync secretkeyspec secretstr \
     =1? auth_token bcrypt hashsync keyedhash scrypt secret token_auth \
     =2 addbasicauth aescrypt basic_auth basicauth basicauthcredentials basicauthentication basicawscredentials awsbasiccredentials \
     awsbasicsessioncredentials basicsessioncredentials consumertoken createcipher createcipheriv createdecipher createdecipheriv digest_auth digestauth \
     digestauthentication getserverclientwithcredentials hash_pbkdf2 hmacsha1 hmacsha256 hmacsha512 httpbasicauth httpdigestauth httpntlmauth \
     networkcredential newbasicauth newstaticcredentials newstaticcredentialsprovider newstaticv4 ntlmauth oauth1 \
     oauth1session oauthhandler oci_connect oci_new_connect oci_pconnect passwordauthentication passwordcredential plaincredentials \
     plaintextauthprovider requestbasicauth saslplain set_access_token set_basic_auth set_proxy_auth setbasicauth setcredentials \
     setproxycredentials sharedkeycredential simple_bind simple_bind_s simplebind staticcredentials \
     storagesharedkeycredential twilio usernamepasswordauthenticationtoken usernamepasswordcredentials userpassword \
     withbasicauth withcredentials zendeskauth \
     =2? adduser auth authenticate basic bind changepassword connectwithpassword create_user createuser credentials credential \
     dologin log_in login login_user loginuser logon register rconconnect sign_in signin signinwithpassword signup userlogin usercredentials \
     usernamepassword validatecredentials \
     =3 clientsecretcredential create_superuser drivermanagerconnection ftp_login getconnection hash_hmac ibase_connect imap_open ldap_bind \
     ldap_bind_ext minio mssql_connect mysql_connect mysql_pconnect mysqli mysqli_connect newclientsecretcredential odbc_connect \
     odbc_pconnect openssl_decrypt openssl_encrypt pdo plainauth sequelize ssh2_auth_password twitteroauth \
     usernamepasswordcredential \
     =3? connect create_user createconnection createcredential createpool ftp opendb sftp ssh \
     =4? connect";
/// Names that say nothing of what is made: the one before them does.
const MAKING: [&str; 5] = ["__construct", "__init__", "create", "new", "of"];
/// The longest of those names, in bytes.
const LONGEST: usize = 36;

/// A name, the number of the secret, and whether that must look so.
type Call = (&'static str, usize, bool);
/// The same by their length: few of them are compared.
static BY_LENGTH: LazyLock<[Vec<Call>; LONGEST]> = LazyLock::new(|| {
    let mut by_length = [const { Vec::new() }; LONGEST];
    let (mut number, mut must_look) = (0, false);
    for word in CALLS.split_ascii_whitespace() {
        if let Some(kind) = word.strip_prefix('=') {
            number = kind.trim_end_matches('?').parse().unwrap_or_default();
            must_look = kind.ends_with('?');
        } else if let Some(alike) = by_length.get_mut(word.len()) {
            alike.push((word, number, must_look));
        }
    }
    by_length
});

/// Calls that write what they are given into what was looked up before them.
const TYPING: [&str; 6] = ["type", "val", "fill", "sendkeys", "send_keys", "setvalue"];

impl Search<'_, '_> {
    /// `setPassword("x")`, `login("al", "x")`, `btoa("al:x")`; in lines for people also without quotes.
    pub(crate) fn calls(&mut self, is_prose: bool) {
        let mut at = 0;
        while let Some(open) = position(self.bytes, at, |c| c == b'(') {
            at = open + 1;
            let call = call_before(self.text, at);
            if call.is_empty() {
                self.pair_of_name(open);
            } else {
                self.listed(call, at, is_prose);
            }
            if let Some((weight, least)) = last_is_secret(call)
                && let Some((count, last)) = last_argument(self.text, at)
                && count >= least
            {
                self.judge(weight, last);
            }
            if let Some(first) = quoted_at(self.text, at) {
                self.call_of_text(call, first.range, first.end);
            }
        }
    }

    /// A call whose first argument is a text in quotes.
    fn call_of_text(&mut self, call: &str, first: Range<usize>, end: usize) {
        let lower = call.to_ascii_lowercase();
        let name = ["set", "with"]
            .iter()
            .find_map(|set| lower.starts_with(set).then(|| &call[set.len()..]));
        let is_only =
            || self.bytes[end..].iter().skip(1).find(|c| !c.is_ascii_whitespace()) == Some(&b')');
        if let Some(name) = name.filter(|name| !name.is_empty()) {
            if is_only() && self.work.weigh(name) == Weight::Secret {
                self.judge(Weight::Secret, first);
            }
        } else if matches!(lower.as_str(), "login" | "signin" | "sign_in" | "authenticate" | "auth")
        {
            if let Some(second) = behind_comma(self.text, end) {
                self.judge(Weight::Telling, second.range);
            }
        } else if TYPING.contains(&lower.as_str()) {
            if self.is_typed_into_secret(call) {
                self.judge(Weight::Secret, first);
            }
        } else if matches!(lower.as_str(), "btoa" | "b64encode" | "base64_encode" | "encode64") {
            let user = self.text[first.clone()].find(':');
            if let Some(colon) = user {
                self.judge(Weight::Telling, first.start + colon + 1..first.end);
            }
        } else if is_only() && self.is_method(call) && is_like_password(&self.text[first.clone()]) {
            // `.password("x")`, as builders have it.
            let weight = self.work.weigh(call);
            if weight == Weight::Secret {
                self.judge(weight, first);
            }
        }
    }

    fn is_method(&self, call: &str) -> bool {
        let start = call.as_ptr().addr() - self.text.as_ptr().addr();
        !call.is_empty() && self.text[..start].ends_with(['.', '>', ':'])
    }

    /// A call of a name that is known, whose arguments begin here.
    fn listed(&mut self, call: &str, start: usize, is_prose: bool) {
        let call = if MAKING.contains(&call) { name_before_call(self.text, call) } else { call };
        let alike = BY_LENGTH.get(call.len()).map_or(&[][..], Vec::as_slice);
        for (_, number, must_look) in
            alike.iter().filter(|(name, ..)| name.eq_ignore_ascii_case(call))
        {
            let Some((value, is_quoted)) = argument(self.text, start, *number) else { continue };
            let text = &self.text[value.clone()];
            let is_sure = is_quoted && !must_look && !is_place(text);
            // Without quotes most arguments are names.
            let has_digit = || {
                text.bytes().any(|c| c.is_ascii_digit())
                    && !text.contains(['<', '>', '&', ':', '['])
            };
            let may_be = is_quoted || (is_prose && has_digit());
            if is_sure || (may_be && is_like_password(text)) {
                self.judge(Weight::Secret, value);
            }
        }
    }

    /// `auth=("al", "x")`.
    fn pair_of_name(&mut self, open: usize) {
        let Some(before) = self.text[..open].trim_end().strip_suffix('=') else { return };
        let before = before.trim_end();
        let length = before.bytes().rev().take(LONGEST).take_while(|c| is_in_name(*c)).count();
        let Some(name) = before.get(before.len() - length..) else { return };
        let is_pair = || {
            matches!(argument(self.text, open + 1, 1), Some((_, true)))
                && argument(self.text, open + 1, 3).is_none()
        };
        if self.work.weigh(name) == Weight::Secret
            && is_pair()
            && let Some((value, true)) = argument(self.text, open + 1, 2)
        {
            self.judge(Weight::Secret, value);
        }
    }

    /// `get('#password').type`: what was looked up is named as a secret.
    fn is_typed_into_secret(&mut self, call: &str) -> bool {
        let start = call.as_ptr().addr() - self.text.as_ptr().addr();
        let Some(quote) = self.text[..start].strip_suffix(").").map(|before| before.len() - 1)
        else {
            return false;
        };
        let is_name = is_quote(self.bytes[quote]);
        let name = if is_name { quoted_before(self.text, quote) } else { None };
        name.is_some_and(|name| self.work.weigh(&self.text[name]) == Weight::Secret)
    }
}

/// `PDO->__construct`, `Fernet.new`.
fn name_before_call<'t>(text: &'t str, call: &str) -> &'t str {
    let start = call.as_ptr().addr() - text.as_ptr().addr();
    let before = text[..start].trim_end_matches([':', '.', '>', '-', '\\']);
    let length = before.bytes().rev().take(LONGEST).take_while(|c| is_in_name(*c)).count();
    before.get(before.len() - length..).unwrap_or_default()
}

/// What stands where a secret is to be put: `<password>`, `${PASSWORD}`.
fn is_place(text: &str) -> bool {
    text.starts_with(['<', '$', '%', '{', '*']) || text.starts_with("YOUR") || text.contains("...")
}

/// What is said of the last argument by the name of a call, and how many texts in quotes it has at least:
/// `signInWithEmailAndPassword`, `createHmac`, and `open` of requests that have a user and a password.
fn last_is_secret(call: &str) -> Option<(Weight, usize)> {
    match call {
        "createHmac" | "sign" | "verify" => Some((Weight::Telling, 1)),
        "open" => Some((Weight::Secret, 4)),
        _ => call.ends_with("AndPassword").then_some((Weight::Secret, 1)),
    }
}
