//! Purposes: what a code is for, in the languages that most people write.
//!
//! The one idea: many numbers are called codes. What lets somebody in is told by a word for its purpose beside the
//! word for code (`Bestätigungscode`, `код подтверждения`), and what is none by another one (`error code`).

use std::sync::LazyLock;

/// Words that are a code, or what is given in the place of one; words may go on behind them.
const CODES: &str = "code,codigo,codice,codul,kod,kode,kodas,koodi,kood,pin,otp,passcode,totp,sifre,parola,senha,clave,heslo,haslo,contrasena,password,passwort,wachtwoord,sandi,ma";
/// Words that end with one.
const ENDS: [&str; 8] = ["code", "kod", "kode", "koden", "koodi", "koodisi", "koodinne", "kood"];
/// Words that end so and are none.
const OTHER_ENDS: &str = "barcode bytecode decode encode geocode opcode postcode qrcode shortcode sourcecode transcode \
     unicode zipcode keycode charcode countrycode errorcode statuscode";
/// The same in other scripts.
const FOREIGN_CODES: &str = "код,κωδικ,קוד,رمز,كود,کد,کوڈ,कोड,ओटीपी,কোড,ওটিপি,รหัส,码,碼,コード,番号,코드,번호,պին,կոդ,კოდ,குறியீடு,\
     కోడ్,ಕೋಡ್,കോഡ്,парол,пин";
/// Beginnings of words for what it is for.
const PURPOSES: &str = "verif,confirm,conferm,conferma,bestatig,bevestig,bekraft,bekræft,bekreft,potvrd,potvrz,potwierdz,megerosit,ellenorz,\
     vahvist,kinnit,patvirtin,apstiprin,onay,dogrula,xac th,xac minh,đang nh,authent,autent,authorisation,authorization,\
     one time,onetime,single use,einmal,usage unique,uso unico,un solo uso,monouso,temporar,temporan,jednoraz,jednokr,jednorob,engang,eenmalig,egyszer,tek kullan,\
     sekali pakai,sign in,signin c,signing in,sign on,sign up,log in,login,logon,logging in,anmeld,einlog,zugang,freischalt,freigabe,connexion,acces,acesso,entrar,iniciar,\
     inicio de ses,logow,prihlas,prijav,belep,inlog,logga in,palogg,kirjaut,giris,masuk,security,securite,sicherheit,\
     seguridad,seguranca,sicurezza,bezpecn,bezpiecz,guvenlik,keamanan,biztons,sakerhet,sikkerhed,sikkerhet,turva,bao mat,activat,aktiv,ativac,attivaz,\
     pairing,disarm,two factor,2fa,mfa,\
     подтвержд,підтвердж,потвърж,потврд,одноразов,еднократ,вход,вхід,войти,доступ,безопасн,безпек,активац,верифик,авториз,\
     επιβεβ,επαληθ,μιας χρησ,συνδεσ,ασφαλ,προσβασ,التحقق,التاكيد,التأكيد,تاكيد,تأكيد,مرة واحدة,دخول,امان,الأمان,تفعيل,تایید,تأیید,یکبار,ورود,تصدیق,אימות,חד פעמי,\
     כניסה,אבטחה,सत्यापन,लॉगिन,लॉग इन,सुरक्षा,ओटीपी,যাচাই,লগইন,ওটিপি,ยืนยัน,เข้าสู่,otp,验证,驗證,校验,确认,登录,登錄,登入,动态,動態,一次性,安全,認証,確認,ログイン,ワンタイム,\
     セキュリティ,인증,확인,로그인,일회용,보안,հաստատ,დადასტურ,ভেরিফিকেশন,சரிபார்,ధృవీకరణ";
/// Beginnings of words beside which a code is another one.
const OTHERS: &str = "error,fehler,erreur,erro,fout,fejl,virhe,hiba,chyb,blad,hata,fail,status,exit,http,response,return,result,\
     zip,postal,post,plz,country,area,region,product,produ,articl,artik,item,promo,discount,coupon,voucher,rabatt,gutschein,remise,order n,order c,bestell,commande,\
     pedido,zamow,source,color,colour,currency,language,tracking,flight,booking,buchung,reserv,customer,client,kunden,employee,member,\
     phone,telef,invoice,rechnung,bank,sort,branch,qr,bar,tax,dress,game,key,char,reason,cancel,ошибк,помилк,грешк,товар,индекс,заказ,город,стран,регион,σφαλμ,προιον,\
     خطا,خطأ,المنتج,البريد,שגיא,מוצר,त्रुटि,पिन कोड,ত্রুটি,错误,錯誤,邮政,郵遞,订单,商品,產品,产品,国家,エラー,商品,郵便,電話,注文,お客様,오류,우편,전화,주문,상품,ข้อผิด,สินค้า,ไปรษณ";
/// Words that tell somebody whose it is.
const YOURS: &str = "your ihr dein votre ton tu su seu sua tuo tua uw je din ditt twoj vas vaš tvoj tvuj ваш твой вашия senin あなた 您的 你的 당신";
/// How far another purpose stands from a code, in bytes.
const BESIDE: usize = 24;

