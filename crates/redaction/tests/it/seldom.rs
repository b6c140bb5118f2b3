//! Rules for what comes seldom: what each hides, and what looks the same and stays.

use crate::redactor;

/// What a body shows.
fn body(text: &str, mime: Option<&str>) -> String {
    redactor().body(text, mime)
}

/// Each hides what stands in braces, and nothing else.
fn hides(mime: Option<&str>, texts: &[&str]) {
    for text in texts {
        let mut expected = String::new();
        let mut parts = text.split('⟦');
        expected.push_str(parts.next().unwrap());
        for part in parts {
            expected.push_str("[redacted]");
            expected.push_str(part.split_once('⟧').unwrap().1);
        }
        let plain = text.replace(['⟦', '⟧'], "");
        assert_eq!(body(&plain, mime), expected, "{text}");
    }
}

#[test]
fn settings_are_named_by_the_head_of_their_block() {
    hides(
        Some("application/yaml"),
        &[
            "kind: Secret\nstringData:\n  a: ⟦x y⟧\n  b: |\n    ⟦one⟧\n    ⟦two⟧\ntype: Opaque\n",
            "data:\n  tls.crt: ⟦bG9uZw==⟧\nkind: Secret\n---\nkind: ConfigMap\ndata:\n  colour: red\n",
            "kind: ConfigMap\ndata:\n  colour: red\n  size: big\n",
            "kind: SecretStore\ndata:\n  colour: red\n",
            "db:\n  password: ⟦|\n    one\n    two⟧\n  port: 1\n",
        ],
    );
    hides(
        None,
        &[
            "variable \"db_password\" {\n  description = \"no default = \\\"\"\n  default = \"⟦x⟧\"\n}\n",
            "variable \"region\" {\n  default = \"eu-west-1\"\n}\nvariable \"token\" {\n  type = string\n}\n",
        ],
    );
}

#[test]
fn keys_are_found_without_their_beginning() {
    hides(
        None,
        &[
            "⟦MIIEabcd+/\nqrstUVWX\n⟧-----END PRIVATE KEY-----\nnext\n",
            "MIIEabcd+/\nqrstUVWX\n-----END CERTIFICATE-----\nnext\n",
            "Comment: a\nPrivate-Lines: 2\n⟦AAAA\nBBBB⟧\nPrivate-MAC: 00\n",
            "⟦AKIAIOSFODNN7EXAMPLE⟧ and ⟦wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEYab⟧ in eu",
            "[1,2,3]",
        ],
    );
    let numbers: Vec<String> = (0..64).map(|number| (number * 3).to_string()).collect();
    assert_eq!(body(&format!("[{}]", numbers.join(",")), None), "[\"[redacted]\"]");
    let more = format!("[{},1]", numbers.join(", "));
    assert_eq!(body(&more, None), more, "another number of bytes is no key");
}

#[test]
fn values_stand_in_columns_below_their_names() {
    hides(
        Some("text/plain"),
        &[
            "NAME    TOKEN     AGE\nweb     ⟦abc⟧       3d\n        ⟦def⟧\n",
            "NAME    READY     AGE\nweb     1/1       3d\n",
            "Some words  about a password\nand more  words here\n",
        ],
    );
    hides(
        Some("application/json"),
        &[
            r#"{"columns":["id","token"],"rows":[[1,"⟦a⟧"],[2,"⟦b⟧"]]}"#,
            r#"{"fields":[{"name":"secret","type":"text"},{"name":"n"}],"data":[["⟦a⟧","b"]]}"#,
            r#"{"columns":["id","colour"],"rows":[[1,"red"]],"values":["a"]}"#,
            r#"{"columns":["id","token"],"other":[[1,"a"]]}"#,
        ],
    );
}

#[test]
fn values_are_named_by_what_stands_around_them_in_json() {
    hides(
        Some("application/json"),
        &[
            r#"{"value":"⟦x⟧","attributes":{"name":"password"}}"#,
            r#"{"attributes":{"name":"colour"},"value":"x"}"#,
            r##"{"selectors":[["#token"]],"value":"⟦k3J9xQ2mN8⟧"},{"selectors":[["#a"]],"value":"x"}"##,
            r#"{"sessions":{"⟦qzjxkvbwpfmtgrhs⟧":{"n":1}},"sessionCount":1}"#,
            r#"{"sessions":{"ada":{"n":1}},"settings":{"qzjxkvbwpfmtgrhs":{"n":1}}}"#,
            r#"{"lease_id":"","data":{"data":{"a":"⟦x⟧"}}}"#,
            r#"{"data":{"data":{"a":"x"}}}"#,
            r#"{"name":"a/secrets/b","payload":{"data":"⟦x⟧"}}"#,
            r#"{"name":"a/things/b","payload":{"data":"x"}}"#,
            r#"{"M1":"⟦k3J9xQ2mN8vB5zL1pW7tR4yH6sD0fG⟧","srp":6}"#,
            r#"{"M1":"Apple","A":"b"}"#,
            r#"{"prf":{"results":{"second":"⟦k3J9xQ2mN8vB5zL1pW7t⟧"}}}"#,
            r#"{"first":"k3J9xQ2mN8"}"#,
            r#"{"method":"call","params":["⟦9f86d081884c7d659a2feaa0c55ad015⟧","file","read"]}"#,
        ],
    );
}

