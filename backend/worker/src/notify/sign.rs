//! Signatures of what is sent: Standard Webhooks for programs, and each chat robot's own scheme.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, Utc};
use hmac::{Hmac, Mac};
use sha2::Sha256;

const PREFIX: &str = "whsec_";

/// `webhook-signature` for a message: one signature a secret, `v1,<base64>` each, with a space between.
///
/// A secret is `whsec_` and the key in base64.
pub(super) fn standard(secrets: &[&str], id: &str, at: DateTime<Utc>, body: &str) -> Option<String> {
    let content = format!("{id}.{}.{body}", at.timestamp());
    let signatures: Option<Vec<String>> = secrets
        .iter()
        .map(|secret| {
            let key = STANDARD.decode(secret.strip_prefix(PREFIX).unwrap_or(secret)).ok()?;
            Some(format!("v1,{}", hmac(&key, content.as_bytes())))
        })
        .collect();
    Some(signatures?.join(" "))
}

/// Feishu's: the time in seconds and the secret are the key, and nothing is signed with it.
pub(super) fn feishu(secret: &str, at: DateTime<Utc>) -> (String, String) {
    let time = at.timestamp().to_string();
    let key = format!("{time}\n{secret}");
    let sign = hmac(key.as_bytes(), b"");
    (time, sign)
}

/// DingTalk's: the time in milliseconds and the secret, signed with the secret.
pub(super) fn dingtalk(secret: &str, at: DateTime<Utc>) -> (String, String) {
    let time = at.timestamp_millis().to_string();
    let sign = hmac(secret.as_bytes(), format!("{time}\n{secret}").as_bytes());
    (time, sign)
}

fn hmac(key: &[u8], content: &[u8]) -> String {
    // A key of any length is taken.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else { return String::new() };
    mac.update(content);
    STANDARD.encode(mac.finalize().into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(secs: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(secs, 0).expect("a moment")
    }

    /// The vector that the libraries of standardwebhooks.com are tested with.
    #[test]
    fn a_signature_is_the_public_vectors() {
        let (secret, id) = ("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek");
        let signature = standard(&[secret], id, at(1_614_265_330), r#"{"test": 2432232314}"#);
        assert_eq!(signature.as_deref(), Some("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="));
        let both = standard(&[secret, "whsec_AAAA"], id, at(1_614_265_330), r#"{"test": 2432232314}"#);
        let both = both.expect("two signatures");
        assert!(both.starts_with("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE= v1,"), "{both}");
        assert_eq!(standard(&["whsec_%%"], id, at(0), ""), None);
    }

    /// Computed with openssl from the robots' own descriptions:
    /// `printf '' | openssl dgst -sha256 -hmac $'1599360473\nsecret' -binary | base64` and
    /// `printf '1599360473000\nsecret' | openssl dgst -sha256 -hmac secret -binary | base64`.
    #[test]
    fn robots_are_signed_for_as_they_ask() {
        assert_eq!(feishu("secret", at(1_599_360_473)), ("1599360473".to_owned(), FEISHU.to_owned()));
        assert_eq!(dingtalk("secret", at(1_599_360_473)), ("1599360473000".to_owned(), DINGTALK.to_owned()));
    }

    const FEISHU: &str = "q4jswNiMy51J5JuQV566yJat0/lQ/c+22kINzUgKsGU=";
    const DINGTALK: &str = "h/3f4uEADBeKkVuXX2NS1pXSEqARbYb1RV0kmXPBfn0=";
}
