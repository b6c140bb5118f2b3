//! Names: what the name of a value says about it, in the languages that most people write.
//!
//! The one idea: a name is words. Some make any value a secret (`password`), some make one that looks
//! like a secret one (`code`), and some at the end tell *about* a secret (`password_length`). It is the
//! only list of such words.

use crate::letters::{is_capital, is_small, lower};
use crate::purposes::{has_purpose, is_code, speaks_of_code};
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::sync::LazyLock;

/// What a name says of its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// Nothing, or it tells about a secret.
    Plain,
    /// The value may be a secret: its look decides.
    Telling,
    /// Any value is a secret.
    Secret,
}

/// Parts that make a name a secret's wherever they stand in it: in `X-Api-Key`, `accessToken` and
/// `PHPSESSID` alike.
static PARTS: LazyLock<WordIndex> = LazyLock::new(|| {
    WordIndex::of(
        "password passwd passphrase passcode passwort secret token apikey credential \
     authorization authkey accesskey privatekey signingkey encryptionkey masterkey \
     subscriptionkey sharedkey sessionkey sessionid sessid connectsid sessioncookie \
     assertion samlresponse samlrequest signature connectionstring authcode \
     authorizationcode verificationcode recoverycode backupcode securitycode onetimecode \
     accesscode cardnumber creditcard codeverifier clientdata idtoken accountkey \
     storagekey functionskey devicekey licensekey licencekey serverkey secretkey \
     webhookkey integrationkey deploykey hostkey appkey authdata oidcdata authinfo \
     mnemonic seedphrase recoveryphrase seedwords securityanswer secretanswer \
     authenticatordata kennwort zugangscode geheim motdepasse motpasse contrasena \
     contrasenya palavrapasse parolachiave wachtwoord lozenord katasandi sandimasuk \
     sifreniz userpass logonpass loginpass dbpass smtppass adminpass mailpass authpass \
     rememberme unlockcode usercode doorcode entrycode gatecode giftcode giftcard \
     vouchercode resetcode logincode sharekey passportnumber accountnumber \
     socialsecurity nationalid securityquestion securestring identityheader \
     honeycombteam ovhconsumer yanzhengma guptshabd llaveprivada palabradepaso \
     palabraclave kalimatalmurur kalimatalsir codigoverificacion codigodeverificacion \
     codigoseguranca codigodeseguranca codigodeseguridad codigoseguridad bimilbeonho \
     anshoubangou anshobango toegangscode sicherheitsantwort reponsesecrete \
     rispostasegreta respuestasecreta matkhau adgangskode manualentrykey track1 track2 \
     katalaluan lykilor fjalekalim loginhint relaystate wpnonce kodweryfikacyjny dogrulamakodu requirepass masterauth \
     artapi pairingcode setupcode disarmcode armingcode alarmcode mastercode smscode signincode formdigestvalue requestdigest samlart authtok storepass keypass rootpw bindpw rocommunity rwcommunity assword paswort iban cardexp ccexp changepw encryptedvalue",
    )
});

/// The same in other scripts, folded.
static FOREIGN: LazyLock<Vec<String>> = LazyLock::new(|| {
    folded(
        "密码,密碼,口令,密钥,密鑰,令牌,验证码,驗證碼,暗号,秘钥,机密,パスワード,秘密,トークン,暗証,合言葉,認証コード,認証キー,비밀번호,암호,토큰,인증번호,\
     비밀,인증키,пароль,парол,секрет,токен,пинкод,пин-код,كلمة المرور,كلمةالمرور,\
     كلمه المرور,كلمة السر,كلمةالسر,الرمز السري,رمز سري,الرقم السري,رمز المرور,\
     पासवर्ड,कूटशब्द,गुप्त,टोकन,পাসওয়ার্ড,পাসওয়ার্ড,গোপন,টোকেন,سری,סיסמה,סיסמא,\
     รหัสผ่าน,ﾊﾟｽﾜｰﾄﾞ,ओटीपी,кодовое,주민등록,mật khẩu,κωδικός,\
     رمز التحقق,پاس ورڈ,پاسورڈ,خفیہ,ٹوکن,கடவுச்சொல்,პაროლი,құпия,գաղտնաբառ,лозинка,పాస్‌వర్డ్,ਪਾਸਵਰਡ,પાસવર્ડ",
    )
});

