//! `cargo xtask soak`: the long versions of the stories in which processes are killed and nodes sync,
//! walks over all verbs of a session by the ten thousand, more states and damage made at random, the
//! stories of disks that fail, the extension in a real VS Code, and the fuzz targets.
//!
//! The first are the same tests that `cargo xtask test` runs, in the same build, with more rounds; each
//! reads their number from `BATON_SOAK_ROUNDS`. The others mount disks of their own, so only root can
//! run them: for anybody else they say that they were skipped.

use crate::test::nextest;
use crate::test::tally::Tally;
use crate::{fuzz, setup, vscode};
use anyhow::{Result, ensure};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Kill browsers, keepers, nodes and commands at random moments, many times, and check that nothing
/// acknowledged is lost. Let nodes sync in every order. Make states at random and carry them, and
/// damage profiles at random. Then fill and break the disk, and drive the extension in a real VS Code.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// How many times browser, keeper and node are killed and brought back; the other stories take a
    /// smaller part of it.
    #[arg(long, default_value_t = 320, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,

    /// For how many minutes each fuzz target runs; 0 for not at all.
    #[arg(long, default_value_t = 10)]
    fuzz_minutes: u64,

    /// Only run what has one of these in its name: `fuzz`, `fuzz::leveldb`, `walks::`, `kills`.
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,

    /// Only put what fuzz targets found so far into the corpus that is committed, made small.
    #[arg(long)]
    keep_corpus: bool,
}

/// A story: the package of its test, the test's full name, and the part of the rounds that it takes.
/// One that knows no rounds takes no heed of them.
struct Story(&'static str, &'static str, u32);

const STORIES: [Story; 38] = [
    Story(
        "baton-session",
        "revisions::simulation::nodes_that_have_met_agree_and_nothing_is_lost",
        1,
    ),
    Story("baton-session", "revisions::parts::nodes_that_see_a_part_remove_nothing_else", 2),
    Story(
        "baton-server",
        "sync::simulation::real_nodes_that_have_met_agree_and_nothing_is_lost",
        1,
    ),
    Story(
        "baton-server",
        "sync::folder::nodes_that_share_a_directory_have_everything_and_come_to_rest",
        4,
    ),
    Story(
        "baton-server",
        "hostile::crowds::five_thousand_of_every_slow_kind_keep_no_good_key_out",
        u32::MAX,
    ),
    Story("baton-walk", "walks::nodes_with_a_database_each_keep_what_they_promise", 1),
    Story("baton-walk", "walks::nodes_that_share_a_database_keep_what_they_promise", 1),
    Story("baton", "walk::real_nodes_with_a_database_each_keep_what_they_promise", 3),
    Story("baton-walk", "cluster::nodes_of_a_cluster_keep_what_they_promise", 1),
    Story("baton", "walk::real_nodes_that_share_a_database_keep_what_they_promise", 3),
    Story("baton", "walk::real_nodes_of_a_cluster_keep_what_they_promise", 3),
    Story("baton", "kills::what_was_acknowledged_survives_every_kill", 1),
    Story("baton", "cut_off::a_transfer_survives_every_kill_and_is_seen_whole_or_not_at_all", 3),
    Story("baton", "takeover::a_session_never_has_two_holders", 8),
    Story("baton", "states::whatever_sites_keep_comes_back_here_and_elsewhere", 16),
    Story("baton", "cli::backup::a_restore_that_is_killed_leaves_nothing_half", 8),
    Story(
        "baton",
        "cli::backup::a_restore_by_force_that_is_killed_leaves_the_old_folder_or_the_new_one",
        8,
    ),
    Story("baton", "cli::backup::a_backup_that_is_killed_leaves_the_older_one", 8),
    Story(
        "baton-store",
        "migrating::a_process_killed_while_it_migrates_leaves_a_database_that_opens",
        8,
    ),
    Story(
        "baton-browser",
        "profiles::mutated::whatever_happens_to_a_profile_it_is_read_or_told",
        1,
    ),
    Story(
        "baton-browser",
        "ways::by_its_switches_alone_a_fenced_browser_goes_out_where_an_extension_says_so",
        u32::MAX,
    ),
    Story("baton-browser", "ways::a_fenced_browser_with_windows_goes_no_way_out", u32::MAX),
    Story("baton-browser", "ways::a_fenced_browser_of_root_goes_no_way_out", u32::MAX),
    Story(
        "baton-browser",
        "ways::a_fenced_browser_of_an_ordinary_user_with_windows_goes_no_way_out",
        u32::MAX,
    ),
    Story("baton", "mcp::twenty_clients_hear_their_own_answers", 1),
    Story("baton", "extension::idle::a_link_outlives_a_time_in_which_nothing_happens", 32),
    Story("baton-federation", "processes::writers_that_are_killed_lose_nothing", 1),
    Story("baton-sandbox", "leaks::many_sandboxes_come_and_go_and_leave_nothing", 1),
    Story("baton", "sandboxes::leaks::many_sandboxes_leave_nothing_behind", 1),
    Story(
        "baton",
        "sandboxes::firebase::a_login_in_a_database_comes_back_goes_into_a_sandbox_and_moves",
        128,
    ),
    Story(
        "baton",
        "sandboxes::provider::a_login_at_a_provider_comes_back_goes_into_a_sandbox_and_moves",
        128,
    ),
    Story("baton-server", "sync::folder_full::a_full_disk_costs_no_session_and_no_file", u32::MAX),
    Story("baton", "hostile::drive::who_drives_has_no_file_of_the_machine_by_landlock", u32::MAX),
    Story("baton", "hostile::drive::who_drives_has_no_file_of_the_machine_by_bubblewrap", u32::MAX),
    Story(
        "baton",
        "hostile::drive::who_drives_has_no_file_of_an_ordinary_user_by_landlock",
        u32::MAX,
    ),
    Story(
        "baton",
        "hostile::drive::who_drives_has_no_file_of_an_ordinary_user_by_bubblewrap",
        u32::MAX,
    ),
    Story("baton", "disk::a_full_disk_costs_no_snapshot_and_no_browser", u32::MAX),
    Story("baton", "disk::a_disk_that_takes_no_writes_costs_no_snapshot_and_no_browser", u32::MAX),
];

