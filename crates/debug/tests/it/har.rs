//! A tab as a file that other tools read.

use super::{Tab, answered, failed, finished, headers, requested};
use baton_api::debug::{Answered, Finished, Requested, ResourceType};
use baton_debug::har::har;
use baton_debug::secrets::Page;
use baton_debug::{Clean, TabBuffer};
use serde_json::Value;

fn archive(tab: &TabBuffer) -> Value {
    serde_json::to_value(har(tab)).unwrap()
}

/// The fields that HAR 1.2 requires, by the object that has them.
const REQUIRED: [(&str, &[&str]); 9] = [
    ("/log", &["version", "creator", "entries"]),
    ("/log/creator", &["name", "version"]),
    ("/log/pages/0", &["startedDateTime", "id", "title", "pageTimings"]),
    ("/log/entries/*", &["startedDateTime", "time", "request", "response", "cache", "timings"]),
    (
        "/log/entries/*/request",
        &[
            "method",
            "url",
            "httpVersion",
            "cookies",
            "headers",
            "queryString",
            "headersSize",
            "bodySize",
        ],
    ),
    (
        "/log/entries/*/response",
        &[
            "status",
            "statusText",
            "httpVersion",
            "cookies",
            "headers",
            "content",
            "redirectURL",
            "headersSize",
            "bodySize",
        ],
    ),
    ("/log/entries/*/response/content", &["size", "mimeType"]),
    ("/log/entries/*/timings", &["send", "wait", "receive"]),
    ("/log/entries/*/request/headers/*", &["name", "value"]),
];

/// All values at a path, in which `*` stands for each of a list.
fn values<'a>(root: &'a Value, path: &str) -> Vec<&'a Value> {
    path.split('/').skip(1).fold(vec![root], |found, step| {
        let each = found.into_iter();
        if step == "*" {
            each.flat_map(|value| value.as_array().unwrap()).collect()
        } else {
            each.map(|value| match value {
                Value::Array(items) => &items[step.parse::<usize>().unwrap()],
                other => &other[step],
            })
            .collect()
        }
    })
}

fn shop() -> Tab {
    let mut tab = Tab::new();
    let page = Page { url: "https://shop.test/?token=abc".into(), title: "Shop".into() };
    tab.buffer.show(Clean::page(&page, &tab.limits, &mut tab.redactor));
    tab.sent(Requested {
        headers: Some(headers(&[("Content-Type", "application/json")])),
        body: Some(r#"{"password":"x"}"#.into()),
        resource_type: Some(ResourceType::Fetch),
        ..requested("1", "POST", "https://shop.test/login?page=2&q=a%20b", 0)
    });
    tab.answer(Answered {
        status_text: Some("Found".into()),
        headers: Some(headers(&[("location", "/home"), ("set-cookie", "a=1; Path=/\nb=2")])),
        mime_type: Some("text/html".into()),
        ..answered("1", 302, 20)
    });
    let body = Some("<p>hi".to_owned());
    tab.finish(Finished { body, transfer_size: Some(120), ..finished("1", 25) });
    tab.sent(requested("2", "GET", "https://shop.test/a.png", 30));
    tab.fail(failed("2", "net::ERR_FAILED", 40));
    tab.sent(requested("3", "GET", "about:blank", 50));
    tab
}

#[test]
fn an_archive_has_every_field_that_the_format_requires() {
    for archive in [archive(&shop().buffer), archive(&Tab::new().buffer)] {
        assert_eq!(archive["log"]["version"], "1.2");
        for (path, fields) in REQUIRED {
            for value in values(&archive, path) {
                for field in fields {
                    assert!(!value[field].is_null(), "expected {field} at {path}, found {value:#}");
                }
            }
        }
        for path in ["/log/entries/*/startedDateTime", "/log/pages/0/startedDateTime"] {
            for date in values(&archive, path) {
                date.as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
            }
        }
    }
}

#[test]
fn an_entry_tells_what_the_tab_told() {
    let archive = archive(&shop().buffer);
    insta::assert_json_snapshot!(archive["log"]["entries"][0], @r#"
    {
      "_resourceType": "fetch",
      "cache": {},
      "pageref": "page_1",
      "request": {
        "bodySize": 25,
        "cookies": [],
        "headers": [
          {
            "name": "Content-Type",
            "value": "application/json"
          }
        ],
        "headersSize": -1,
        "httpVersion": "",
        "method": "POST",
        "postData": {
          "mimeType": "application/json",
          "text": "{\"password\":\"[redacted]\"}"
        },
        "queryString": [
          {
            "name": "page",
            "value": "2"
          },
          {
            "name": "q",
            "value": "a b"
          }
        ],
        "url": "https://shop.test/login?page=2&q=a%20b"
      },
      "response": {
        "bodySize": 120,
        "content": {
          "mimeType": "text/html",
          "size": 5,
          "text": "<p>hi"
        },
        "cookies": [],
        "headers": [
          {
            "name": "location",
            "value": "/home"
          },
          {
            "name": "set-cookie",
            "value": "a=[redacted]; Path=/"
          },
          {
            "name": "set-cookie",
            "value": "b=[redacted]"
          }
        ],
        "headersSize": -1,
        "httpVersion": "",
        "redirectURL": "/home",
        "status": 302,
        "statusText": "Found"
      },
      "startedDateTime": "2027-01-15T08:00:00Z",
      "time": 25,
      "timings": {
        "receive": 0,
        "send": 0,
        "wait": 25
      }
    }
    "#);
    insta::assert_json_snapshot!(archive["log"]["entries"][1]["response"], @r#"
    {
      "_error": "net::ERR_FAILED",
      "bodySize": -1,
      "content": {
        "mimeType": "",
        "size": 0
      },
      "cookies": [],
      "headers": [],
      "headersSize": -1,
      "httpVersion": "",
      "redirectURL": "",
      "status": 0,
      "statusText": ""
    }
    "#);
    assert_eq!(archive["log"]["pages"][0]["title"], "Shop");
}
