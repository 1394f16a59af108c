//! Passwords: argon2id on the blocking pool, a few at a time. An unknown user costs as much as a wrong password.

use crate::problem::{Code, Problem, Result};
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use argon2::{Algorithm, Argon2, Params, Version};
use std::sync::OnceLock;
use tokio::sync::Semaphore;

/// Hashes at once: each takes its memory and a core.
const AT_ONCE: usize = 2;

/// OWASP's cheat sheet on storing passwords names several settings of argon2id of equal strength; this is the one with the
/// least memory, which an allocator keeps for long. A stored hash names its own.
const MEMORY_KIB: u32 = 7 * 1024;
const PASSES: u32 = 5;

pub(crate) const LEAST: usize = 10;
pub(crate) const MOST: usize = 200;

#[derive(Debug)]
pub(crate) struct Passwords(Semaphore);

impl Default for Passwords {
    fn default() -> Self {
        Self(Semaphore::new(AT_ONCE))
    }
}

impl Passwords {
    /// Whether the password is right; `None` as hash is a user who has none, or is unknown.
    pub(crate) async fn verify(&self, password: String, hash: Option<String>) -> Result<bool> {
        self.blocking(move || match hash {
            Some(hash) => Ok(matches(&password, &hash)),
            None => {
                matches(&password, decoy()?);
                Ok(false)
            }
        })
        .await
    }

    pub(crate) async fn hash(&self, password: String) -> Result<String> {
        self.blocking(move || hash(&password)).await
    }

    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let _permit = self.0.acquire().await.map_err(|error| Problem::internal(&error))?;
        tokio::task::spawn_blocking(work).await.map_err(|error| Problem::internal(&error))?
    }
}

pub(crate) fn hash(password: &str) -> Result<String> {
    let hasher = Params::new(MEMORY_KIB, PASSES, 1, None)
        .map(|params| Argon2::new(Algorithm::Argon2id, Version::V0x13, params));
    let hash = hasher.map_err(|_| Problem::new(Code::Internal))?.hash_password(password.as_bytes());
    Ok(hash.map_err(|_| Problem::new(Code::Internal))?.to_string())
}

fn matches(password: &str, hash: &str) -> bool {
    PasswordHash::new(hash)
        .is_ok_and(|parsed| Argon2::default().verify_password(password.as_bytes(), &parsed).is_ok())
}

/// A hash that no password has been told for.
fn decoy() -> Result<&'static str> {
    static DECOY: OnceLock<String> = OnceLock::new();
    if let Some(decoy) = DECOY.get() {
        return Ok(decoy);
    }
    let made = hash(&super::secret::mint(""))?;
    Ok(DECOY.get_or_init(|| made))
}