/// The name of the extension's run in a real VS Code, beside those of the stories.
const VSCODE: &str = "vscode::the_extension_in_a_real_vs_code";

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let mut soak = Soak { only: &args.only, done: Vec::new() };
    let fuzzed = fuzz::TARGETS.map(|target| format!("fuzz::{target}"));
    let mut names = fuzzed.iter().map(String::as_str).chain(STORIES.map(|story| story.1));
    ensure!(
        names.any(|name| soak.wants(name)) || soak.wants(VSCODE),
        "expected a part of the soak, found none with {:?} in its name; all are in {}",
        args.only,
        file!()
    );
    setup::ensure(&setup::SOAK)?;
    if args.keep_corpus {
        fuzz::keep()?;
        return Ok(ExitCode::SUCCESS);
    }
    for target in fuzz::TARGETS.into_iter().filter(|_| args.fuzz_minutes > 0) {
        let name = format!("fuzz::{target}");
        soak.hold(&name, args.fuzz_minutes, "minutes", || fuzz::run(target, args.fuzz_minutes))?;
    }
    for Story(package, name, part) in STORIES {
        let rounds = args.rounds.div_ceil(part);
        soak.hold(name, rounds.into(), "rounds", || story(package, name, rounds))?;
    }
    soak.hold(VSCODE, 1, "round", || {
        Ok(vscode::real::run().map_err(|error| eprintln!("error: {error:#}")).is_ok())
    })?;
    soak.tell()
}

/// Runs one story in the build of `cargo xtask test`; answers whether it held.
fn story(package: &str, name: &str, rounds: u32) -> Result<bool> {
    let mut soak = nextest(&["nextest", "run", "--workspace", "--all-features"])?;
    soak.args(["--profile", "soak", "--run-ignored", "all", "--no-capture"]);
    soak.args(["--filterset", &format!("package(={package}) & binary(=it) & test(={name})")]);
    soak.env("BATON_SOAK_ROUNDS", rounds.to_string());
    let mut tally = Tally::default();
    let passed = tally.watch(&mut soak)?;
    // A soak that soaked nothing is a failure, whatever it answers.
    ensure!(tally.ran() == 1, "expected the test {name}, found {} that ran", tally.ran());
    println!("{tally}");
    Ok(passed)
}

/// What has run, and for how long.
struct Soak<'a> {
    only: &'a [String],
    done: Vec<(String, bool, Duration)>,
}

impl Soak<'_> {
    /// Whether a part was asked for.
    fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| name.contains(only.as_str()))
    }

    /// Runs one part, if it was asked for.
    fn hold(
        &mut self,
        name: &str,
        count: u64,
        unit: &str,
        run: impl FnOnce() -> Result<bool>,
    ) -> Result<()> {
        if !self.wants(name) {
            return Ok(());
        }
        println!("━━ {count} {unit}: {name}");
        let start = Instant::now();
        let held = run()?;
        self.done.push((name.to_owned(), held, start.elapsed()));
        Ok(())
    }

    /// Says of each part whether it held, and how long it took.
    fn tell(&self) -> Result<ExitCode> {
        ensure!(!self.done.is_empty(), "expected fuzz targets to run for a while, found 0 minutes");
        println!("\n━━ summary ━━");
        for (name, held, took) in &self.done {
            println!("{} {:>8.1} s  {name}", if *held { "✓" } else { "✗" }, took.as_secs_f64());
        }
        let all_held = self.done.iter().all(|(_, held, _)| *held);
        Ok(if all_held { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}
