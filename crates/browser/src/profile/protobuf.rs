//! Protocol buffers with numbers only, of which DOM storage has some beside its areas.

/// The first field, a number; it is written first.
pub(super) fn first_number(bytes: &[u8]) -> Option<i64> {
    let (tag, rest) = bytes.split_first()?;
    if *tag != 0x08 {
        return None;
    }
    let mut value = 0_i64;
    for (at, byte) in rest.iter().take(9).enumerate() {
        value |= i64::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

/// These numbers, none of them negative, as the fields 1, 2 and so on.
pub(super) fn numbers(numbers: &[i64]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (field, number) in (1_u8..).zip(numbers) {
        bytes.push(field << 3);
        let mut left = number.unsigned_abs();
        while left >= 0x80 {
            bytes.push(left.to_le_bytes()[0] | 0x80);
            left >>= 7;
        }
        bytes.push(left.to_le_bytes()[0]);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_back() {
        for number in [0, 1, 127, 128, 13_439_798_636_538_781, i64::MAX] {
            assert_eq!(first_number(&numbers(&[number, 7])), Some(number));
        }
        for bytes in [&[][..], &[0x08], &[0x10, 1], &[0x08, 0x80]] {
            assert_eq!(first_number(bytes), None);
        }
    }
}
