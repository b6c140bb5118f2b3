//! Settings: what is typed becomes what it means, and nonsense is refused with its place.

use crate::fixture::Folder;
use baton_agents::sandboxes::Prepare;
use baton_net::connections::Bounds;
use baton_net::rates::RateLimits;
use baton_net::tls::Exposure;
use baton_server::config::{Choices, ConfigError, Settings};
use baton_session::Owner;
use baton_session::wire::NodeType;
use baton_sync::webhooks::Event;
use std::path::Path;
use std::time::Duration;

fn check(text: &str) -> Result<Choices, ConfigError> {
    let settings = Settings::parse(Path::new("/etc/baton.toml"), text)?;
    Choices::check("the file /etc/baton.toml", settings)
}

#[test]
fn a_file_may_set_everything() {
    let choices = check(
        r#"
        [server]
        listen = "127.0.0.1:0"
        behind_proxy = true
        published = "127.0.0.1:8420"
        allowed_hosts = ["baton.example.org", "[2001:db8::1]:7420"]
        [server.tls]
        certificate = "/etc/tls.crt"
        key = "/etc/tls.key"
        [node]
        type = "cloud"
        name = "office"
        publicUrl = "https://baton.example.org"
        internalUrl = "http://10.0.0.7:7420/"
        [storage]
        database_url = "postgres://baton:hunter2@db/baton"
        part_bytes = 1048576
        snapshot_parts = 100
        [browser]
        program = "/usr/bin/chromium"
        [recovery]
        session_snapshot_interval = 5
        max_session_age = 3600
        auto_rehydrate = true
        max_session_snapshots = 3
        capture_on_input = true
        lease = 10
        [metrics]
        listen = "127.0.0.1:9100"
        [limits]
        body_bytes = 2048
        connections = 100
        requests_per_minute = 60
        refused_keys_per_minute = 5
        "#,
    )
    .unwrap();
    assert_eq!(choices.listen.unwrap().to_string(), "127.0.0.1:0");
    assert!(!format!("{:?}", choices.database.unwrap()).contains("hunter2"));
    assert_eq!(choices.session_snapshot_interval, Some(Duration::from_secs(5)));
    assert_eq!(choices.max_session_age, Some(Duration::from_hours(1)));
    assert_eq!((choices.auto_rehydrate, choices.max_session_snapshots), (Some(true), Some(3)));
    assert_eq!(choices.capture_on_input, Some(true));
    assert_eq!(choices.lease, Some(Duration::from_secs(10)));
    assert_eq!((choices.part_bytes, choices.snapshot_parts), (Some(1 << 20), Some(100)));
    assert_eq!((choices.body_bytes, choices.metrics.unwrap().port()), (Some(2048), 9100));
    assert_eq!((choices.requests_per_minute, choices.connections), (Some(60), Some(100)));
    assert_eq!((choices.refused_keys_per_minute, choices.behind_proxy), (Some(5), Some(true)));
    assert_eq!(choices.published.unwrap().to_string(), "127.0.0.1:8420");
    assert_eq!(choices.allowed_hosts.unwrap().len(), 2);
    assert_eq!(choices.tls_key.unwrap(), Path::new("/etc/tls.key"));
    assert_eq!(
        (choices.node_type, choices.node_name),
        (Some(NodeType::Cloud), Some("office".into()))
    );
    assert_eq!(choices.public_url.unwrap().as_str(), "https://baton.example.org/");
    assert_eq!(choices.internal_url.unwrap().port(), Some(7420));
}

#[test]
fn a_node_that_says_nothing_of_itself_is_called_like_its_host() {
    let own = Folder::new().config().node;
    assert_eq!((own.node_type, own.public_url), (NodeType::Hosted, None));
    assert!(!own.name.is_empty());
}

