//! The table of error codes.

use baton_api::ErrorCode;
use std::collections::BTreeSet;

#[test]
fn the_table_is_what_programs_rely_on() {
    let table: Vec<String> = ErrorCode::ALL
        .iter()
        .map(|code| format!("{} {} {}", code.status(), code.exit().code(), code.as_str()))
        .collect();
    insta::assert_snapshot!(table.join("\n"), @r"
    400 2 invalid_json
    401 5 unauthenticated
    403 5 forbidden
    403 5 not_confined
    403 5 quota_reached
    403 5 untrusted
    403 5 address_not_allowed
    403 5 foreign_origin
    404 3 session_not_found
    404 3 no_snapshot
    404 3 peer_not_found
    404 3 invitation_not_found
    404 3 file_not_found
    404 3 ask_not_found
    404 3 not_shared
    404 3 not_on_board
    404 3 tab_gone
    404 3 key_not_found
    404 3 cocoon_not_found
    404 3 sandbox_not_found
    404 3 model_not_found
    404 3 node_not_found
    404 3 route_not_found
    405 2 method_not_allowed
    408 1 body_too_slow
    409 4 name_taken
    409 4 ambiguous_reference
    409 4 wrong_state
    409 4 profile_in_use
    409 4 peer_pending
    409 4 pending_there
    409 4 not_reachable
    409 4 other_agent
    409 4 session_held
    409 4 session_expired
    409 4 login_missing
    409 4 conflict
    412 4 other_revision
    413 2 body_too_large
    415 2 unsupported_media_type
    421 1 misdirected
    422 2 invalid_request
    422 2 invalid_session
    422 2 unknown_flavor
    422 2 revision_refused
    429 1 too_many_requests
    500 1 internal
    500 1 storage_damaged
    502 1 cdp_unreachable
    502 5 peer_denied
    502 1 peer_refused
    502 1 peer_unreachable
    502 1 session_service_failed
    502 1 agent_failed
    502 1 upstream_failed
    503 1 browser_unavailable
    503 1 provider_unavailable
    503 1 browser_offline
    503 1 sandbox_unavailable
    503 1 vnc_unavailable
    503 1 node_unreachable
    503 1 no_room
    503 1 storage_unavailable
    504 1 timed_out
    507 1 storage_full
    ");
}

#[test]
fn every_code_travels_as_its_own_word() {
    let words: BTreeSet<String> = ErrorCode::ALL
        .iter()
        .map(|code| {
            let wire = serde_json::to_value(code).unwrap();
            assert_eq!(wire, code.as_str());
            assert_eq!(serde_json::from_value::<ErrorCode>(wire).unwrap(), *code);
            code.as_str().to_owned()
        })
        .collect();
    assert_eq!(words.len(), ErrorCode::ALL.len(), "no word twice");
}

#[test]
fn the_reference_lists_every_code() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/http.md");
    let page = std::fs::read_to_string(page).unwrap();
    for code in ErrorCode::ALL {
        let (word, status, exit) = (code.as_str(), code.status(), code.exit().code());
        let row = format!("| `{word}` | {status} | {exit} | {} |", code.title());
        assert!(page.contains(&row), "expected the row {row}");
    }
}
