//! A VNC viewer: as much of RFB 3.8 (RFC 6143) as it takes to look at a display.

use des::Des;
use des::cipher::{Array, BlockCipherEncrypt, KeyInit};
use std::io;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The one way to log in: with a password (section 7.2.2).
const VNC_AUTHENTICATION: u8 = 2;

/// A viewer that is logged in.
pub(super) struct Viewer {
    stream: TcpStream,
    width: usize,
    height: usize,
    pixels: Vec<u32>,
}

impl Viewer {
    /// Looks at a display. The error is what the display says.
    pub(super) async fn open(address: &str, password: &str) -> io::Result<Result<Self, String>> {
        let mut stream = TcpStream::connect(address).await?;
        let mut version = [0; 12];
        stream.read_exact(&mut version).await?;
        assert_eq!(&version, b"RFB 003.008\n");
        stream.write_all(&version).await?;
        let mut kinds = vec![0; stream.read_u8().await?.into()];
        stream.read_exact(&mut kinds).await?;
        assert_eq!(kinds, [VNC_AUTHENTICATION], "there is no other way in");
        stream.write_u8(VNC_AUTHENTICATION).await?;
        let mut challenge = [0; 16];
        stream.read_exact(&mut challenge).await?;
        stream.write_all(&answer(challenge, password)).await?;
        if stream.read_u32().await? != 0 {
            let mut reason = vec![0; stream.read_u32().await?.try_into().unwrap()];
            stream.read_exact(&mut reason).await?;
            return Ok(Err(String::from_utf8(reason).unwrap()));
        }
        // Others may look as well.
        stream.write_u8(1).await?;
        let (width, height) = (stream.read_u16().await?.into(), stream.read_u16().await?.into());
        stream.read_exact(&mut [0; 16]).await?;
        let mut name = vec![0; stream.read_u32().await?.try_into().unwrap()];
        stream.read_exact(&mut name).await?;
        // 32 bits for each pixel, of which red, green and blue are one byte each; as they are.
        let format = [0, 0, 0, 0, 32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 16, 8, 0, 0, 0, 0];
        stream.write_all(&format).await?;
        stream.write_all(&[2, 0, 0, 1, 0, 0, 0, 0]).await?;
        Ok(Ok(Self { stream, width, height, pixels: vec![0; width * height] }))
    }

    /// Waits until so much of the display has a colour, in percent.
    pub(super) async fn see(&mut self, colour: u32, percent: usize) -> io::Result<()> {
        let mut is_first = true;
        while self.pixels.iter().filter(|pixel| **pixel == colour).count() * 100
            < percent * self.pixels.len()
        {
            self.update(!is_first).await?;
            is_first = false;
        }
        Ok(())
    }

    /// Waits for what has changed, or for everything.
    async fn update(&mut self, what_changed: bool) -> io::Result<()> {
        self.stream.write_all(&[3, what_changed.into(), 0, 0, 0, 0]).await?;
        self.stream.write_u16(self.width.try_into().unwrap()).await?;
        self.stream.write_u16(self.height.try_into().unwrap()).await?;
        loop {
            match self.stream.read_u8().await? {
                0 => return self.rectangles().await,
                2 => {}
                3 => {
                    self.stream.read_exact(&mut [0; 3]).await?;
                    let mut text = vec![0; self.stream.read_u32().await?.try_into().unwrap()];
                    self.stream.read_exact(&mut text).await?;
                }
                other => panic!("expected an update, found a message of type {other}"),
            }
        }
    }

    async fn rectangles(&mut self) -> io::Result<()> {
        self.stream.read_u8().await?;
        for _ in 0..self.stream.read_u16().await? {
            let mut place = [0_usize; 4];
            for number in &mut place {
                *number = self.stream.read_u16().await?.into();
            }
            let [left, top, width, height] = place;
            assert_eq!(self.stream.read_i32().await?, 0, "pixels as they are");
            for row in top..top + height {
                for at in left..left + width {
                    let pixel = self.stream.read_u32_le().await? & 0x00ff_ffff;
                    self.pixels[row * self.width + at] = pixel;
                }
            }
        }
        Ok(())
    }
}

/// The challenge, encrypted with the password, each of whose bytes has its bits in the reverse order.
fn answer(challenge: [u8; 16], password: &str) -> Vec<u8> {
    let mut key = [0; 8];
    key.iter_mut().zip(password.bytes()).for_each(|(place, byte)| *place = byte.reverse_bits());
    let cipher = Des::new(&Array::from(key));
    let blocks = challenge.as_chunks::<8>().0.iter().map(|block| {
        let mut block = Array::from(*block);
        cipher.encrypt_block(&mut block);
        <[u8; 8]>::from(block)
    });
    blocks.flatten().collect()
}
