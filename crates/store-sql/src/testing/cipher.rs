use std::sync::Arc;

use ucp_store::{Cipher, Error, Sealed, SealedPlace};

/// A cipher that hides text from a reader of the database, and nothing else. It knows one key.
#[derive(Debug)]
pub struct TestCipher(pub u8);

/// Returns the cipher of stores in tests.
pub fn cipher() -> Arc<dyn Cipher> {
    Arc::new(TestCipher(1))
}

/// The sealed bytes are the key, the length of the place, the place and the text, the latter two inverted.
impl Cipher for TestCipher {
    fn seal(&self, place: &SealedPlace, plaintext: &[u8]) -> Result<Sealed, Error> {
        let place = bound_to(place);
        let length = u16::try_from(place.len()).unwrap().to_be_bytes();
        let hidden = place.iter().chain(plaintext).map(|byte| !byte);
        let header = [self.0].into_iter().chain(length);
        Ok(Sealed(header.chain(hidden).collect()))
    }

    fn open(&self, place: &SealedPlace, sealed: &Sealed) -> Result<Vec<u8>, Error> {
        let place = bound_to(place);
        let corrupt = || Error::Corrupt("the sealed bytes were modified or moved".to_owned());
        let (key, rest) = sealed.0.split_first().ok_or_else(corrupt)?;
        if *key != self.0 {
            return Err(Error::OtherKey {
                sealed_under: key.to_string(),
                configured: self.0.to_string(),
            });
        }
        let (length, hidden) = rest.split_first_chunk::<2>().ok_or_else(corrupt)?;
        let shown: Vec<u8> = hidden.iter().map(|byte| !byte).collect();
        let length = usize::from(u16::from_be_bytes(*length));
        let (bound, text) = shown.split_at_checked(length).ok_or_else(corrupt)?;
        if bound != place {
            return Err(corrupt());
        }
        Ok(text.to_vec())
    }
}

fn bound_to(place: &SealedPlace) -> Vec<u8> {
    format!("{place:?}").to_lowercase().into_bytes()
}