/// Words that make a name a secret's when they stand by themselves in it.
static WORDS: LazyLock<WordIndex> = LazyLock::new(|| {
    WordIndex::of(
        "auth authentication bearer cookie cookies credential credentials cred creds csrf \
     csc cvc cvc2 cvn cvv cvv2 hmac jwe jwt macaroon mdp mfa otp parola parole pass \
     paswoord password1 password2 pin pincode passkey psk psw puk pw pwd haslo heslo \
     jelszo losenord losung rahasia sandi secreto segredo segreto senha sid sifre sig \
     ssn sso tajne tan ticket tkn totp wpa xauth xsrf 2fa clientkey concealed crumb mima parol jeton \
     salasana passord geslo lozinka zaporka nenosiri pasahitza slaptazodis wagwoord salasona cpf passwrd pasword pwds passw plaintext dtsg secrete secreta \
     segreta",
    )
});

/// Words that make a value of a secret's look a secret.
static TELLING: LazyLock<WordIndex> = LazyLock::new(|| {
    WordIndex::of(
        "access account activate activation anahtar answer antwort capability card \
     certificate chave challenge chiave clave cle clef code codes codice codigo conf \
     confirm confirmation conn connection device dsn feed grant guest handshake hook \
     hooks identify invitation invite iv k key keys kode kod klucz kunci license licence \
     login logon magic nonce pan phrase private proof recovery refresh relaystate reset \
     salt schluessel schlussel seed session share sign signed sleutel state unlock \
     unsubscribe verify verification verifier webhook webhooks authenticate cc consumer \
     prf voucher coupon pat crypt cipher shared published bypass pannumber community resume oauth",
    )
});

/// The same in other scripts, folded.
static FOREIGN_TELLING: LazyLock<Vec<String>> = LazyLock::new(|| {
    folded("ключ код ответ 钥匙 代码 答案 コード キー 答え 코드 열쇠 مفتاح رمز कुंजी कोड কোড")
});

