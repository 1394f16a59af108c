//! The key that signs checkpoints: Ed25519, in a file of the server's own, never in the database that it vouches for.
//!
//! A key file is PEM (PKCS #8, as `openssl` writes it). Before the PEM may stand who the key before it was, and that key's
//! signature of this one: so trust goes on from key to key. This module refuses a file that others may read.

use aws_lc_rs::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

const BEGIN: &str = "-----BEGIN PRIVATE KEY-----";
const END: &str = "-----END PRIVATE KEY-----";
const ENDORSED_BY: &str = "Endorsed-By: ";
const ENDORSEMENT: &str = "Endorsement: ";

/// Why there is no key.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    #[error("{path}: {source}")]
    Io { path: PathBuf, source: std::io::Error },
    #[error("{0}: no Ed25519 key in PEM")]
    Unreadable(PathBuf),
    #[error("{0}: others may read it; `chmod 600` it")]
    Open(PathBuf),
    #[error("the key could not be made")]
    NotMade,
}

/// A public key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PublicKey(pub [u8; 32]);

impl PublicKey {
    /// From base64 of 32 bytes.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        BASE64.decode(text.trim()).ok()?.try_into().ok().map(Self)
    }

    #[must_use]
    pub fn to_base64(self) -> String {
        BASE64.encode(self.0)
    }

    /// The first 16 hexadecimal digits of its SHA-256.
    #[must_use]
    pub fn id(&self) -> String {
        hex::encode(Sha256::digest(self.0))[..16].to_owned()
    }

    /// Whether `signature` is this key's, of `message`.
    #[must_use]
    pub fn has_signed(&self, message: &[u8], signature: &[u8]) -> bool {
        UnparsedPublicKey::new(&ED25519, self.0).verify(message, signature).is_ok()
    }
}

/// What an old key signs of a new one.
#[must_use]
pub fn endorsement_message(new: PublicKey) -> Vec<u8> {
    format!("reeve-audit-key-v1\n{}\n", hex::encode(new.0)).into_bytes()
}

/// That the key before this one vouches for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endorsement {
    pub key_id: String,
    pub signature: Vec<u8>,
}

/// A key that signs.
pub struct AuditKey {
    pair: Ed25519KeyPair,
    public: PublicKey,
    pub endorsement: Option<Endorsement>,
}

impl std::fmt::Debug for AuditKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AuditKey").field("key_id", &self.public.id()).finish_non_exhaustive()
    }
}

impl AuditKey {
    /// # Errors
    /// [`KeyError::NotMade`].
    pub fn generate() -> Result<Self, KeyError> {
        let pair = Ed25519KeyPair::generate().map_err(|_| KeyError::NotMade)?;
        Self::new(pair, None).ok_or(KeyError::NotMade)
    }

    fn new(pair: Ed25519KeyPair, endorsement: Option<Endorsement>) -> Option<Self> {
        let public = PublicKey(pair.public_key().as_ref().try_into().ok()?);
        Some(Self { pair, public, endorsement })
    }

    /// A new key that this one vouches for.
    ///
    /// # Errors
    /// [`KeyError::NotMade`].
    pub fn successor(&self) -> Result<Self, KeyError> {
        let mut next = Self::generate()?;
        let signature = self.sign(&endorsement_message(next.public));
        next.endorsement = Some(Endorsement { key_id: self.public.id(), signature });
        Ok(next)
    }

    #[must_use]
    pub const fn public(&self) -> PublicKey {
        self.public
    }

    #[must_use]
    pub fn sign(&self, message: &[u8]) -> Vec<u8> {
        self.pair.sign(message).as_ref().to_vec()
    }

    /// # Errors
    /// [`KeyError`], naming the file.
    pub fn load(path: &Path) -> Result<Self, KeyError> {
        let io = |source| KeyError::Io { path: path.to_owned(), source };
        let mode = fs::metadata(path).map_err(io)?.permissions().mode();
        if mode & 0o077 != 0 {
            return Err(KeyError::Open(path.to_owned()));
        }
        let text = fs::read_to_string(path).map_err(io)?;
        Self::from_text(&text).ok_or_else(|| KeyError::Unreadable(path.to_owned()))
    }