#[test]
fn labels_name_what_people_give() {
    hides(
        Some("text/html"),
        &[
            "<label>Kennwort</label><input value=\"⟦hase⟧\" name=a><input value=b>",
            "<label>Kennwort</label><input type=submit value=\"Weiter\">",
            "<label>Token name</label><input value=\"first\">",
            "<th>Personal token</th><td>from settings</td>",
            "<th>주민등록번호</th><td>⟦880101-1234567⟧</td>",
            "<th>Secrets</th><td>12 of 2026-11-27</td>",
            "<methodCall><params><param><value>⟦qzjxkvbwpfmtgrhs⟧</value></param><param><value>7\
             </value></param></params></methodCall>",
        ],
    );
}

#[test]
fn places_in_an_address_tell() {
    let urls = [
        "https://hooks.a.test/hooks/catch/1/abcdefg",
        "https://hooks.a.test/docs/guide/getting-started",
        "https://a.test/v3/9f86d081884c7d659a2feaa0c55ad015",
        "https://a.test/v3/9f86d081884c7d659a2feaa0c55ad015/orders",
        "https://a.test/v3/projects/9f86d081884c7d659a2feaa0c55ad015",
        "https://a.test/live/ada/qzjxkvbwpfmtgrhs/7.ts",
        "https://a.test/videos/summer-holidays/7.ts",
        "https://a.test/form?act=changepw&p1=qzjxkvbwpfmtgrhs&lang=en",
        "https://a.test/form?act=list&p1=qzjxkvbwpfmtgrhs&lang=en",
    ];
    let shown: Vec<String> = urls.iter().map(|url| redactor().address(url)).collect();
    insta::assert_snapshot!(shown.join("\n"), @r#"
    https://hooks.a.test/hooks/catch/1/[redacted]
    https://hooks.a.test/docs/guide/getting-started
    https://a.test/v3/[redacted]
    https://a.test/v3/9f86d081884c7d659a2feaa0c55ad015/orders
    https://a.test/v3/projects/9f86d081884c7d659a2feaa0c55ad015
    https://a.test/live/ada/[redacted]/7.ts
    https://a.test/videos/summer-holidays/7.ts
    https://a.test/form?act=changepw&p1=[redacted]&lang=en
    https://a.test/form?act=list&p1=qzjxkvbwpfmtgrhs&lang=en
    "#);
}

#[test]
fn sentences_of_programs_and_their_colours() {
    let lines = [
        "Invalid prop \"apiKey\" of value \"abc\" supplied to \"Map\"",
        "Invalid prop \"size\" of value \"abc\" supplied to \"Map\"",
        "\u{1b}[1mtoken\u{1b}[0m = \u{1b}[33mabc\u{1b}[0m",
        "\u{1b}[32mready\u{1b}[0m in 3 s",
        "user\0ada\0password\0x\0database\0shop\0",
        "user\0ada\0database\0shop\0",
        "認証コードは 482913 です",
        "認証コードを入力してください 2026",
    ];
    let shown: Vec<String> = lines.iter().map(|line| redactor().line(line)).collect();
    insta::assert_snapshot!(shown.join("\n").replace('\0', "|").replace('\u{1b}', "^"), @r#"
    Invalid prop "apiKey" of value "[redacted]" supplied to "Map"
    Invalid prop "size" of value "abc" supplied to "Map"
    token = [redacted]
    ^[32mready^[0m in 3 s
    user|ada|password|[redacted]|database|shop|
    user|ada|database|shop|
    認証コードは [redacted] です
    認証コードを入力してください 2026
    "#);
    hides(
        Some("text/javascript"),
        &[
            "// login: ada / ⟦k3J9xQ2mN8⟧\nrun();",
            "// see k3J9xQ2mN8 / 4\nrun(\"login: ada / k3J9xQ2mN8\");",
            "var token = \"⟦a⟧\" + '⟦b⟧' + c; var page = \"a\" + \"b\";",
        ],
    );
}

#[test]
fn messages_of_sockets_are_known_by_their_places() {
    let messages = [
        "[5,\"oM795y32GuUyEAJD/KwWdyXZPud91Q==\",{}]",
        "[5,\"hello\",{}]",
        "[6,\"oM795y32GuUyEAJD\"]",
        "4.args,4.host,8.password;7.connect,1.a,3.abc;",
        "4.sync,8.12345678;5.mouse,2.10,2.20;",
        "4.args but no instruction",
    ];
    let shown: Vec<String> = messages.iter().map(|text| redactor().socket("1", text)).collect();
    insta::assert_snapshot!(shown.join("\n"), @r#"
    [5,"[redacted]",{}]
    [5,"hello",{}]
    [6,"oM795y32GuUyEAJD"]
    4.args,4.host,8.password;7.connect,1.a,10.[redacted];
    4.sync,8.12345678;5.mouse,2.10,2.20;
    4.args but no instruction
    "#);
}

#[test]
fn mangled_texts_are_read() {
    let wide: String = "{\"token\":\"abc\"}".chars().flat_map(|c| [c, '\0']).collect();
    assert_eq!(body(&wide, None), "{\"token\":\"[redacted]\"}");
    let harmless: String = "{\"page\":\"abc\"}".chars().flat_map(|c| [c, '\0']).collect();
    assert_eq!(body(&harmless, None), harmless);
    hides(
        Some("application/x-www-form-urlencoded"),
        &["a=1&pass%c1%b7ord=⟦x⟧", "a=1&page%C1%B7=x"],
    );
    hides(
        Some("application/json"),
        &["{\"contraseÃ±a\":\"⟦x⟧\"}", "{\"ciudadÃ±\":\"x\"}", "{\"Größe\":\"x\"}"],
    );
    hides(
        Some("text/plain"),
        &["Authorization: ⟦Basic YWRhOmsz⟧\n  ⟦SjlmUTJtTjh2QjV6TDE=⟧\nAccept: */*\n"],
    );
    assert_eq!(body("AAAAABwKCHBh", Some("application/grpc-web-text")), "[redacted]");
}
