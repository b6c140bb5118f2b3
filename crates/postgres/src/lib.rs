//! A PostgreSQL server of one's own: in a temp folder, on a Unix socket, as a user other than root.
//!
//! A shell holds the server and reads our pipe. When the process that started it ends, however it ends, the
//! pipe closes, and the shell stops the server and removes the folder. A program that starts many processes
//! that each want a database starts one [`Server`] for all of them, and names it to them with [`SHARED`].

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The variable that names the folder of a server that others may use.
pub const SHARED: &str = "BATON_TEST_POSTGRES";
/// How long the server may take to answer for the first time.
const START_LIMIT: Duration = Duration::from_mins(1);

/// `exec` everywhere, so that the pid is the server's. SIGINT is PostgreSQL's fast shutdown, SIGQUIT its immediate one,
/// after which it recovers as after a crash.
const HOLD: &str = r#"
start() {
    "$1/postgres" -D "$2/data" -k "$2" -c listen_addresses= -c fsync=off -c max_connections=300 \
        >>"$2/log" 2>&1 </dev/null &
    server=$!
}
start "$1" "$2"
while read -r order; do
    case $order in
        stop) kill -QUIT $server; wait $server ;;
        start) start "$1" "$2" ;;
    esac
done
kill -INT $server 2>/dev/null
wait $server
rm -rf "$2"
"#;

/// A running server. It ends with the process that started it.
pub struct Server {
    programs: PathBuf,
    folder: PathBuf,
    /// Holds our end of the pipe; none where another process does.
    holder: Option<Child>,
}

/// The URL of a new, empty database: of the server that [`SHARED`] names, or of one that starts with the first
/// and ends with this process. The call blocks until it answers.
///
/// # Errors
///
/// When PostgreSQL is not there, or does not start.
pub fn create_database() -> Result<String> {
    static SERVER: OnceLock<Result<Server, String>> = OnceLock::new();
    let server = SERVER.get_or_init(|| {
        let server = std::env::var_os(SHARED).map_or_else(Server::start, Server::of_others);
        server.map_err(|error| format!("{error:#}"))
    });
    let server = server.as_ref().map_err(|error| anyhow!("PostgreSQL did not start: {error}"))?;
    server.create_database()
}

impl Server {
    /// Starts a server, and waits until it answers.
    ///
    /// # Errors
    ///
    /// When PostgreSQL is not there, or does not start.
    pub fn start() -> Result<Self> {
        let programs = find_programs()?;
        let folder = tempfile::Builder::new().prefix("baton-pg-").tempdir()?.keep();
        if is_root() {
            succeed(Command::new("chown").arg("postgres").arg(&folder))?;
        }
        succeed(
            as_other_user(programs.join("initdb"))
                .args(["--auth=trust", "--username=baton", "--encoding=UTF8", "--no-sync", "-D"])
                .arg(folder.join("data")),
        )?;
        let holder = as_other_user("sh".into())
            .args(["-c", HOLD, "sh"])
            .args([&programs, &folder])
            .stdin(Stdio::piped())
            .spawn()?;
        let server = Self { programs, folder, holder: Some(holder) };
        server.wait_until_ready()?;
        Ok(server)
    }

