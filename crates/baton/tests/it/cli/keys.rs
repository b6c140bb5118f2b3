//! API keys from the command line.

use super::fixture::{Folder, stderr, stdout};

#[test]
fn a_key_is_made_shown_once_and_revoked() {
    let folder = Folder::new();
    let made = folder.run(&["--quiet", "keys", "create", "--name", "ci"]).success();
    let secret = stdout(&made, &folder.data());
    assert!(secret.starts_with("baton_") && secret.trim_end().len() == 49, "only the secret");
    let (_, list) = folder.json(&["keys", "list"]);
    assert!(!list.to_string().contains(secret.trim_end()), "it is not shown again");
    let key = list["items"].as_array().unwrap().iter().find(|key| key["name"] == "ci").unwrap();
    assert_eq!(key["scopes"], serde_json::json!(["read", "drive"]));
    folder.run(&["keys", "create", "--name", "ci"]).code(4);
    folder.run(&["keys", "revoke", key["id"].as_str().unwrap()]).success();
    let gone = folder.run(&["keys", "revoke", "ci"]).code(3);
    insta::assert_snapshot!(stderr(&gone, &folder.data()), @r#"error: no API key "ci""#);
    folder.stop_node();
}