    /// The key of the file, which is made when it does not exist; the second value says whether it was.
    ///
    /// # Errors
    /// [`KeyError`].
    pub fn load_or_make(path: &Path) -> Result<(Self, bool), KeyError> {
        let io = |source| KeyError::Io { path: path.to_owned(), source };
        if path.try_exists().map_err(io)? {
            return Ok((Self::load(path)?, false));
        }
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(io)?;
        }
        match Self::generate()?.write_new(path) {
            // Another process was faster: its key counts.
            Err(KeyError::Io { source, .. }) if source.kind() == std::io::ErrorKind::AlreadyExists => {
                Ok((Self::load(path)?, false))
            }
            Err(other) => Err(other),
            Ok(()) => Ok((Self::load(path)?, true)),
        }
    }

    /// Replaces the file's key by a successor of it. The old one stays beside it, named by its id. A server reads the file
    /// before each checkpoint: nothing has to be started again.
    ///
    /// # Errors
    /// [`KeyError`]; the file then holds the old key.
    pub fn rotate(path: &Path) -> Result<(Self, Self), KeyError> {
        let io = |source| KeyError::Io { path: path.to_owned(), source };
        let old = Self::load(path)?;
        let new = old.successor()?;
        let beside = |suffix: &str| {
            let mut name = path.as_os_str().to_owned();
            name.push(suffix);
            PathBuf::from(name)
        };
        let coming = beside(".new");
        let _ = fs::remove_file(&coming);
        new.write_new(&coming)?;
        let kept = beside(&format!(".{}", old.public.id()));
        fs::copy(path, &kept).map_err(io)?;
        fs::set_permissions(&kept, fs::Permissions::from_mode(0o600)).map_err(io)?;
        fs::rename(&coming, path).map_err(io)?;
        Ok((old, new))
    }

    /// Whole or not at all, and never over another.
    fn write_new(&self, path: &Path) -> Result<(), KeyError> {
        let io = |source| KeyError::Io { path: path.to_owned(), source };
        let text = self.to_text()?;
        let folder = path.parent().unwrap_or(Path::new("."));
        let coming = tempfile::NamedTempFile::new_in(folder).map_err(io)?;
        let mut file = OpenOptions::new().write(true).mode(0o600).open(coming.path()).map_err(io)?;
        file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(io)?;
        coming.persist_noclobber(path).map_err(|error| io(error.error))?;
        Ok(())
    }

    fn to_text(&self) -> Result<String, KeyError> {
        let der = self.pair.to_pkcs8v1().map_err(|_| KeyError::NotMade)?;
        let mut text = String::new();
        if let Some(endorsement) = &self.endorsement {
            text.push_str(&format!("{ENDORSED_BY}{}\n", endorsement.key_id));
            text.push_str(&format!("{ENDORSEMENT}{}\n", BASE64.encode(&endorsement.signature)));
        }
        text.push_str(&format!("{BEGIN}\n{}\n{END}\n", BASE64.encode(der.as_ref())));
        Ok(text)
    }

    fn from_text(text: &str) -> Option<Self> {
        let (head, rest) = text.split_once(BEGIN)?;
        let (body, _) = rest.split_once(END)?;
        let der = BASE64.decode(body.split_whitespace().collect::<String>()).ok()?;
        let pair = Ed25519KeyPair::from_pkcs8_maybe_unchecked(&der).ok()?;
        let field = |name| head.lines().find_map(|line: &str| line.strip_prefix(name));
        let endorsement = field(ENDORSED_BY).zip(field(ENDORSEMENT)).and_then(|(key_id, signature)| {
            let signature = BASE64.decode(signature.trim()).ok()?;
            Some(Endorsement { key_id: key_id.trim().to_owned(), signature })
        });
        Self::new(pair, endorsement)
    }
}

/// Keys that are trusted, by their id.
#[derive(Debug, Clone, Default)]
pub struct KeyRing(BTreeMap<String, PublicKey>);

impl KeyRing {
    pub fn trust(&mut self, key: PublicKey) {
        self.0.insert(key.id(), key);
    }

    #[must_use]
    pub fn get(&self, key_id: &str) -> Option<&PublicKey> {
        self.0.get(key_id)
    }

    /// Trusts `key` if a trusted one vouches for it; whether it is trusted now.
    pub fn admit(&mut self, key: PublicKey, endorsement: Option<&Endorsement>) -> bool {
        if self.0.contains_key(&key.id()) {
            return true;
        }
        let vouched = endorsement.is_some_and(|endorsement| {
            self.get(&endorsement.key_id)
                .is_some_and(|old| old.has_signed(&endorsement_message(key), &endorsement.signature))
        });
        if vouched {
            self.trust(key);
        }
        vouched
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_survives_its_file_and_is_rotated_with_the_old_ones_word() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("keys/audit.key");
        let (made, new) = AuditKey::load_or_make(&path).expect("made");
        let (again, fresh) = AuditKey::load_or_make(&path).expect("read");
        assert!(new && !fresh);
        assert_eq!(made.public(), again.public());
        let signature = made.sign(b"x");
        assert!(again.public().has_signed(b"x", &signature) && !again.public().has_signed(b"y", &signature));

        let (old, next) = AuditKey::rotate(&path).expect("rotated");
        let read = AuditKey::load(&path).expect("read");
        assert_eq!((old.public(), next.public()), (made.public(), read.public()));
        let mut ring = KeyRing::default();
        ring.trust(old.public());
        assert!(ring.admit(read.public(), read.endorsement.as_ref()));
        let stranger = AuditKey::generate().expect("made");
        assert!(!ring.admit(stranger.public(), read.endorsement.as_ref()), "that word was for another key");
        let kept = folder.path().join(format!("keys/audit.key.{}", old.public().id()));
        assert_eq!(AuditKey::load(&kept).expect("kept").public(), old.public());
    }

    #[test]
    fn a_file_that_others_may_read_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("audit.key");
        AuditKey::load_or_make(&path).expect("made");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("opened");
        assert!(matches!(AuditKey::load(&path), Err(KeyError::Open(_))));
        fs::write(&path, "no key").expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("closed");
        assert!(matches!(AuditKey::load(&path), Err(KeyError::Unreadable(_))));
    }
}