    /// The URL of a new, empty database of this server.
    ///
    /// # Errors
    ///
    /// When the server does not answer.
    pub fn create_database(&self) -> Result<String> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        // Ids of processes come again within one run of many.
        let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos();
        let name = format!("baton_{}_{now}_{number}", std::process::id());
        succeed(&mut self.client("createdb", &["--template=template0", &name]))?;
        let folder = self.folder.display().to_string().replace('/', "%2F");
        Ok(format!("postgres://baton:unused@localhost/{name}?host={folder}"))
    }

    /// Stops it at once, as a crash does: all connections break off. The call blocks until it is gone.
    ///
    /// # Errors
    ///
    /// When another process holds it, or it does not end.
    pub fn stop(&mut self) -> Result<()> {
        self.order("stop")?;
        // 2: nobody answers.
        self.wait_until("end", |ready| ready == Some(2))
    }

    /// Starts it again, at the same place and with what it held. The call blocks until it answers.
    ///
    /// # Errors
    ///
    /// When another process holds it, or it does not start.
    pub fn restart(&mut self) -> Result<()> {
        self.order("start")?;
        self.wait_until_ready()
    }

    fn order(&mut self, order: &str) -> Result<()> {
        let holder = self.holder.as_mut().and_then(|holder| holder.stdin.as_mut());
        let holder = holder.context("expected a server of this process, found another's")?;
        writeln!(holder, "{order}").context("the server's shell is gone")
    }

    /// The socket on which it listens.
    pub fn socket(&self) -> PathBuf {
        self.folder.join(".s.PGSQL.5432")
    }

    fn of_others(folder: OsString) -> Result<Self> {
        Ok(Self { programs: find_programs()?, folder: folder.into(), holder: None })
    }

    /// Where it is, for [`SHARED`].
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn wait_until_ready(&self) -> Result<()> {
        self.wait_until("answer", |ready| ready == Some(0))
    }

    /// Waits for a code with which `pg_isready` ends.
    fn wait_until(&self, what: &str, is: impl Fn(Option<i32>) -> bool) -> Result<()> {
        let deadline = Instant::now() + START_LIMIT;
        while !is(self.client("pg_isready", &[]).output()?.status.code()) {
            if Instant::now() > deadline {
                let log = std::fs::read_to_string(self.folder.join("log"));
                bail!("it does not {what}:\n{}", log.unwrap_or_default());
            }
            sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// One of PostgreSQL's own clients, pointed at the server.
    fn client(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.programs.join(program));
        command.arg("--host").arg(&self.folder).arg("--username=baton").args(arguments);
        command
    }
}

/// What a database answers to a statement, past the node that works on it: a row a line, without headings.
///
/// # Errors
///
/// When `psql` is not there, or the database refuses.
pub fn ask(url: &str, sql: &str) -> Result<String> {
    let mut psql = Command::new(find_programs()?.join("psql"));
    psql.args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--command", sql, url]);
    let done = psql.output().context("expected to start psql")?;
    let why = String::from_utf8_lossy(&done.stderr);
    ensure!(done.status.success(), "psql ended with {}: {why}", done.status);
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}

/// A transaction that goes on until this is dropped.
pub struct Transaction(Child);

/// Begins a transaction with a statement. The call blocks until that is done.
///
/// # Errors
///
/// When `psql` is not there, or the database refuses.
pub fn begin(url: &str, sql: &str) -> Result<Transaction> {
    let mut psql = Command::new(find_programs()?.join("psql"));
    psql.args(["--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", url]);
    psql.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut begun = Transaction(psql.spawn().context("expected to start psql")?);
    let stdin = begun.0.stdin.as_mut().context("expected the input of psql")?;
    writeln!(stdin, "begin; {sql};\n\\echo begun")?;
    let mut said = String::new();
    let stdout = begun.0.stdout.as_mut().context("expected the output of psql")?;
    BufReader::new(stdout).read_line(&mut said)?;
    ensure!(said.trim() == "begun", "psql did not begin {sql:?}");
    Ok(begun)
}

impl Drop for Transaction {
    fn drop(&mut self) {
        // It may have ended by itself; the server rolls back what its client leaves.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Debian keeps the server's programs out of the `PATH`.
fn find_programs() -> Result<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    if let Ok(versions) = std::fs::read_dir("/usr/lib/postgresql") {
        folders.extend(versions.flatten().map(|version| version.path().join("bin")));
    }
    let complete = |folder: &PathBuf| {
        ["initdb", "postgres", "createdb", "pg_isready", "psql"]
            .iter()
            .all(|p| folder.join(p).exists())
    };
    let found = folders.into_iter().find(complete);
    found.context("expected the programs of PostgreSQL, found none: apt-get install postgresql")
}

/// PostgreSQL refuses to run as root.
fn as_other_user(program: PathBuf) -> Command {
    if !is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]).arg(program);
    command.current_dir("/");
    command
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    Path::new("/proc/self").metadata().is_ok_and(|metadata| metadata.uid() == 0)
}

fn succeed(command: &mut Command) -> Result<()> {
    let output = command.output().with_context(|| format!("{command:?}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?} failed: {}\n{said}", output.status);
    Ok(())
}
