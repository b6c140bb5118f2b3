//! What is hidden, and what stays around it.

use crate::redactor;
use baton_redaction::{Look, Names, ShownAddress, Weight, shown_title};

fn is_secret(name: &str) -> bool {
    Names::default().weigh(name) == Weight::Secret
}

#[test]
fn names_of_secrets_are_told_from_names_about_them() {
    let secret = [
        "password",
        "userPassword",
        "new_password",
        "X-Api-Key",
        "apikey",
        "access_token",
        "accessToken",
        "Authorization",
        "PHPSESSID",
        "JSESSIONID",
        "connect.sid",
        "sessionId",
        "client_secret",
        "csrf-token",
        "XSRF-TOKEN",
        "x-amz-security-token",
        "jwt",
        "otp",
        "credentials",
        "auth",
        "private_key",
        "SAMLResponse",
        "cardNumber",
        "cvv",
        "refresh_token",
        "id_token",
        "api.secret",
        "user[password]",
        "sig",
        "X-Amz-Signature",
        "tokens",
    ];
    for name in secret {
        assert!(is_secret(name), "{name}");
    }
    let other = [
        "",
        "name",
        "author",
        "authority",
        "passenger",
        "tokenizer",
        "token_type",
        "tokenType",
        "max_tokens",
        "total_tokens",
        "password_length",
        "passwordHint",
        "expires_in",
        "token_endpoint",
        "design",
        "signal",
        "keyboard",
        "monkey",
        "compass",
        "cookie_policy",
        "x-request-id",
        "etag",
        "content-type",
        "state",
        "code",
        "key",
        "page",
        "TokenError",
    ];
    for name in other {
        assert!(!is_secret(name), "{name}");
    }
    let mut names = Names::default();
    assert_eq!(names.weigh_in_address("code"), Weight::Secret);
    assert_eq!(names.weigh_in_address("STATE"), Weight::Secret);
}

#[test]
fn long_random_texts_are_told_from_words() {
    for random in [
        "dGhpcyBpcyBub3QgYSBzZWNyZXQ0Mg",
        "k3J9xQ2mN8vB5zL1pW7tR4yH6sD0fG",
        "9f86d081884c7d659a2feaa0c55ad015",
        "a7x2m9k4q8w3e6r1t5y0",
        "Zx9-Kp2_Lm5-Qr8_Tv1-Wy4",
    ] {
        assert!(Look::of(random) >= Look::Random, "{random}");
    }
    for plain in [
        "",
        "hello",
        "how-to-build-a-website-in-2026",
        "application/x-www-form-urlencoded",
        "550e8400-e29b-41d4-a716-446655440000",
        "20261122203051123",
        "/assets/main.3f2a9c8b7d6e.js",
        "main.3f2a9c8b7d6e5f4a9c.js",
        "getUserAccountInformation",
        "1.2.3-beta.4",
        "2026-11-22T20:30:51",
    ] {
        assert!(Look::of(plain) < Look::Random, "{plain}");
    }
}

