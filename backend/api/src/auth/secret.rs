//! Opaque secrets: a prefix that says what it is, 256 random bits, and a checksum that spots typing errors without a
//! look into the database. Only the sha256 is stored: the secret has full entropy, a slow hash would add nothing.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rand::RngCore;
use sha2::{Digest, Sha256};

pub(crate) const API_TOKEN: &str = "reeve_pat_";
pub(crate) const REFRESH_TOKEN: &str = "reeve_rt_";

const SECRET_BYTES: usize = 32;
const CHECK_BYTES: usize = 3;

/// A new secret with this prefix.
pub(crate) fn mint(prefix: &str) -> String {
    let mut bytes = [0u8; SECRET_BYTES];
    rand::rng().fill_bytes(&mut bytes);
    let mut all = bytes.to_vec();
    all.extend(check(prefix, &bytes));
    format!("{prefix}{}", URL_SAFE_NO_PAD.encode(all))
}

/// The hash to look it up by; `None` when it was mistyped or is none of these.
pub(crate) fn hash(prefix: &str, secret: &str) -> Option<Vec<u8>> {
    let all = URL_SAFE_NO_PAD.decode(secret.strip_prefix(prefix)?).ok()?;
    let (bytes, sum) = all.split_at_checked(SECRET_BYTES)?;
    (sum == check(prefix, bytes)).then(|| Sha256::digest(secret.as_bytes()).to_vec())
}

/// The first characters, to recognise it by.
pub(crate) fn hint(prefix: &str, secret: &str) -> String {
    secret.chars().take(prefix.len() + 4).chain("…".chars()).collect()
}

fn check(prefix: &str, bytes: &[u8]) -> [u8; CHECK_BYTES] {
    let digest = Sha256::new().chain_update(prefix).chain_update(bytes).finalize();
    [digest[0], digest[1], digest[2]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_recognised_and_a_mistyped_one_is_not() {
        let secret = mint(API_TOKEN);
        assert!(hash(API_TOKEN, &secret).is_some());
        assert_eq!(hash(REFRESH_TOKEN, &secret), None);
        let mut wrong = secret.clone().into_bytes();
        wrong[20] = if wrong[20] == b'A' { b'B' } else { b'A' };
        assert_eq!(hash(API_TOKEN, &String::from_utf8(wrong).expect("ascii")), None);
        assert_eq!(hash(API_TOKEN, "reeve_pat_"), None);
        assert_ne!(mint(API_TOKEN), secret);
    }
}
