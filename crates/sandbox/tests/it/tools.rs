//! Files go in and come out.

use super::fixture::{run, sandbox, says, unpack};
use baton_sandbox::Ended;

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
                touch -d 2001-09-09T01:46:40.000000007Z a/b/one";
    says(&*sandbox, line).await;
    let mut packed = sandbox.start(&sandbox.tool("pack", "/workspace/a")).await.unwrap();
    let mut archive = Vec::new();
    tokio::io::AsyncReadExt::read_to_end(&mut packed.output, &mut archive).await.unwrap();
    assert_eq!(packed.ended().await, Ended::Code(0));
    // Of two databases the one counts that was written later.
    assert!(String::from_utf8_lossy(&archive).contains("mtime=1000000000.000000007\n"));
    unpack(&*sandbox, &archive, "/workspace/c").await.unwrap();
    assert_eq!(says(&*sandbox, "cat c/b/one; readlink c/link").await, "one\n/etc/passwd");
    let broken = unpack(&*sandbox, b"no archive", "/workspace/d").await.unwrap_err();
    assert!(broken.starts_with("/workspace/d: "), "{broken}");
}