#[test]
fn addresses_keep_their_shape() {
    let urls = [
        "https://a.test/items?page=2&sort=new&token=abc123",
        "https://ada:pw@a.test/in?next=%2Fhome%3Fcode%3D1&code=4711&state=&flag",
        "https://a.test/cb#access_token=abc&expires_in=3600&token_type=bearer",
        "https://a.test/#/reset?token=abc",
        "https://a.test/#section-2",
        "https://a.test/s3?X-Amz-Signature=abc&X-Amz-Expires=900&X-Amz-Credential=AKIA",
        "https://a.test/s?v=k3J9xQ2mN8vB5zL1pW7tR4yH6sD0fG",
        "https://a.test/reset-token/k3J9xQ2mN8vB5zL1pW7tR4yH6sD0fG/x",
        "https://a.test/p;jsessionid=ABC123?x=1",
        "https://a.test/u/507f1f77bcf86cd799439011",
        "https://a.test/v/eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln",
        "data:text/html,<b>secret</b>",
        "blob:https://a.test/550e8400-e29b-41d4-a716-446655440000",
        "",
    ];
    let redacted: Vec<String> = urls.iter().map(|url| redactor().address(url)).collect();
    insta::assert_snapshot!(redacted.join("\n"), @r"
    https://a.test/items?page=2&sort=new&token=[redacted]
    https://[redacted]@a.test/in?next=%2Fhome%3Fcode%3D[redacted]&code=[redacted]&state=&flag
    https://a.test/cb#access_token=[redacted]&expires_in=3600&token_type=bearer
    https://a.test/#/reset?token=[redacted]
    https://a.test/#section-2
    https://a.test/s3?X-Amz-Signature=[redacted]&X-Amz-Expires=900&X-Amz-Credential=[redacted]
    https://a.test/s?v=[redacted]
    https://a.test/reset-token/[redacted]/x
    https://a.test/p;jsessionid=[redacted]?x=1
    https://a.test/u/507f1f77bcf86cd799439011
    https://a.test/v/[redacted]
    data:[redacted]
    blob:https://a.test/550e8400-e29b-41d4-a716-446655440000
    ");
    for url in redacted {
        assert_eq!(redactor().address(&url), url, "twice is once");
    }
}

#[test]
fn headers_keep_their_shape() {
    let shown = [
        ("Authorization", "Bearer abc.def"),
        ("authorization", "abc"),
        ("Proxy-Authorization", "Basic YWRhOnB3"),
        ("Cookie", "sid=1; theme=dark; empty="),
        ("Set-Cookie", "sid=1; Path=/; HttpOnly\nb=2"),
        ("X-API-Key", "abc"),
        ("X-CSRF-Token", "abc"),
        ("Referer", "https://a.test/in?code=1&page=2"),
        ("Location", "/next?token=abc&x=1"),
        ("Link", "<https://a.test/?token=abc>; rel=next"),
        ("Sec-WebSocket-Protocol", "baton.v1, baton.ticket.k3J9xQ2mN8vB5zL1pW7tR4yH6sD0fG"),
        ("WWW-Authenticate", "Bearer realm=\"shop\""),
        ("Content-Type", "application/json; charset=utf-8"),
        ("ETag", "\"9f86d081884c7d659a2feaa0c55ad015\""),
        ("X-Forwarded", "for=1.2.3.4;token=abc"),
    ];
    let redacted: Vec<String> = shown
        .iter()
        .map(|(name, value)| format!("{name}: {}", redactor().header(name, value)))
        .collect();
    insta::assert_snapshot!(redacted.join("\n"), @r#"
    Authorization: Bearer [redacted]
    authorization: [redacted]
    Proxy-Authorization: Basic [redacted]
    Cookie: sid=[redacted]; theme=[redacted]; empty=
    Set-Cookie: sid=[redacted]; Path=/; HttpOnly
    b=[redacted]
    X-API-Key: [redacted]
    X-CSRF-Token: [redacted]
    Referer: https://a.test/in?code=[redacted]&page=2
    Location: /next?token=[redacted]&x=1
    Link: <https://a.test/?token=[redacted]>; rel=next
    Sec-WebSocket-Protocol: baton.v1, [redacted]
    WWW-Authenticate: Bearer realm="shop"
    Content-Type: application/json; charset=utf-8
    ETag: "9f86d081884c7d659a2feaa0c55ad015"
    X-Forwarded: for=1.2.3.4;token=[redacted]
    "#);
}

#[test]
fn json_stays_json_whole_or_cut_off() {
    let shown = [
        r#"{"user": "ada", "password": "hunter2", "n": 1.50, "tokens": ["a", 7, {"b": null}]}"#,
        r#"{"a":{"credentials":{"user":"x","deep":[true,"y"]}},"z":0}"#,
        r#"[{"name":"password","value":"x"},{"name":"city","value":"Ulm"}]"#,
        r#"{"body":"{\"token\":\"abc\",\"n\":1}","u":"https://a.test/?code=1&api_key=abc"}"#,
        r#"{"p\u0061ssword":"x","pin":1234}"#,
        r#"{"a":1,"access_token":"eyJhbGci"#,
        r#"{"a":1,"password":12"#,
        r#"{"access_token":"a"}{"access_token":"b"}"#,
        r#"{"usage":{"total_tokens":512},"token_type":"bearer","password":""}"#,
        "{]}[\"password\":\"x\"",
        "",
    ];
    let redacted: Vec<String> =
        shown.iter().map(|text| redactor().body(text, Some("application/json"))).collect();
    insta::assert_snapshot!(redacted.join("\n"), @r#"
    {"user": "ada", "password": "[redacted]", "n": 1.50, "tokens": ["[redacted]", "[redacted]", {"b": null}]}
    {"a":{"credentials":{"user":"[redacted]","deep":[true,"[redacted]"]}},"z":0}
    [{"name":"password","value":"[redacted]"},{"name":"city","value":"Ulm"}]
    {"body":"{\"token\":\"[redacted]\",\"n\":1}","u":"https://a.test/?code=[redacted]&api_key=[redacted]"}
    {"p\u0061ssword":"[redacted]","pin":"[redacted]"}
    {"a":1,"access_token":"[redacted]
    {"a":1,"password":"[redacted]"
    {"access_token":"[redacted]"}{"access_token":"[redacted]"}
    {"usage":{"total_tokens":512},"token_type":"bearer","password":""}
    {]}["password":"[redacted]"
    "#);
    for (before, after) in shown.iter().zip(&redacted) {
        assert_eq!(&redactor().body(after, Some("application/json")), after, "twice is once");
        let was_json = serde_json::from_str::<serde_json::Value>(before).is_ok();
        assert_eq!(serde_json::from_str::<serde_json::Value>(after).is_ok(), was_json, "{after}");
    }
}

#[test]
fn forms_keep_their_shape() {
    insta::assert_snapshot!(redactor().body("user=ada&password=a%26b&x=&remember=on", Some("application/x-www-form-urlencoded")), @"user=ada&password=[redacted]&x=&remember=on");
    let parts = "--b\r\nContent-Disposition: form-data; name=\"user\"\r\n\r\nada\r\n--b\r\n\
                 Content-Disposition: form-data; name=\"password\"\r\n\r\nhunter2\r\n--b--\r\n";
    insta::assert_snapshot!(redactor().body(parts, Some("multipart/form-data")).replace("\r\n", "|"), @r#"--b|Content-Disposition: form-data; name="user"||ada|--b|Content-Disposition: form-data; name="password"||[redacted]|--b--|"#);
}

#[test]
fn texts_lose_what_follows_a_name() {
    let shown = [
        "login as ada, password: hunter2, ok",
        "token=abc&page=2",
        "Authorization: Bearer abc.def then",
        "got eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln from server",
        "key=k3J9xQ2mN8vB5zL1pW7tR4yH6sD0fG done",
        "'api_key' => 'abc', \"secret\": \"a \\\" b\", x: 1",
        "postgres://ada:pw@db.test/shop",
        "<login><password>hunter2</password><user>ada</user></login>",
        "<meta name=\"csrf-token\" content=\"abc\"><input name=password value=hunter2>",
        "document.cookie = sid=1; theme=dark",
        "Uncaught TypeError: Cannot read properties of undefined at https://a.test/app.js:10:5",
        "Bearer authentication is needed; 12:30:45; state: open; code: 404",
        "X-Auth: Token abc def",
        "-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY----- after",
        "password=",
        "passwort: größe = ö",
    ];
    let redacted: Vec<String> =
        shown.iter().map(|text| redactor().line(text).replace('\n', "|")).collect();
    insta::assert_snapshot!(redacted.join("\n"), @r#"
    login as ada, password: [redacted], ok
    token=[redacted]&page=2
    Authorization: [redacted]
    got [redacted] from server
    key=[redacted] done
    'api_key' => '[redacted]', "secret": "[redacted]", x: 1
    postgres://[redacted]@db.test/shop
    <login><password>[redacted]</password><user>ada</user></login>
    <meta name="csrf-token" content="[redacted]"><input name=password value=[redacted]>
    document.cookie = [redacted]
    Uncaught TypeError: Cannot read properties of undefined at https://a.test/app.js:10:5
    Bearer authentication is needed; 12:30:45; state: open; code: 404
    X-Auth: [redacted]
    [redacted] after
    password=
    passwort: [redacted] = ö
    "#);
}

#[test]
fn a_body_is_read_as_what_it_is() {
    let shown = [
        (Some("application/json"), r#"{"password":"x"}"#),
        (None, r#"{"password":"x"}"#),
        (Some("application/x-www-form-urlencoded; charset=utf-8"), "password=x&a=1"),
        (None, "password=x&a=1"),
        (Some("text/javascript"), "var token = load(); const cfg = {apiKey: \"abc\", n: 1}"),
        (Some("text/event-stream"), "event: a\ndata: {\"token\":\"x\"}\n\n"),
        (Some("text/plain"), "{\"password\":\"x\"}"),
        (Some("application/json"), "no json, password: x"),
    ];
    let redacted: Vec<String> =
        shown.iter().map(|(mime, text)| redactor().body(text, *mime).replace('\n', "|")).collect();
    insta::assert_snapshot!(redacted.join("\n"), @r#"
    {"password":"[redacted]"}
    {"password":"[redacted]"}
    password=[redacted]&a=1
    password=[redacted]&a=1
    var token = load(); const cfg = {apiKey: "[redacted]", n: 1}
    event: a|data: {"token":"[redacted]"}||
    {"password":"[redacted]"}
    no json, password: [redacted]
    "#);
}

#[test]
fn words_before_passwords_are_found_at_the_end_of_others() {
    for (text, expected) in [
        ("SELECT encrypt('c0rrect7horse', 'aes')", "SELECT encrypt('[redacted]', 'aes')"),
        ("SET userpassword 'c0rrect7horse'", "SET userpassword '[redacted]'"),
        ("Read-AsSecureString \"c0rrect7horse\"", "Read-AsSecureString \"[redacted]\""),
    ] {
        assert_eq!(redactor().line(text), expected);
    }
}

#[test]
fn a_secret_goes_on_from_one_message_to_the_next() {
    let mut redactor = redactor();
    let mut says = |connection: &str, message: &str| redactor.socket(connection, message);
    assert_eq!(
        says("1", r#"{"user":"ada","password":"c0rrect"#),
        r#"{"user":"ada","password":"[redacted]"#
    );
    // Another connection goes on with its own.
    assert_eq!(says("2", r#"horse","n":1}"#), r#"horse","n":1}"#);
    assert_eq!(says("1", "Hor"), "[redacted]");
    assert_eq!(says("1", r#"se\"7","n":1}"#), r#"[redacted]","n":1}"#);
    assert_eq!(says("1", "ordinary words"), "ordinary words");
    // Behind its end is JSON like any other.
    assert_eq!(says("1", r#"{"token":"c0r"#), r#"{"token":"[redacted]"#);
    assert_eq!(
        says("1", r#"rect","password":"H0rse"}"#),
        r#"[redacted]","password":"[redacted]"}"#
    );
    // What is whole is another message.
    assert_eq!(says("1", r#"{"token":"c0r"#), r#"{"token":"[redacted]"#);
    assert_eq!(says("1", r#"{"title":"Shop"}"#), r#"{"title":"Shop"}"#);
    assert_eq!(says("1", "ordinary words"), "ordinary words");
}

#[test]
fn a_secret_of_any_grammar_goes_on_in_the_next_message() {
    let mut redactor = redactor();
    let mut says = |message: &str| redactor.socket("1", message);
    assert_eq!(says("user=ada&password=c0r"), "user=ada&password=[redacted]");
    assert_eq!(says("rect"), "[redacted]");
    assert_eq!(says("Horse&page=2"), "[redacted]&page=2");
    assert_eq!(says("ordinary words"), "ordinary words");

    assert_eq!(says("<user>ada</user><password>c0r"), "<user>ada</user><password>[redacted]");
    assert_eq!(says("rect</password><n>1</n>"), "[redacted]</password><n>1</n>");
    assert_eq!(says("ordinary words"), "ordinary words");

    assert_eq!(says(r#"{"user":"ada","password":"#), r#"{"user":"ada","password":"#);
    assert_eq!(says(r#" "c0rrect","n":1}"#), r#"[redacted],"n":1}"#);
    assert_eq!(says(r#"{"user":"ada","password": "#), r#"{"user":"ada","password": "#);
    assert_eq!(says(r#""c0r"#), "[redacted]");
    assert_eq!(says(r#"rect","n":1}"#), r#"[redacted]","n":1}"#);
    assert_eq!(says(r#"{"user":"#), r#"{"user":"#);
    assert_eq!(says(r#""ada","n":1}"#), r#""ada","n":1}"#);

    // A message that is none of a value is another one.
    assert_eq!(says("token=c0r"), "token=[redacted]");
    assert_eq!(says("ordinary words"), "ordinary words");
    assert_eq!(says("page=2&sort=name"), "page=2&sort=name");
}

#[test]
fn a_secret_over_two_lines_of_a_stream_is_hidden() {
    let mut redactor = redactor();
    for body in [
        "data: {\"user\":\"ada\",\"password\":\"c0r\ndata: rect\",\"n\":1}\n\n",
        "data: <password>c0r\ndata: rectHorse7</password>\n\n",
    ] {
        let shown = redactor.body(body, Some("text/event-stream"));
        assert!(!shown.contains("c0r") && !shown.contains("rect"), "{shown}");
    }
}

#[test]
fn what_is_deep_and_what_has_a_long_name_is_hidden() {
    let mut redactor = redactor();
    let name = format!("{}_password", "n".repeat(100_000));
    for deep in [
        format!("{}{{\"password\":\"c0rrect\"}}{}", "[".repeat(1_000), "]".repeat(1_000)),
        format!("{}\"c0rrect\"{}", "{\"password\":".repeat(1_000), "}".repeat(1_000)),
        format!("{}<password>c0rrect</password>{}", "<a>".repeat(1_000), "</a>".repeat(1_000)),
        format!("{{\"{name}\":\"c0rrect\"}}"),
        format!("page=2&{name}=c0rrect"),
        format!("<{name}>c0rrect</{name}>"),
    ] {
        let mime = deep.starts_with("<n").then_some("application/xml");
        let shown = redactor.body(&deep, mime);
        assert!(!shown.contains("c0rrect"), "{}", &shown[shown.len().saturating_sub(200)..]);
        assert!(shown.len() <= deep.len() + 1_000, "{} of {}", shown.len(), deep.len());
    }
    let shown = redactor.header(&name, "c0rrect");
    assert!(!shown.contains("c0rrect"), "{shown}");
}

#[test]
fn names_of_urdu_are_known() {
    let mut redactor = redactor();
    for name in ["پاس ورڈ", "پاسورڈ", "خفیہ_کوڈ"] {
        let shown = redactor.body(&format!("{{\"{name}\":\"c0rrect\"}}"), None);
        assert!(!shown.contains("c0rrect"), "{shown}");
    }
}

#[test]
fn what_was_a_secret_once_is_one_wherever_it_comes_again() {
    let mut redactor = redactor();
    let given = [
        ("k3J9xQ2mN8vB7pL4", "cookie"),
        ("Zt7Yw1Rf5Hc9Gd3S", "authorization"),
        ("Pq8Lm4Xn2Vb6Kj0W", "password"),
        ("Ub5Ea9Io3Tr7Ws1D", "answer"),
    ];
    for (secret, what) in given {
        let before = crate::redactor().line(&format!("it was {secret} again"));
        assert!(before.contains(secret), "{what} is hidden by more than by memory");
    }
    redactor.header("Cookie", &format!("sid={}", given[0].0));
    redactor.header("Authorization", &format!("Bearer {}", given[1].0));
    redactor.body(&format!("user=ada&password={}", given[2].0), None);
    redactor.body(&format!("{{\"access_token\":\"{}\"}}", given[3].0), None);
    for (secret, what) in given {
        let address = redactor.address(&format!("https://shop.test/at/{secret}/now?q={secret}"));
        let line = redactor.line(&format!("it was {secret} again"));
        let body = redactor.body(&format!("{{\"title\":\"of {secret} here\"}}"), None);
        for shown in [address, line, body] {
            assert!(!shown.contains(secret), "{what}: {shown}");
        }
    }
    // Only so many are remembered: the oldest goes first.
    for n in 0..1_024_u64 {
        let other = n.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(0x1234_5678_9abc_def1);
        redactor.header("Authorization", &format!("Bearer w{other:016x}Zq"));
    }
    let (first, last) = (given[0].0, given[3].0);
    assert!(redactor.line(&format!("it was {first} again")).contains(first));
    assert!(redactor.line(&format!("it was {last} again")).contains(last));
}

#[test]
fn a_secret_that_never_ends_hides_few_messages() {
    let mut redactor = redactor();
    redactor.socket("1", r#"{"token":"c0r"#);
    let hidden = (0..20).filter(|_| redactor.socket("1", "ping") == "[redacted]").count();
    assert_eq!(hidden, 8);
}

#[test]
fn a_shown_address_has_no_value_and_no_secret_of_its_path() {
    let shown = |url: &str| String::from(ShownAddress::of(url));
    for (url, expected) in [
        (
            "https://shop.test/items/17?page=2#top",
            "https://shop.test/items/17?page=[redacted]#[redacted]",
        ),
        (
            "https://shop.test/reset-password/k3J9xQ2mN8vB7pL4",
            "https://shop.test/reset-password/[redacted]",
        ),
        ("https://ada:pw@shop.test/a?x", "https://[redacted]@shop.test/a?[redacted]"),
        ("data:text/html,secret", "data:[redacted]"),
        (
            "https://shop.test/assets/main.3f2a9c8b7d6e5f4a.js",
            "https://shop.test/assets/main.3f2a9c8b7d6e5f4a.js",
        ),
    ] {
        assert_eq!(shown(url), expected);
        assert_eq!(shown(expected), expected, "shown once more");
    }
    assert_eq!(shown_title("token=k3J9xQ2mN8vB7pL4", "https://shop.test/"), "token=[redacted]");
    assert_eq!(
        shown_title("shop.test/a?x=1", "https://shop.test/a?x=1"),
        "shop.test/a?x=[redacted]"
    );
    assert_eq!(shown_title("Orders of 2026", "https://shop.test/"), "Orders of 2026");
}

#[test]
fn base64_is_looked_into() {
    use base64::Engine;
    let encoded = |bytes: &[u8]| base64::engine::general_purpose::STANDARD.encode(bytes);
    let text = encoded("{\"password\":\"größer\",\"n\":1}".as_bytes());
    let shown = |body: &str, mime| redactor().base64(body, mime);
    assert_eq!(shown(&text, None), ("{\"password\":\"[redacted]\",\"n\":1}".to_owned(), false));
    let cut = &text[..text.len() - 15];
    assert_eq!(shown(cut, None).0, "{\"password\":\"[redacted]", "cut within a character, too");
    let picture = encoded(&[0x89, b'P', b'N', b'G', 0xff, 0xfe]);
    assert_eq!(shown(&picture, Some("image/png")), (picture.clone(), true));
    assert_eq!(shown(&picture, Some("application/grpc")), ("[redacted]".to_owned(), false));
    assert_eq!(shown("no base64!", None), ("[redacted]".to_owned(), false));
}
