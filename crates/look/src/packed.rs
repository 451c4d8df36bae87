//! The texts of a plan as they are stored. Members that refer to the same value each have it, and a text stands before and
//! after a change. Compressed, what stands there many times takes little more than once.

use std::io;

use zeroize::Zeroizing;
use zstd::bulk::{Compressor, Decompressor};
use zstd::zstd_safe::get_frame_content_size;

/// The longest text of a plan: what it shows and what was declared for it.
pub const PLAN_MAX_BYTES: usize = 16 << 20;
/// The level of zstd. Plans are written more often than read.
const LEVEL: i32 = 1;
/// What is shorter is stored as it is.
const SHORT_BYTES: usize = 4 << 10;
/// From this length on, repetitions are found over the whole text, not only over the last part.
const LONG_BYTES: usize = 512 << 10;
/// How far back they are found: 16 MiB, as the binary logarithm of bytes.
const LONG_WINDOW: u32 = 24;
/// How a frame of zstd begins (RFC 8878, section 3.1.1). JSON does not.
const MAGIC: [u8; 4] = 0xFD2F_B528_u32.to_le_bytes();

/// Returns a text as it is stored.
pub fn pack(text: &str) -> io::Result<Zeroizing<Vec<u8>>> {
    let bytes = text.as_bytes();
    if bytes.len() < SHORT_BYTES {
        return Ok(Zeroizing::new(bytes.to_vec()));
    }
    let mut compressor = Compressor::new(LEVEL)?;
    if bytes.len() >= LONG_BYTES {
        compressor.long_distance_matching(true)?;
        compressor.window_log(LONG_WINDOW)?;
    }
    compressor.compress(bytes).map(Zeroizing::new)
}

/// Returns the text that was stored.
pub fn unpack(stored: Zeroizing<Vec<u8>>) -> io::Result<Zeroizing<Vec<u8>>> {
    if !stored.starts_with(&MAGIC) {
        return Ok(stored);
    }
    let length = get_frame_content_size(&stored).ok().flatten();
    let length = length.and_then(|length| usize::try_from(length).ok());
    let Some(length) = length.filter(|&length| length <= PLAN_MAX_BYTES) else {
        return Err(io::Error::other("the text is longer than that of a plan"));
    };
    let text = Decompressor::new()?.decompress(&stored, length)?;
    Ok(Zeroizing::new(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn restored(text: &str) -> Vec<u8> {
        unpack(pack(text).unwrap()).unwrap().to_vec()
    }

    #[test]
    fn every_text_comes_back() {
        let long = "0123456789abcdef".repeat(PLAN_MAX_BYTES / 16);
        for length in [
            0,
            1,
            SHORT_BYTES - 1,
            SHORT_BYTES,
            LONG_BYTES,
            PLAN_MAX_BYTES,
        ] {
            assert!(
                restored(&long[..length]) == long.as_bytes()[..length],
                "{length}"
            );
        }
    }

    /// As the plan of sixty members that refer to one text of 240 KB.
    #[test]
    fn what_stands_many_times_takes_little_more_than_once() {
        // Nothing repeats within it.
        let once: String = (0_u64..15_000)
            .map(|number| format!("{:016x}", number.wrapping_mul(0x9E37_79B9_7F4A_7C15)))
            .collect();
        let one = pack(&once).unwrap().len();
        assert!(one > 100_000, "{one}");
        let sixty = pack(&once.repeat(60)).unwrap().len();
        assert!(sixty < 2 * one, "{sixty}");
    }

    #[test]
    fn what_is_torn_or_too_long_is_refused() {
        let packed = pack(&"a".repeat(LONG_BYTES)).unwrap();
        let torn = Zeroizing::new(packed[..packed.len() - 1].to_vec());
        unpack(torn).unwrap_err();
        let longest = pack(&"a".repeat(PLAN_MAX_BYTES)).unwrap();
        unpack(longest).unwrap();
        let longer = pack(&"a".repeat(PLAN_MAX_BYTES + 1)).unwrap();
        unpack(longer).unwrap_err();
    }
}