#[test]
fn what_makes_no_sense_is_refused_with_its_place() {
    let texts = [
        "[recovery]\nsession_snapshot_interval = 0",
        "[recovery]\nmax_session_age = -5",
        "[recovery]\nmax_session_snapshots = 99999999999",
        "[recovery]\nlease = 1",
        "[recovery]\nauto_rehydrate = \"yes\"",
        "[recovery]\ncapture_on_input = \"sometimes\"",
        "[recovery]\nlease = 3601",
        "[recovery]\nlease = 2.5",
        "[recovery]\nintervall = 5",
        "[server]\nlisten = \"7420\"",
        "[server]\nallowed_hosts = [\"https://baton.example.org\"]",
        "[server]\nallowed_hosts = \"baton.example.org\"",
        "[server]\nallowed_hosts = [\"\"]",
        "[server]\nbehind_proxy = 1",
        "[server.tls]\ncertificates = \"tls.crt\"",
        "[server]\ntls = true",
        "[metrics]\nlisten = \"0.0.0.0:9100\"",
        "[limits]\nrequests_per_minute = 0",
        "[limits]\nrefused_keys_per_minute = -1",
        "[limits]\nbody_bytes = 1023",
        "[storage]\npart_bytes = 9999999999",
        "[storage]\nsnapshot_parts = 0",
        "[storage]\ndatabase_url = \"\"",
        "[recover]\nlease = 5",
        "[node]\ntype = \"server\"",
        "[node]\nname = \"\"",
        "[node]\npublicUrl = \"https://ada:hunter2@baton.example.org\"",
        "[node]\ninternalUrl = \"10.0.0.7:7420\"",
        "[node]\npublic_url = \"https://baton.example.org\"",
        "[storage]\ndatabase_url = \"mysql://root:hunter2@db/x\"",
        "[storage]\ndatabase_url = 5 # hunter2",
        "[sync]\ncloudUrl = \"baton.example.org\"",
        "[sync]\nautoRegisterCloud = \"yes\"",
        "[[webhooks]]\nurl = \"https://ada:hunter2@hooks.test/\"\nsecret_file = \"key\"",
        "[[webhooks]]\nurl = \"https://hooks.test/\"",
        "[[webhooks]]\nurl = \"https://hooks.test/\"\nsecret = \"whsec_hunter2\"",
        "[[webhooks]]\nurl = \"https://hooks.test/\"\nsecret_file = \"key\"\nevents = [\"session.gone\"]",
        "[[webhooks]]\nurl = \"https://hooks.test/\"\nsecret_file = \"key\"\nevents = []",
        "[gateway]\nlimit = 0",
        "[gateway.upstream]\nurl = \"https://ada:hunter2@models.example.org\"\nmodel = \"large\"",
        "[gateway.upstream]\nurl = \"https://models.example.org\"\nmodel = \"large\"\nturns = 0",
        "[[gateway.agents]]\nname = \"an agent\"\ncommand = [\"true\"]",
        "[[gateway.agents]]\nname = \"baseline-cli-agent\"\ncommand = [\"true\"]",
        "[[gateway.agents]]\nname = \"agent\"\ncommand = []",
        "[[gateway.agents]]\nname = \"agent\"\ncommand = [\"true\"]\nprompt = \"mail\"",
        "[storage",
    ];
    let errors: Vec<String> =
        texts.iter().map(|text| check(text).map(drop).unwrap_err().to_string()).collect();
    let errors = errors.join("\n");
    assert!(!errors.contains("hunter2"), "a password is not repeated");
    insta::assert_snapshot!(errors, @r#"
    the file /etc/baton.toml: expected recovery.session_snapshot_interval to be a number from 1 to 316224000, found 0
    the file /etc/baton.toml: expected recovery.max_session_age to be a number from 1 to 316224000, found -5
    the file /etc/baton.toml: expected recovery.max_session_snapshots to be a number from 1 to 100000, found 99999999999
    the file /etc/baton.toml: expected recovery.lease to be a number from 2 to 3600, found 1
    expected valid settings in /etc/baton.toml at line 2, found: invalid type: string "yes", expected a boolean
    expected valid settings in /etc/baton.toml at line 2, found: invalid type: string "sometimes", expected a boolean
    the file /etc/baton.toml: expected recovery.lease to be a number from 2 to 3600, found 3601
    expected valid settings in /etc/baton.toml at line 2, found: invalid type: floating point `2.5`, expected a whole number
    expected valid settings in /etc/baton.toml at line 2, found: unknown field `intervall`, expected one of `session_snapshot_interval`, `max_session_age`, `auto_rehydrate`, `max_session_snapshots`, `capture_on_input`, `lease`
    the file /etc/baton.toml: expected server.listen to be an address with a port such as 127.0.0.1:7420, found 7420
    the file /etc/baton.toml: expected server.allowed_hosts to be names such as baton.example.org, each with or without a port, found "https://baton.example.org"
    expected valid settings in /etc/baton.toml at line 2, found: invalid type: string "baton.example.org", expected a list
    the file /etc/baton.toml: expected server.allowed_hosts to be names such as baton.example.org, each with or without a port, found ""
    expected valid settings in /etc/baton.toml at line 2, found: invalid type: integer `1`, expected a boolean
    expected valid settings in /etc/baton.toml at line 2, found: unknown field `certificates`, expected `certificate` or `key`
    expected valid settings in /etc/baton.toml at line 2, found: invalid type: boolean `true`, expected a table
    the file /etc/baton.toml: expected metrics.listen to be a loopback address such as 127.0.0.1:9100, found 0.0.0.0:9100
    the file /etc/baton.toml: expected limits.requests_per_minute to be a number from 1 to 1000000, found 0
    the file /etc/baton.toml: expected limits.refused_keys_per_minute to be a number from 1 to 1000000, found -1
    the file /etc/baton.toml: expected limits.body_bytes to be a number from 1024 to 1073741824, found 1023
    the file /etc/baton.toml: expected storage.part_bytes to be a number from 1024 to 4294967296, found 9999999999
    the file /etc/baton.toml: expected storage.snapshot_parts to be a number from 1 to 1000000, found 0
    the file /etc/baton.toml: expected storage.database_url to be a path or "postgres://user@host/database", found nothing
    expected valid settings in /etc/baton.toml at line 1, found: unknown field `recover`, expected one of `server`, `node`, `cluster`, `sync`, `outbound`, `auth`, `storage`, `browser`, `recovery`, `metrics`, `limits`, `proxy`, `debug`, `cocoons`, `sandboxes`, `gateway`, `people`, `webhooks`, `quotas`
    the file /etc/baton.toml: expected node.type to be cloud or hosted, found "server"
    the file /etc/baton.toml: expected node.name to be 1 to 64 characters that can be shown, without spaces around them, found ""
    the file /etc/baton.toml: expected node.publicUrl to be an address such as https://baton.example.org, without a path, a query or a user, found something else
    the file /etc/baton.toml: expected node.internalUrl to be an address such as https://baton.example.org, without a path, a query or a user, found something else
    expected valid settings in /etc/baton.toml at line 2, found: unknown field `public_url`, expected one of `type`, `name`, `publicUrl`, `internalUrl`
    the file /etc/baton.toml: expected storage.database_url to be a path or "postgres://user@host/database", found the scheme "mysql"
    expected valid settings in /etc/baton.toml at line 2, found: invalid type: integer `5`, expected a string
    the file /etc/baton.toml: expected sync.cloudUrl to be an address such as https://baton.example.org, without a path, a query or a user, found something else
    expected valid settings in /etc/baton.toml at line 2, found: invalid type: string "yes", expected a boolean
    the file /etc/baton.toml: expected webhooks.url to be an http or https address without a user, found another text
    the file /etc/baton.toml: expected webhooks.secret to be set, or webhooks.secret_file, found none of them
    the file /etc/baton.toml: expected webhooks.secret to be whsec_ and 24 to 64 bytes in base64, found another text
    the file /etc/baton.toml: expected webhooks.events to be one or more of session.new, session.changed and session.conflict, found "session.gone"
    the file /etc/baton.toml: expected webhooks.events to be one or more of session.new, session.changed and session.conflict, found none
    the file /etc/baton.toml: expected gateway.limit to be a number from 1 to 86400, found 0
    the file /etc/baton.toml: expected gateway.upstream.url to be an http or https address without a user, found another text
    the file /etc/baton.toml: expected gateway.upstream.turns to be a number from 1 to 1000, found 0
    the file /etc/baton.toml: expected gateway.agents.name to be 1 to 63 letters, digits, '-', '.' or '_', found "an agent"
    the file /etc/baton.toml: expected gateway.agents.name to be a name that no other agent has, found baseline-cli-agent
    the file /etc/baton.toml: expected gateway.agents.command to be a program and its arguments, found nothing
    the file /etc/baton.toml: expected gateway.agents.prompt to be argument, stdin or file, found "mail"
    expected valid settings in /etc/baton.toml at line 1, found: unclosed table, expected `]`
    "#);
}

#[test]
fn of_a_bus_nobody_is_named_in_its_address() {
    let texts = [
        "[cluster]\nbus_url = \"10.0.0.9:4222\"",
        "[cluster]\nbus_url = \"nats://10.0.0.9:4222, https://10.0.0.10\"",
        "[cluster]\nbus_url = \"nats://ada:hunter2@10.0.0.9:4222\"",
        "[cluster]\nbus_url = \"tls://bus.example.org/shop\"",
        "[cluster]\nbus_urls = \"nats://10.0.0.9:4222\"",
    ];
    let errors = texts.map(|text| check(text).map(drop).unwrap_err().to_string()).join("\n");
    assert!(!errors.contains("hunter2"), "a password is not repeated");
    insta::assert_snapshot!(errors, @r"
    the file /etc/baton.toml: expected cluster.bus_url to be 1 to 16 addresses such as nats://10.0.0.9:4222 or tls://bus.example.org, separated by commas, found something else
    the file /etc/baton.toml: expected cluster.bus_url to be 1 to 16 addresses such as nats://10.0.0.9:4222 or tls://bus.example.org, separated by commas, found an address of another kind
    the file /etc/baton.toml: expected cluster.bus_url to be 1 to 16 addresses such as nats://10.0.0.9:4222 or tls://bus.example.org, separated by commas, found a user in one; whoever sees settings would know it: put it into the file of cluster.bus_credentials
    the file /etc/baton.toml: expected cluster.bus_url to be 1 to 16 addresses such as nats://10.0.0.9:4222 or tls://bus.example.org, separated by commas, found one without a host, or with a path or a query
    expected valid settings in /etc/baton.toml at line 2, found: unknown field `bus_urls`, expected one of `name`, `bus_url`, `bus_credentials`, `bus_ca`, `labels`, `failover`, `drain`
    ");
}

#[test]
fn of_a_browser_only_what_is_not_batons_own_is_set() {
    let texts = [
        "[browser]\nsandbox = \"on\"",
        "[browser]\negress = \"never\"",
        "[browser]\nprivate_hosts = [\"intranet.example\"]",
        "[[browser.proxies]]\nurl = \"http://al:hunter2@proxy\"",
        "[[browser.proxies]]\nurl = \"http://proxy\"\ncredentials = \"hunter2\"",
        "[[browser.proxies]]\nurl = \"http://proxy\"",
        "[browser]\nargs = [\"https://hunter2.test\"]",
        "[browser]\nargs = [\"--mute-audio\", \"--remote-debugging-port=9222\"]",
    ];
    let errors = texts.map(|text| check(text).map(drop).unwrap_err().to_string()).join("\n");
    insta::assert_snapshot!(errors, @r#"
    the file /etc/baton.toml: expected browser.sandbox to be auto or off, found "on"
    the file /etc/baton.toml: expected browser.egress to be asked or always, found "never"
    the file /etc/baton.toml: expected browser.private_hosts to be localhost, addresses or networks such as 10.1.0.0/16, perhaps with a port, found "intranet.example"
    the file /etc/baton.toml: expected browser.proxies.url to be http://HOST:PORT, https:// or socks5:// without a user, found another text
    the file /etc/baton.toml: expected browser.proxies.credentials to be USER:PASSWORD, each 1 to 255 bytes, found another text
    the file /etc/baton.toml: expected browser.proxies.credentials to be set, or browser.proxies.credentials_file, found none of them
    the file /etc/baton.toml: expected browser.args to be switches of Chromium such as --mute-audio, found another text
    the file /etc/baton.toml: expected browser.args to be switches that are not Baton's own, found --remote-debugging-port=9222: the browser is spoken to by its keeper alone
    "#);
}

#[test]
fn an_address_that_others_can_reach_takes_a_certificate_or_a_proxy() {
    let exposed = |text: &str| {
        let config = Folder::new().config_with(check(text).unwrap());
        config.map(|config| config.exposure).map_err(|error| error.to_string())
    };
    let everywhere = "[server]\nlisten = \"0.0.0.0:7420\"\n";
    let tls = "[server.tls]\ncertificate = \"a\"\nkey = \"b\"";
    assert!(exposed(&format!("{everywhere}behind_proxy = true")).unwrap().behind_proxy);
    assert!(exposed(&format!("{everywhere}{tls}")).unwrap().tls.is_some());
    assert_eq!(exposed("[server]\nlisten = \"[::1]:0\"").unwrap(), Exposure::default());
    let refused = [
        exposed(everywhere).unwrap_err(),
        exposed("[server.tls]\ncertificate = \"a\"").unwrap_err(),
        exposed("[server.tls]\nkey = \"a\"").unwrap_err(),
    ];
    insta::assert_snapshot!(refused.join("\n"), @r"
    expected server.listen to be a loopback address such as 127.0.0.1:7420, found 0.0.0.0:7420
    other machines could read keys and cookies in clear text: set server.tls, or server.behind_proxy when a proxy in front of the node speaks TLS
    in a container, server.published names where its host shows it to itself alone
    expected both server.tls.certificate and server.tls.key, found only server.tls.certificate
    expected both server.tls.certificate and server.tls.key, found only server.tls.key
    ");
}

#[test]
fn profiles_are_prepared_once_a_sandbox_was_made_unless_the_file_says_otherwise() {
    let of = |text| check(text).unwrap().sandboxes.unwrap().prepare;
    assert_eq!(of("[sandboxes]\nmost = 1"), Prepare::Used);
    assert_eq!(of("[sandboxes]\nprepare = \"always\""), Prepare::Always);
    assert_eq!(of("[sandboxes]\nprepare = \"never\""), Prepare::Never);
    let error = check("[sandboxes]\nprepare = \"now\"").err().unwrap();
    insta::assert_snapshot!(error, @r#"the file /etc/baton.toml: expected sandboxes.prepare to be never, used or always, found "now""#);
}

#[test]
fn flags_win_over_the_file() {
    let written = check("[recovery]\nsession_snapshot_interval = 5\nmax_session_age = 60").unwrap();
    let typed = check("[recovery]\nsession_snapshot_interval = 7").unwrap();
    let both = typed.or(written);
    assert_eq!(both.session_snapshot_interval, Some(Duration::from_secs(7)));
    assert_eq!(both.max_session_age, Some(Duration::from_mins(1)));
}

#[test]
fn tokens_are_taken_only_of_those_that_are_named() {
    let whole = "tenant = \"t1\"\naudience = [\"api://baton\"]\nallowed_clients = [\"c\"]\n";
    let oidc = |lines: &str| {
        check(&format!("[auth.oidc]\n{lines}")).map(|found| found.oidc.unwrap().nodes.unwrap())
    };
    let taken = oidc(whole).unwrap();
    assert_eq!(taken.issuer.as_str(), "https://login.microsoftonline.com/t1/v2.0");
    assert_eq!((taken.owner, taken.roles), (Owner::local(), Vec::new()));
    let mut refused = Vec::new();
    for lines in [
        whole.replace("tenant = \"t1\"", ""),
        whole.replace("\"t1\"", "\"../t1\""),
        whole.replace("[\"c\"]", "[]"),
        whole.replace("[\"c\"]", "[\"\"]"),
        whole.replace("audience = [\"api://baton\"]", ""),
        format!("issuer = \"https://ada:s3cret@id.test\"\n{whole}"),
        format!("{whole}leeway = 301"),
        format!("{whole}owner = \"not an owner\""),
    ] {
        refused.push(oidc(&lines).unwrap_err().to_string());
    }
    insta::assert_snapshot!(refused.join("\n"), @r#"
    the file /etc/baton.toml: expected auth.oidc.issuer to be an address, or auth.oidc.tenant to be set, found nothing
    the file /etc/baton.toml: expected auth.oidc.tenant to be the id of a tenant, found "../t1"
    the file /etc/baton.toml: expected auth.oidc.allowed_clients to be a list of one or more, found none
    the file /etc/baton.toml: expected auth.oidc.allowed_clients to be a list of texts, found an empty one
    the file /etc/baton.toml: expected auth.oidc.audience to be a list of one or more, found none
    the file /etc/baton.toml: expected auth.oidc.issuer to be an http or https address without a user, found another text
    the file /etc/baton.toml: expected auth.oidc.leeway to be a number from 0 to 300, found 301
    the file /etc/baton.toml: expected auth.oidc.owner to be the name of an owner, found "not an owner"
    "#);
}

#[test]
fn people_come_in_by_rules_that_say_what_they_may() {
    let whole = "issuer = \"https://id.test/realm\"\n[auth.oidc.people]\nclient_id = \"baton\"\n\
                 rules = [{ claim = \"groups\", value = \"shop\", owner = \"shop\", scopes = [\"read\"] }]\n";
    let oidc =
        |lines: &str| check(&format!("[auth.oidc]\n{lines}")).map(|found| found.oidc.unwrap());
    let found = oidc(whole).unwrap();
    assert!(found.nodes.is_none(), "no node shows a token where people alone come");
    let people = found.people.unwrap();
    assert_eq!((people.name.as_str(), people.client_secret.is_none()), ("id.test", true));
    assert_eq!(
        (people.scopes, people.lasts),
        (vec!["profile".to_owned(), "email".to_owned()], Duration::from_hours(12))
    );
    let both = whole.replace("[auth", "audience = [\"a\"]\nallowed_clients = [\"c\"]\n[auth");
    assert!(oidc(&both).unwrap().nodes.is_some());
    let mut refused = Vec::new();
    for lines in [
        whole.replace("client_id = \"baton\"", ""),
        whole.replace("[{ claim", "[] # [{ claim"),
        whole.replace("\"groups\"", "\"\""),
        whole.replace("\"shop\", scopes", "\"not an owner\", scopes"),
        whole.replace("[\"read\"]", "[]"),
        whole.replace("[\"read\"]", "[\"read\", \"root\"]"),
        format!("{whole}client_secret = \"s3cret\"\nclient_secret_file = \"/etc/s\""),
        format!("{whole}lasts = 43201"),
        format!("{whole}name = \"{}\"", "x".repeat(201)),
        both.replace("allowed_clients = [\"c\"]", ""),
    ] {
        refused.push(oidc(&lines).unwrap_err().to_string());
    }
    insta::assert_snapshot!(refused.join("\n"), @r#"
    the file /etc/baton.toml: expected auth.oidc.people.client_id to be a text of 1 to 200 characters on one line, found nothing
    the file /etc/baton.toml: expected auth.oidc.people.rules to be a list of 1 to 100, found 0
    the file /etc/baton.toml: expected auth.oidc.people.rules.claim to be a text of 1 to 200 characters on one line, found nothing
    the file /etc/baton.toml: expected auth.oidc.people.rules.owner to be the name of an owner, found "not an owner"
    the file /etc/baton.toml: expected auth.oidc.people.rules.scopes to be a list of one or more, found none
    the file /etc/baton.toml: expected auth.oidc.people.rules.scopes to be of read, drive, reveal, watch, sync, sandbox, debug, browser, admin, found "root"
    the file /etc/baton.toml: expected auth.oidc.people.client_secret to be left out beside auth.oidc.people.client_secret_file, found both
    the file /etc/baton.toml: expected auth.oidc.people.lasts to be a number from 60 to 43200, found 43201
    the file /etc/baton.toml: expected auth.oidc.people.name to be a text of 1 to 200 characters on one line, found 201 characters
    the file /etc/baton.toml: expected auth.oidc.allowed_clients to be a list of one or more, found none
    "#);
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let error = Settings::read(Path::new("/nowhere/baton.toml")).err().unwrap();
    assert!(error.to_string().starts_with("expected a settings file at /nowhere/baton.toml"));
}

#[test]
fn the_reference_is_a_valid_file_that_sets_everything() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/configuration.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (_, rest) = page.split_once("```toml\n").unwrap();
    let (file, _) = rest.split_once("```").unwrap();
    let choices = check(file).unwrap();
    assert!(
        choices.listen.is_some() && choices.database.is_some() && choices.browser.program.is_some()
    );
    let browser = &choices.browser;
    assert!(browser.private_hosts.is_some() && browser.egress_always.is_some());
    assert_eq!(browser.proxies.as_ref().map(Vec::len), Some(1));
    assert!(choices.part_bytes.is_some() && choices.snapshot_parts.is_some());
    assert!(choices.session_snapshot_interval.is_some() && choices.max_session_age.is_some());
    assert!(choices.auto_rehydrate.is_some() && choices.max_session_snapshots.is_some());
    assert!(choices.metrics.is_some() && choices.body_bytes.is_some());
    let redaction = choices.redaction.unwrap();
    assert_eq!(
        (redaction.names[0].as_str(), redaction.allow[0].as_str()),
        ("order_ref", "token_kind")
    );
    assert!(choices.behind_proxy.is_some() && choices.allowed_hosts.is_some());
    assert!(choices.tls_certificate.is_some() && choices.tls_key.is_some());
    let oidc = choices.oidc.unwrap();
    assert_eq!(oidc.nodes.unwrap().leeway, Duration::from_secs(30));
    let people = oidc.people.unwrap();
    assert_eq!((people.leeway, people.rules.len()), (Duration::from_secs(30), 2));
    assert!(people.client_secret.is_some() && people.lasts == Duration::from_hours(12));
    assert!(choices.cloud_url.is_some() && choices.auto_register_cloud.is_some());
    let [hook] = choices.webhooks.unwrap().try_into().unwrap();
    assert_eq!((hook.events, hook.owner), (Event::ALL.into(), Owner::local()));
    let proxy = choices.proxy.settle(&Owner::local());
    assert!(proxy.listen.is_some() && proxy.host.is_some() && proxy.services.len() == 1);
    assert_eq!(proxy.services[0].browser_debug.exclude_paths, ["/health"]);
    let rates = RateLimits::default();
    assert_eq!(choices.connections, Some(Bounds::default().connections));
    assert_eq!(choices.requests_per_minute, Some(rates.requests_per_minute));
    assert_eq!(choices.refused_keys_per_minute, Some(rates.refused_keys_per_minute));
}

#[test]
fn a_quota_is_of_one_owner_or_of_all_others() {
    let text = "[[quotas]]\nsessions = 3\n[[quotas]]\nowner = \"shop\"\nbrowsers = 0";
    let quotas = check(text).unwrap().quotas.unwrap();
    let of = |owner: &str| quotas.of(&owner.parse().unwrap());
    assert_eq!((of("bank").sessions, of("bank").browsers), (Some(3), None));
    assert_eq!((of("shop").sessions, of("shop").browsers), (None, Some(0)));
    let refused = [
        "[[quotas]]\nowner = \"no owner\"",
        "[[quotas]]\nbrowsers = -1",
        "[[quotas]]\nowner = \"shop\"\n[[quotas]]\nowner = \"shop\"",
        "[[quotas]]\nbrowser = 1",
    ];
    let refused = refused.map(|text| check(text).map(drop).unwrap_err().to_string()).join("\n");
    insta::assert_snapshot!(refused, @r#"
    the file /etc/baton.toml: expected quotas.owner to be an owner's name, found "no owner"
    the file /etc/baton.toml: expected quotas.browsers to be a number from 0 to 9223372036854775807, found -1
    the file /etc/baton.toml: expected quotas.owner to be each owner once, and once none, found one twice
    expected valid settings in /etc/baton.toml at line 2, found: unknown field `browser`, expected one of `owner`, `sessions`, `browsers`, `sandboxes`, `stored_bytes`
    "#);
}