/// Words by their first letter: few of them are compared.
struct WordIndex([Vec<&'static str>; 256]);

impl WordIndex {
    fn of(words: &'static str) -> Self {
        let mut by_letter = [const { Vec::new() }; 256];
        for word in list(words) {
            by_letter[usize::from(word.as_bytes()[0])].push(word);
        }
        Self(by_letter)
    }

    fn beginning_as(&self, bytes: &[u8]) -> &[&'static str] {
        bytes.first().map_or(&[], |first| self.0[usize::from(*first)].as_slice())
    }

    fn has(&self, word: &str) -> bool {
        self.beginning_as(word.as_bytes()).contains(&word)
    }

    /// Whether one of them stands anywhere in a text.
    fn are_in(&self, text: &str) -> bool {
        let bytes = text.as_bytes();
        let begins = |at: usize| {
            self.beginning_as(&bytes[at..])
                .iter()
                .any(|word| bytes[at..].starts_with(word.as_bytes()))
        };
        (0..bytes.len()).any(begins)
    }
}

/// The words of a list, between blanks or, where they have some themselves, commas.
fn list(words: &'static str) -> Vec<&'static str> {
    let by = if words.contains(',') { ',' } else { ' ' };
    words.split(by).filter(|word| !word.is_empty()).collect()
}

/// The words of a list as [`fold`] leaves the names that hold them, among Latin words or not.
fn folded(words: &'static str) -> Vec<String> {
    list(words).into_iter().map(|word| alike(&fold(word))).collect()
}

/// Names that mean a secret in an address or a form, and may mean something else elsewhere.
const IN_ADDRESSES: [&str; 7] = ["code", "key", "k", "nonce", "session", "sign", "state"];

/// Last words of names that tell *about* a secret.
static ABOUT: LazyLock<WordIndex> = LazyLock::new(|| {
    WordIndex::of(
        "age at attempts count disabled enabled endpoint error errors exists expired expires \
     expiration expiry field format hint in label length limit max message method \
     methods min mode name names placeholder policy required size status strength \
     supported title ttl type types uri url help rule rules requirements page form \
     forgotten toggle visible hidden changed updated created formats valid invalid \
     version scope",
    )
});

/// Words beside which tokens are counted, not told.
static COUNTED: LazyLock<WordIndex> = LazyLock::new(|| {
    WordIndex::of(
        "max min total prompt completion input output num cached reasoning used remaining \
     count per",
    )
});

/// Names whose value is a name, of what stands beside it: `{"name": "password", "value": "…"}`.
static NAMING: LazyLock<Vec<&str>> = LazyLock::new(|| {
    list(
        "name key id field header property param parameter label type variable var k \
     attribute option setting path selector target locator xpath placeholder",
    )
});

/// Names of what stands there.
static NAMED: LazyLock<Vec<&str>> = LazyLock::new(|| {
    list(
        "value content values val v text data current newvalue stringvalue secretstring \
     default defaultvalue initialvalue example current typed old new",
    )
});

/// The longest name that is looked at, in bytes.
const MAX_NAME: usize = 128;
/// How many names are known by heart.
const MAX_KNOWN: usize = 4096;

/// What names say, with those of one's own.
#[derive(Default)]
pub struct Names {
    secret: Vec<String>,
    plain: Vec<String>,
    /// Names come again and again.
    known: HashMap<Box<str>, Weight>,
}

/// What a page called its values goes to no log: a secret may have been taken for a name.
impl fmt::Debug for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Names").field("known", &self.known.len()).finish_non_exhaustive()
    }
}

impl Names {
    /// With further names whose values are secrets, and names whose values are none. Case (of Latin,
    /// Greek, Cyrillic and Armenian letters), and what is no letter and no digit, do not matter.
    pub fn new(names: &[String], allow: &[String]) -> Self {
        let joined =
            |names: &[String]| names.iter().map(|name| fold(name).replace(' ', "")).collect();
        Self { secret: joined(names), plain: joined(allow), known: HashMap::new() }
    }

    /// What a name says of its value.
    pub fn weigh(&mut self, name: &str) -> Weight {
        let name = end_of(name);
        if let Some(known) = self.known.get(name) {
            return *known;
        }
        let weight = self.judge(name);
        if self.known.len() >= MAX_KNOWN {
            self.known.clear();
        }
        self.known.insert(name.into(), weight);
        weight
    }

    /// The same in an address or a form.
    pub fn weigh_in_address(&mut self, name: &str) -> Weight {
        let weight = self.weigh(name);
        let is_one = || IN_ADDRESSES.iter().any(|word| name.eq_ignore_ascii_case(word));
        if weight == Weight::Telling && is_one() { Weight::Secret } else { weight }
    }

    fn judge(&self, name: &str) -> Weight {
        let read_again = again_as_utf8(name);
        let name = read_again.as_deref().unwrap_or(name);
        let spaced = fold(name);
        let joined = spaced.replace(' ', "");
        if self.plain.contains(&joined) {
            return Weight::Plain;
        }
        if self.secret.contains(&joined) {
            return Weight::Secret;
        }
        weigh_words(&spaced, &joined, name)
    }
}

fn weigh_words(spaced: &str, joined: &str, name: &str) -> Weight {
    let words = || spaced.split(' ').filter(|word| !word.is_empty());
    let Some(last) = words().next_back() else { return Weight::Plain };
    let is_long = words().nth(1).is_some();
    // When a card expires is printed on it, beside its number.
    let is_own = joined.ends_with("loginhint") || joined.contains("cardexp");
    let is_about = ABOUT.has(last) && !is_own;
    if is_long && (is_about || words().any(|word| word == "public")) {
        return Weight::Plain;
    }
    if words().any(|word| word == "tokens") && words().any(|word| COUNTED.has(word)) {
        return Weight::Plain;
    }
    let foreign = if name.is_ascii() { String::new() } else { alike(spaced) };
    let is_foreign = |parts: &[String]| parts.iter().any(|part| foreign.contains(part));
    let has_other = joined.contains("tokeniz") || joined.contains("secretar");
    let plain = if has_other {
        Cow::from(joined.replace("tokeniz", "").replace("secretar", ""))
    } else {
        Cow::from(joined)
    };
    // `pwd2`, `pin1`.
    let bare = |word: &'_ str| WORDS.has(word.trim_end_matches(|c: char| c.is_ascii_digit()));
    if words().any(|word| WORDS.has(word) || bare(word))
        || PARTS.are_in(&plain)
        || is_disguised(name)
        || is_foreign(FOREIGN.as_slice())
    {
        return Weight::Secret;
    }
    // `güvenlik_kodu`, `login_code`.
    if is_long
        && words().any(is_code)
        && speaks_of_code(spaced) == Some(true)
        && has_purpose(spaced)
    {
        return Weight::Secret;
    }
    let is_telling = || words().any(|word| TELLING.has(word));
    if is_telling() || joined.contains("nonce") || is_foreign(FOREIGN_TELLING.as_slice()) {
        return Weight::Telling;
    }
    Weight::Plain
}

/// A name whose bytes were UTF-8 and were read as Latin-1: `contraseÃ±a`.
fn again_as_utf8(name: &str) -> Option<String> {
    if name.is_ascii() {
        return None;
    }
    let bytes: Option<Vec<u8>> = name.chars().map(|c| u8::try_from(u32::from(c)).ok()).collect();
    String::from_utf8(bytes?).ok()
}

/// `p@ssw0rd`, `pa$$word`.
fn is_disguised(name: &str) -> bool {
    if !name.contains(['@', '$', '0', '4', '5']) || name.len() < 6 {
        return false;
    }
    let letter = |c: char| match c {
        '@' | '4' => 'a',
        '$' | '5' => 's',
        '0' => 'o',
        '3' => 'e',
        c => c.to_ascii_lowercase(),
    };
    let plain: String = name.chars().map(letter).collect();
    plain.contains("password") || plain.contains("passwd")
}

/// What the two are of, that are called so behind it: `ParameterKey` and `ParameterValue`, `option_name` and
/// `option_value`.
const PAIRED: [&str; 16] = [
    "attribute",
    "config",
    "cookie",
    "env",
    "environment",
    "field",
    "header",
    "item",
    "meta",
    "option",
    "param",
    "parameter",
    "property",
    "secret",
    "setting",
    "variable",
];

/// Whether a name ends so behind a word for what is named and has a value.
fn is_paired(name: &str, ends: &[&str]) -> bool {
    if !matches!(name.as_bytes().last(), Some(b'e' | b'y')) {
        return false;
    }
    let end = ends.iter().find_map(|end| name.strip_suffix(end));
    end.is_some_and(|what| {
        PAIRED.iter().any(|one| what.trim_end_matches('_').eq_ignore_ascii_case(one))
    })
}

/// Whether what stands under this name is the name of what stands beside it.
pub(crate) fn names_another(name: &str) -> bool {
    NAMING.iter().any(|one| name.eq_ignore_ascii_case(one))
        || is_paired(name, &["Key", "Name", "_key", "_name"])
}

/// Whether this is what stands beside such a name.
pub(crate) fn is_named_beside(name: &str) -> bool {
    NAMED.iter().any(|one| name.eq_ignore_ascii_case(one)) || is_paired(name, &["Value", "_value"])
}

/// Lower-case words without accents, cut at what is no letter and no digit, and where a new hump begins:
/// `accessToken` is `access token`.
pub(crate) fn fold(name: &str) -> String {
    let mut spaced = String::with_capacity(2 * name.len());
    let mut before_lower = false;
    // Letters that only look like Latin ones stand among them.
    let is_mixed = !name.is_ascii() && name.contains(|c: char| c.is_ascii_alphabetic());
    for letter in name.chars().filter(|c| !is_unseen(*c)) {
        if before_lower && is_capital(letter) {
            spaced.push(' ');
        }
        if letter.is_ascii() {
            let is_part = letter.is_ascii_alphanumeric();
            spaced.push(if is_part { letter.to_ascii_lowercase() } else { ' ' });
        } else {
            let lower = lower(letter);
            spaced.push(without_accent(if is_mixed { look_alike(lower) } else { lower }));
        }
        before_lower = is_small(letter);
    }
    spaced
}

/// What is not seen by itself: accents behind their letter, soft hyphens, spaces without width.
fn is_unseen(letter: char) -> bool {
    matches!(letter, '\u{300}'..='\u{36f}' | '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}')
}

/// The Latin letter that a Cyrillic one looks like (Unicode TR 39, confusables).
fn look_alike(letter: char) -> char {
    match letter {
        'а' => 'a',
        'е' => 'e',
        'і' => 'i',
        'о' => 'o',
        'р' => 'p',
        'с' => 'c',
        'ѕ' => 's',
        'у' => 'y',
        'х' => 'x',
        other => other,
    }
}

/// A text with those letters.
fn alike(text: &str) -> String {
    text.chars().map(look_alike).collect()
}

/// The letter below an accent, for those that Latin and Greek names have; σ for the one that ends a word, which
/// is the same capital.
fn without_accent(letter: char) -> char {
    match letter {
        'à' | 'á' | 'â' | 'ã' | 'ä' | 'å' | 'ą' | 'ă' => 'a',
        'ç' | 'ć' | 'č' => 'c',
        'è' | 'é' | 'ê' | 'ë' | 'ę' | 'ě' => 'e',
        'ì' | 'í' | 'î' | 'ï' | 'ı' => 'i',
        'ł' => 'l',
        'ñ' | 'ń' => 'n',
        'ò' | 'ó' | 'ô' | 'õ' | 'ö' | 'ő' => 'o',
        'ş' | 'ś' | 'š' | 'ș' | 'ß' => 's',
        'ù' | 'ú' | 'û' | 'ü' | 'ů' => 'u',
        'ý' => 'y',
        'ź' | 'ż' | 'ž' => 'z',
        'ț' | 'ţ' => 't',
        'ř' => 'r',
        'ά' => 'α',
        'έ' => 'ε',
        'ή' => 'η',
        'ί' | 'ϊ' => 'ι',
        'ό' => 'ο',
        'ύ' | 'ϋ' => 'υ',
        'ώ' => 'ω',
        'ς' => 'σ',
        // Full-width letters are the same ones, 0xFEE0 further on.
        '\u{ff41}'..='\u{ff5a}' => char::from_u32(u32::from(letter) - 0xfee0).unwrap_or(letter),
        other => other,
    }
}

/// The end of a name that is too long.
fn end_of(name: &str) -> &str {
    &name[name.ceil_char_boundary(name.len().saturating_sub(MAX_NAME))..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_name_is_known_in_capitals_too() {
        let parts = [&*PARTS, &*WORDS].into_iter().flat_map(|words| words.0.iter().flatten());
        let mut secret: Vec<String> = parts.map(|&word| word.to_owned()).collect();
        secret.extend(FOREIGN.iter().cloned());
        let mut telling: Vec<String> = FOREIGN_TELLING.clone();
        telling.extend(TELLING.0.iter().flatten().map(|&word| word.to_owned()));
        let mut names = Names::default();
        for (listed, least) in [(secret, Weight::Secret), (telling, Weight::Telling)] {
            for name in listed {
                for written in [
                    name.clone(),
                    name.to_uppercase(),
                    format!("my {name}"),
                    format!("user_{name}"),
                ] {
                    assert!(names.weigh(&written) >= least, "{written}");
                }
            }
        }
        assert_eq!(names.weigh("ΚΩΔΙΚΌΣ"), Weight::Secret);
        assert_eq!(names.weigh("ΚΩΔΙΚΟΣ"), Weight::Secret);
    }
}
