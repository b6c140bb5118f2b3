//! Files go in and come out.

use super::fixture::{run, sandbox, says, unpack};
use baton_sandbox::{Ended, Sandbox, UNREAD};
use std::collections::BTreeMap;
use std::io::Read;
use tokio::io::AsyncReadExt;

#[tokio::test]
async fn a_file_is_written_whole_and_read_back() {
    let sandbox = sandbox().await;
    let text = "a text\0with everything\n".repeat(50_000);
    let write = sandbox.tool("write", "/workspace/deep/in/a file");
    assert_eq!(run(&*sandbox, &write, text.as_bytes()).await.ended, Ended::Code(0));
    let read = sandbox.tool("read", "/workspace/deep/in/a file");
    assert!(run(&*sandbox, &read, b"").await.output == text);
    assert_eq!(says(&*sandbox, "ls deep/in").await, "a file");
    let missing = run(&*sandbox, &sandbox.tool("read", "/workspace/none"), b"").await;
    assert_eq!(missing.ended, Ended::Code(1));
    insta::assert_snapshot!(missing.errors, @"/workspace/none: No such file or directory (os error 2)");
}

#[tokio::test]
async fn folders_move_as_archives() {
    let sandbox = sandbox().await;
    let line = "mkdir -p a/b; echo one > a/b/one; ln -s /etc/passwd a/link; \
                touch -d 2001-09-09T01:46:40.000000007Z a/b/one; truncate -s 1M a/holes";
    says(&*sandbox, line).await;
    let mut packed = sandbox.start(&sandbox.tool("pack", "/workspace/a")).await.unwrap();
    let mut archive = Vec::new();
    packed.output.read_to_end(&mut archive).await.unwrap();
    assert_eq!(packed.ended().await, Ended::Code(0));
    // Of two databases the one counts that was written later.
    assert!(String::from_utf8_lossy(&archive).contains("mtime=1000000000.000000007\n"));
    // A file with holes is one like any other.
    assert!(archive.len() > 1 << 20);
    unpack(&*sandbox, &archive, "/workspace/c").await.unwrap();
    assert_eq!(says(&*sandbox, "cat c/b/one; readlink c/link").await, "one\n/etc/passwd");
    let broken = unpack(&*sandbox, b"no archive", "/workspace/d").await.unwrap_err();
    assert!(broken.starts_with("/workspace/d: "), "{broken}");
}

/// The plain files in a folder, as its archive has them, with what is in each or why that could not be read.
async fn packed(sandbox: &dyn Sandbox, path: &str) -> BTreeMap<String, String> {
    let mut process = sandbox.start(&sandbox.tool("pack", path)).await.unwrap();
    let mut archive = Vec::new();
    process.output.read_to_end(&mut archive).await.unwrap();
    assert_eq!(process.ended().await, Ended::Code(0));
    let mut found = BTreeMap::new();
    for entry in tar::Archive::new(&*archive).entries().unwrap() {
        let mut entry = entry.unwrap();
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let mut text = String::new();
        for extension in entry.pax_extensions().unwrap().into_iter().flatten() {
            let extension = extension.unwrap();
            if extension.key() == Ok(UNREAD) {
                text = format!("unread: {}", extension.value().unwrap());
            }
        }
        entry.read_to_string(&mut text).unwrap();
        found.insert(entry.path().unwrap().display().to_string(), text);
    }
    found
}

#[tokio::test]
async fn what_a_command_has_closed_is_packed_all_the_same() {
    let sandbox = sandbox().await;
    let line = "mkdir -p a/b/c; printf one > a/b/one; printf two > a/b/c/two; \
                chmod 0 a/b/c/two a/b/one; chmod 100 a/b/c; chmod 400 a/b; chmod 0 a .";
    says(&*sandbox, line).await;
    let found = packed(&*sandbox, "/workspace/a").await;
    let found: Vec<_> = found.iter().map(|(path, text)| (&**path, &**text)).collect();
    assert_eq!(found, [("b/c/two", "two"), ("b/one", "one")]);
}

#[tokio::test]
async fn what_cannot_be_packed_is_named_and_costs_nothing_else() {
    let sandbox = sandbox().await;
    let deep = "python3 -c 'import os\nos.makedirs(\"a/near\")\nopen(\"a/near/file\", \"w\").write(\"here\")\n\
                os.chdir(\"a\")\nfor _ in range(30):\n    os.mkdir(\"x\" * 200)\n    os.chdir(\"x\" * 200)'";
    says(&*sandbox, deep).await;
    let found = packed(&*sandbox, "/workspace/a").await;
    assert_eq!(found["near/file"], "here");
    assert_eq!(found.len(), 2);
    let (place, why) = found.last_key_value().unwrap();
    assert!(place.starts_with("xxx") && place.len() > 3000, "{place}");
    assert_eq!(why, "unread: File name too long (os error 36)");
    let found = packed(&*sandbox, "/workspace/none").await;
    assert_eq!(found["."], "unread: No such file or directory (os error 2)");
}

#[tokio::test]
async fn only_plain_files_are_read_and_no_more_than_is_wanted() {
    let sandbox = sandbox().await;
    says(&*sandbox, "mkfifo pipe; mkdir folder; printf 12345 > five; ln -s /dev/zero link").await;
    let mut found = Vec::new();
    for path in ["/dev/zero", "pipe", "folder", "link", "five"] {
        let mut command =
            sandbox.tool("read", &format!("/workspace/{path}").replace("/workspace//", "/"));
        command.words.push("4".to_owned());
        let done = run(&*sandbox, &command, b"").await;
        assert_eq!((done.ended, done.output.as_str()), (Ended::Code(1), ""), "{path}");
        found.push(done.errors.trim_end().to_owned());
    }
    insta::assert_snapshot!(found.join("\n"), @r"
    /dev/zero: expected a plain file, found another kind
    /workspace/pipe: expected a plain file, found another kind
    /workspace/folder: expected a plain file, found another kind
    /workspace/link: expected a plain file, found another kind
    /workspace/five: expected at most 4 bytes, found more
    ");
    let mut command = sandbox.tool("read", "/workspace/five");
    command.words.push("5".to_owned());
    assert_eq!(run(&*sandbox, &command, b"").await.output, "12345");
    // What the kernel makes up has no size, and is bounded all the same.
    let mut command = sandbox.tool("read", "/proc/self/status");
    command.words.push("10".to_owned());
    let done = run(&*sandbox, &command, b"").await;
    assert_eq!((done.ended, done.output.len()), (Ended::Code(1), 11));
}

#[tokio::test]
async fn a_file_is_not_written_to_what_lies_in_wait() {
    // Whoever guesses under which name it is written first leaves a pipe there, which nobody reads.
    let sandbox = sandbox().await;
    says(&*sandbox, "mkfifo $(seq -f file.%g 1 200)").await;
    let done = run(&*sandbox, &sandbox.tool("write", "/workspace/file"), b"text").await;
    assert_eq!(done.ended, Ended::Code(1), "{done:?}");
}
