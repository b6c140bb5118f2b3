//! What it costs to compile a profile, and to read one, against giving the same to a browser.

use crate::report::{Comparison, Figure, Ratio, Section, median};
use anyhow::{Result, ensure};
use baton_browser::keeper::{self, BrowserSpec, KeeperCommand, KeeperSpec, Role};
use baton_browser::launch::{BrowserPlaces, LaunchOptions, find_browser};
use baton_browser::profile::at_rest::Instant as At;
use baton_browser::profile::compile;
use baton_browser::profile::compile::Times;
use baton_browser::profile::keyring::KeyringError;
use baton_browser::profile::read::{ProfileFolder, read};
use baton_browser::restore::restore;
use baton_session::cookie::Expiry;
use baton_session::{SessionId, State, StorageKey};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

pub(crate) const COOKIES: usize = 3000;
const ORIGINS: usize = 200;
const ITEMS: usize = 50;
/// Characters of each item: 11 MB in all.
const CHARACTERS: usize = 1100;
/// How often each is measured, in turn.
const ROUNDS: usize = 5;

/// Compiles, reads, and gives the same state to a browser over CDP.
pub async fn measure(baton: &Path) -> Result<Section> {
    let now = jiff::Timestamp::now().as_microsecond();
    let state = state(now);
    let (mut pairs, mut reads) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let folder = tempfile::tempdir()?;
        let profile = folder.path().join("profile");
        let start = Instant::now();
        let receipt = compile(&state, &profile, Times::at(At(now)))?;
        let compiled = milliseconds(start.elapsed());
        ensure!(!receipt.has_losses(), "expected all of it, found {:?}", receipt.losses().next());
        let start = Instant::now();
        let found = read(&ProfileFolder::find(&profile)?, &mut no_keyring, At(now));
        reads.push(milliseconds(start.elapsed()));
        ensure!(found.state.cookies.len() == COOKIES, "expected all cookies to be read");
        ensure!(found.state.origins == state.origins, "expected all items to be read");
        let injected = milliseconds(inject(baton, &state, now).await?);
        println!(
            "round {} of {ROUNDS}: compile {compiled:.1} ms, over CDP {injected:.0} ms",
            round + 1
        );
        pairs.push((compiled, injected));
    }
    Ok(section(&pairs, &reads))
}

fn no_keyring() -> Result<secrecy::SecretString, KeyringError> {
    Err(KeyringError::Locked)
}

/// A login at two hundred sites. Its texts are of letters that say nothing, and compress little.
pub(crate) fn state(now: i64) -> State {
    let mut state = State::default();
    for number in 0..COOKIES {
        let host = format!("host{}.test", number % ORIGINS);
        let cookie = serde_json::json!({
            "name": format!("cookie{number}"), "value": text(number, 40), "domain": host, "path": "/",
            "expires": now + 86_400_000_000, "secure": true, "httpOnly": number % 2 == 0,
            "sameSite": "Lax", "sourceScheme": "Secure", "sourcePort": 443,
        });
        state.cookies.extend(serde_json::from_value(cookie));
    }
    for origin in 0..ORIGINS {
        let key = StorageKey::new(format!("https://host{origin}.test/"));
        state.origins.entry(key).or_default().local_storage = (0..ITEMS)
            .map(|item| (format!("item {item}"), text(origin * ITEMS + item, CHARACTERS)))
            .collect();
    }
    state
}

fn text(seed: usize, length: usize) -> String {
    let mut number = seed as u64 + 1;
    let letters = (0..length).map(|_| {
        number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        char::from(b'a' + u8::try_from((number >> 33) % 26).unwrap_or_default())
    });
    letters.collect()
}

/// Gives the state to a browser that runs on an empty profile.
async fn inject(baton: &Path, state: &State, now: i64) -> Result<Duration> {
    let folder = tempfile::tempdir()?;
    let command = KeeperCommand {
        program: baton.to_owned(),
        args: vec!["keeper".into()],
        environment: BTreeMap::new(),
    };
    let inherited = ["HOME", "PATH", "TMPDIR"]
        .into_iter()
        .filter_map(|name| Some((name.to_owned(), std::env::var(name).ok()?)));
    let program = find_browser(None, &BrowserPlaces::on_path(std::env::var_os("PATH").as_deref()))?;
    let options = LaunchOptions {
        inherited: inherited.collect(),
        ..LaunchOptions::new(program, folder.path().join("profile"))
    };
    let spec = KeeperSpec {
        session: SessionId::new(jiff::Timestamp::now(), [7; 10]),
        socket: folder.path().join("keeper.sock"),
        browser: BrowserSpec::Launch(Box::new(options)),
        log: folder.path().join("keeper.log"),
        hold_until: None,
        prelude: Vec::new(),
        egress: None,
    };
    keeper::spawn(&command, &spec, None).await?;
    let link = keeper::connect(&spec.socket, Role::Node).await?;
    let restored = restore(link, state.clone(), Expiry(now), None).await;
    let end = keeper::connect(&spec.socket, Role::Node).await?;
    keeper::kill(&end.connection).await?;
    let restored = restored?;
    let lost = restored.receipt.losses().next();
    ensure!(lost.is_none(), "expected all of it, found {lost:?}");
    let filling = restored.timing.iter().filter(|(step, _)| *step != "tabs");
    Ok(filling.map(|(_, took)| *took).sum())
}

fn milliseconds(took: Duration) -> f64 {
    took.as_secs_f64() * 1e3
}

fn section(pairs: &[(f64, f64)], reads: &[f64]) -> Section {
    let compiled = median(pairs.iter().map(|pair| pair.0));
    let figure = |what: &str, found, aim| Figure { what: what.to_owned(), found, aim, unit: "ms" };
    Section {
        title: "A profile compiled",
        method: format!(
            "{COOKIES} cookies, {ORIGINS} origins with {ITEMS} localStorage items of {CHARACTERS} \
             characters (11 MB), {ROUNDS} times in turn. Compiled: from the state in memory to a whole \
             profile, synced and in its place. Read: back into a state. Over CDP: the same state given \
             to a browser that runs already, cookies in one call, localStorage by blank pages, all of \
             it read back."
        ),
        comparisons: vec![Comparison {
            what: "compiled / over CDP",
            ratio: Ratio::of(pairs),
            aim: 0.02,
            aim_is_for_the_bound: false,
        }],
        figures: vec![
            figure("compile", compiled, 60.0),
            figure("read", median(reads.iter().copied()), 40.0),
        ],
        medians: vec![(
            "over CDP".to_owned(),
            format!("{:.0} ms", median(pairs.iter().map(|pair| pair.1))),
        )],
        tables: Vec::new(),
    }
}
