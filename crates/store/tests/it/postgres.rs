//! A PostgreSQL server of our own: in a temp folder, on a Unix socket, as a user other than root.
//!
//! A shell holds the server and reads our pipe. When this process ends, however it ends, the pipe
//! closes, and the shell stops the server and removes the folder.

use baton_store::DatabaseUrl;
use sqlx::{AnyConnection, AssertSqlSafe, Connection};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// How long the server may take to answer for the first time.
const START_LIMIT: Duration = Duration::from_mins(1);

/// `exec` everywhere, so that the pid is the server's. SIGINT is PostgreSQL's fast shutdown.
const HOLD: &str = r#"
"$1/postgres" -D "$2/data" -k "$2" -c listen_addresses= -c fsync=off -c max_connections=300 \
    >"$2/log" 2>&1 </dev/null &
server=$!
cat >/dev/null
kill -INT $server
wait $server
rm -rf "$2"
"#;

struct Server {
    folder: PathBuf,
    /// Holds our end of the pipe.
    _holder: Child,
}

/// A new, empty database.
pub(crate) async fn create_database() -> DatabaseUrl {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let name = format!("baton_{}", NUMBER.fetch_add(1, Ordering::Relaxed));
    let mut connection = connect("postgres").await;
    sqlx::raw_sql(AssertSqlSafe(format!("create database {name} template template0")))
        .execute(&mut connection)
        .await
        .unwrap();
    connection.close().await.unwrap();
    url(&name).parse().unwrap()
}

fn url(database: &str) -> String {
    let folder = server().folder.to_str().unwrap().replace('/', "%2F");
    format!("postgres://baton:unused@localhost/{database}?host={folder}")
}

fn server() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(start)
}

async fn connect(database: &str) -> AnyConnection {
    sqlx::any::install_default_drivers();
    let url = url(database);
    let deadline = Instant::now() + START_LIMIT;
    loop {
        match AnyConnection::connect(&url).await {
            Ok(connection) => return connection,
            Err(error) if Instant::now() > deadline => {
                let log = std::fs::read_to_string(server().folder.join("log"));
                panic!("PostgreSQL did not start: {error}\n{}", log.unwrap_or_default());
            }
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
}

fn start() -> Server {
    let programs = find_programs();
    let folder = tempfile::Builder::new().prefix("baton-pg-").tempdir().unwrap().keep();
    if is_root() {
        run(Command::new("chown").arg("postgres").arg(&folder));
    }
    run(as_other_user(programs.join("initdb"))
        .args(["--auth=trust", "--username=baton", "--encoding=UTF8", "--no-sync", "-D"])
        .arg(folder.join("data"))
        .stdout(Stdio::null()));
    let holder = as_other_user("sh".into())
        .args(["-c", HOLD, "sh"])
        .args([&programs, &folder])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    Server { folder, _holder: holder }
}

/// Debian keeps the server's programs out of the `PATH`.
fn find_programs() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    if let Ok(versions) = std::fs::read_dir("/usr/lib/postgresql") {
        folders.extend(versions.flatten().map(|version| version.path().join("bin")));
    }
    let complete =
        |folder: &&PathBuf| ["initdb", "postgres"].iter().all(|p| folder.join(p).exists());
    let found = folders.iter().find(complete);
    found.expect("these tests need PostgreSQL: apt-get install postgresql").clone()
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

fn run(command: &mut Command) {
    let status = command.status().unwrap();
    assert!(status.success(), "{command:?} failed: {status}");
}
