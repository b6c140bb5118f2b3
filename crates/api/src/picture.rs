//! The form of a live picture.
//!
//! A picture is a JPEG behind [`PICTURE_HEADER`] bytes, all numbers with the highest byte first: the version of
//! this form (one byte, 1), what follows (one byte, 1 is a JPEG), the length of the header (two bytes), the
//! number of the picture (eight), the number of its tab (four), width and height of the tab's viewport in CSS
//! pixels (two each), and the pixels of the picture to one of those (four, IEEE 754).

/// How many bytes precede a JPEG.
pub const PICTURE_HEADER: usize = 24;

/// Writes a picture as a viewer gets it.
pub fn write_picture(header: PictureHeader, jpeg: &[u8]) -> Vec<u8> {
    let PictureHeader { number, tab, width, height, scale } = header;
    let mut bytes = Vec::with_capacity(PICTURE_HEADER + jpeg.len());
    bytes.extend([1, 1, 0, 24]);
    bytes.extend(number.to_be_bytes());
    bytes.extend(tab.to_be_bytes());
    bytes.extend(width.to_be_bytes());
    bytes.extend(height.to_be_bytes());
    bytes.extend(scale.to_be_bytes());
    bytes.extend(jpeg);
    bytes
}

/// What precedes a JPEG.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PictureHeader {
    /// Its number, which counts up.
    pub number: u64,
    /// The number of the tab that it shows.
    pub tab: u32,
    /// The width of the tab's viewport, in CSS pixels.
    pub width: u16,
    /// Its height.
    pub height: u16,
    /// How many pixels of the picture one of those has.
    pub scale: f32,
}

impl PictureHeader {
    /// Reads a picture: its header, and the JPEG; none of what has another form.
    pub fn read(picture: &[u8]) -> Option<(Self, &[u8])> {
        let (header, jpeg) = picture.split_at_checked(PICTURE_HEADER)?;
        let (form, numbers) = header.split_first_chunk::<4>()?;
        if *form != [1, 1, 0, 24] {
            return None;
        }
        let (number, rest) = numbers.split_first_chunk()?;
        let (tab, rest) = rest.split_first_chunk()?;
        let (width, rest) = rest.split_first_chunk()?;
        let (height, rest) = rest.split_first_chunk()?;
        let (scale, _) = rest.split_first_chunk()?;
        let read = Self {
            number: u64::from_be_bytes(*number),
            tab: u32::from_be_bytes(*tab),
            width: u16::from_be_bytes(*width),
            height: u16::from_be_bytes(*height),
            scale: f32::from_be_bytes(*scale),
        };
        Some((read, jpeg))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_read_as_it_was_written() {
        let header =
            PictureHeader { number: 1 << 40, tab: 7, width: 1280, height: 800, scale: 1.5 };
        let picture = write_picture(header, &[0xff, 0xd8]);
        assert_eq!(PictureHeader::read(&picture), Some((header, &[0xff, 0xd8][..])));
        assert_eq!(PictureHeader::read(&picture[..10]), None);
        assert_eq!(PictureHeader::read(&[9; 30]), None);
    }
}