static FOREIGN: LazyLock<Vec<&str>> = LazyLock::new(|| FOREIGN_CODES.split(',').collect());
static LATIN: LazyLock<Beginnings> = LazyLock::new(|| Beginnings::of(CODES, ','));
static FOR: LazyLock<Beginnings> = LazyLock::new(|| Beginnings::of(PURPOSES, ','));
static OF_YOURS: LazyLock<Beginnings> = LazyLock::new(|| Beginnings::of(YOURS, ' '));
static OTHER: LazyLock<Beginnings> = LazyLock::new(|| Beginnings::of(OTHERS, ','));

/// Beginnings of words by their first letter: few of them are compared.
pub(crate) struct Beginnings {
    latin: [Vec<&'static str>; 26],
    /// Those in other scripts may stand within a word.
    foreign: Vec<&'static str>,
}

impl Beginnings {
    pub(crate) fn of(words: &'static str, by: char) -> Self {
        let (mut latin, mut foreign) = ([const { Vec::new() }; 26], Vec::new());
        for word in words.split(by) {
            match latin.get_mut(usize::from(word.as_bytes()[0].wrapping_sub(b'a'))) {
                Some(alike) => alike.push(word),
                None => foreign.push(word),
            }
        }
        Self { latin, foreign }
    }

    /// Whether a word is one of them.
    pub(crate) fn has(&self, word: &str) -> bool {
        self.alike(word).contains(&word) || (!word.is_ascii() && self.foreign.contains(&word))
    }

    /// Those that begin with the letter of a word.
    fn alike(&self, word: &str) -> &[&'static str] {
        let first =
            word.as_bytes().first().map_or(usize::MAX, |c| usize::from(c.wrapping_sub(b'a')));
        self.latin.get(first).map_or(&[], Vec::as_slice)
    }

    /// Whether a word of a text begins so.
    fn are_in(&self, words: &str) -> bool {
        let (bytes, mut at) = (words.as_bytes(), 0);
        while at < bytes.len() {
            let alike = self.latin.get(usize::from(bytes[at].wrapping_sub(b'a')));
            let rest = &bytes[at..];
            if alike.is_some_and(|alike| alike.iter().any(|one| rest.starts_with(one.as_bytes()))) {
                return true;
            }
            at += rest.iter().position(|c| *c == b' ').map_or(rest.len(), |blank| blank + 1);
        }
        !words.is_ascii() && self.foreign.iter().any(|one| words.contains(one))
    }
}

/// Whether folded words speak of a code; `None` where they speak of another one.
pub(crate) fn speaks_of_code(words: &str) -> Option<bool> {
    let mut at = 0;
    let mut codes = words.split(' ').filter_map(|word| {
        let start = at;
        at += word.len() + 1;
        is_code(word).then_some(start..start + word.len())
    });
    let Some(code) = codes.next() else { return Some(false) };
    let last = codes.next_back().map_or(code.end, |last| last.end);
    let start = words.floor_char_boundary(code.start.saturating_sub(BESIDE));
    let end = words.ceil_char_boundary((last + BESIDE).min(words.len()));
    // It begins with a word.
    let start =
        if start > 0 { words[start..].find(' ').map_or(start, |blank| start + blank) } else { 0 };
    (!OTHER.are_in(&words[start.min(code.start)..end])).then_some(true)
}

/// Whether folded words tell somebody whose it is.
pub(crate) fn speaks_to_you(words: &str) -> bool {
    words.split(' ').any(|word| {
        OF_YOURS.has(word)
            || (!word.is_ascii() && OF_YOURS.foreign.iter().any(|one| word.contains(one)))
    })
}

/// Whether a folded word is a code, or begins or ends with one.
pub(crate) fn is_code(word: &str) -> bool {
    is_code_of_latin(word) || (!word.is_ascii() && FOREIGN.iter().any(|code| word.contains(code)))
}

/// The same where no blank parts words: not much may stand behind it.
pub(crate) fn ends_code(word: &str) -> bool {
    let is_last =
        |code: &&str| word.rfind(*code).is_some_and(|at| at + code.len() + 6 >= word.len());
    is_code_of_latin(word) || (!word.is_ascii() && FOREIGN.iter().any(is_last))
}

fn is_code_of_latin(word: &str) -> bool {
    let begins = LATIN.alike(word).iter().any(|code| match word.strip_prefix(code).map(str::len) {
        Some(0) => true,
        // `kodunuz`, `sifreniz`, `koden`; English puts one letter behind.
        Some(more) if matches!(*code, "code" | "pin" | "otp" | "cod") => {
            more == 1 && word.ends_with('s')
        }
        Some(more) => code.len() >= 3 && more <= 5,
        None => false,
    });
    // Most words are none by their last letter.
    let ends = || {
        matches!(word.as_bytes().last(), Some(b'd' | b'e' | b'i' | b'n'))
            && ENDS.iter().any(|end| word.len() > end.len() && word.ends_with(end))
            && !OTHER_ENDS.split(' ').any(|one| one == word)
    };
    begins || ends()
}

/// Whether folded words tell what a code is for.
pub(crate) fn has_purpose(words: &str) -> bool {
    FOR.are_in(words)
}
