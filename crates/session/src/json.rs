//! Writes what our own types say as JSON, and never nothing in its place.
//!
//! The one idea: an empty text would be sent, hashed, signed or stored as if it were what was said. Our types
//! have text as their keys and finite numbers, so each can be written, whatever came into it from elsewhere.
//! One that cannot is a fault of ours, and shows as such: a panic, which answers the caller with an internal
//! error, and nothing is sent. Who can hand an error on asks `serde_json` itself.

use serde::Serialize;
use serde_json::Value;

/// Without a space.
pub fn bytes<T: Serialize + ?Sized>(of: &T) -> Vec<u8> {
    written(serde_json::to_vec(of))
}

/// Without a space, as text.
pub fn text<T: Serialize + ?Sized>(of: &T) -> String {
    written(serde_json::to_string(of))
}

/// With a line for each field, for people.
pub fn lines<T: Serialize + ?Sized>(of: &T) -> String {
    written(serde_json::to_string_pretty(of))
}

/// As a value to build on.
pub fn value<T: Serialize + ?Sized>(of: &T) -> Value {
    written(serde_json::to_value(of))
}

/// In the one form that is hashed and signed (RFC 8785). It refuses numbers that are not finite, which only
/// a geolocation made by hand could hold; plain JSON has `null` for them.
pub fn canonical<T: Serialize>(of: &T) -> Vec<u8> {
    written(serde_json_canonicalizer::to_vec(of).or_else(|_| serde_json::to_vec(of)))
}

fn written<T>(written: serde_json::Result<T>) -> T {
    written.unwrap_or_else(|why| panic!("a type of Baton's own cannot be written as JSON: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Serializer;
    use serde::ser::Error as _;
    use std::panic::catch_unwind;

    /// What no type of ours is.
    struct Unwritable;

    impl Serialize for Unwritable {
        fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(S::Error::custom("it has no words"))
        }
    }

    #[test]
    fn a_number_that_is_none_is_null() {
        assert_eq!(canonical(&f64::NAN), b"null");
        assert_eq!(canonical(&[("a", f64::NAN), ("b", 1.0)]), br#"[["a",null],["b",1]]"#);
    }

    #[test]
    fn what_cannot_be_written_is_never_an_empty_text() {
        let ways: [fn(); 5] = [
            || drop(bytes(&Unwritable)),
            || drop(text(&Unwritable)),
            || drop(lines(&Unwritable)),
            || drop(value(&Unwritable)),
            || drop(canonical(&Unwritable)),
        ];
        for way in ways {
            let fault = catch_unwind(way).unwrap_err();
            let fault = fault.downcast_ref::<String>().unwrap();
            assert_eq!(fault, "a type of Baton's own cannot be written as JSON: it has no words");
        }
    }
}
