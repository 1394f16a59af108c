//! Mail by SMTP.

use lettre::message::header::ContentType;
use lettre::message::{Mailbox, Message};
use lettre::{AsyncSmtpTransport, AsyncTransport, Tokio1Executor};
use serde::{Deserialize, Serialize};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(15);

/// A mail server, and who we are there.
#[derive(Clone)]
pub struct Mail {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    from: Mailbox,
}

impl std::fmt::Debug for Mail {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Mail").field("from", &self.from).finish_non_exhaustive()
    }
}

/// What is wrong with the settings of mail.
#[derive(Debug, thiserror::Error)]
pub enum MailError {
    #[error(
        "mail.smtp_url is no SMTP URL, for example smtps://user:password@mail.example or smtp://mail.example:25"
    )]
    Url(#[source] lettre::transport::smtp::Error),
    #[error("mail.from is no address, for example Reeve <reeve@example.com>")]
    From(#[source] lettre::address::AddressError),
}

/// A mail as it lies in the outbox.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Letter {
    pub(super) subject: String,
    pub(super) text: String,
}

impl Mail {
    /// # Errors
    /// [`MailError`].
    pub fn new(smtp_url: &str, from: &str) -> Result<Self, MailError> {
        let transport = AsyncSmtpTransport::<Tokio1Executor>::from_url(smtp_url).map_err(MailError::Url)?;
        let transport = transport.timeout(Some(PATIENCE)).build();
        Ok(Self { transport, from: from.parse().map_err(MailError::From)? })
    }

    /// Sends it once. The error is for administrators.
    pub(super) async fn send(&self, to: &str, letter: &Letter) -> Result<(), String> {
        let to: Mailbox = to.parse().map_err(|error| format!("the person's address: {error}"))?;
        let message = Message::builder()
            .from(self.from.clone())
            .to(to)
            .subject(letter.subject.clone())
            // Answers of absence would go nowhere.
            .header(AutoSubmitted)
            .header(ContentType::TEXT_PLAIN)
            .body(letter.text.clone())
            .map_err(|error| error.to_string())?;
        match tokio::time::timeout(PATIENCE, self.transport.send(message)).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err(format!("no answer within {} s", PATIENCE.as_secs())),
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct AutoSubmitted;

impl lettre::message::header::Header for AutoSubmitted {
    fn name() -> lettre::message::header::HeaderName {
        lettre::message::header::HeaderName::new_from_ascii_str("Auto-Submitted")
    }

    fn parse(_: &str) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        Ok(Self)
    }

    fn display(&self) -> lettre::message::header::HeaderValue {
        lettre::message::header::HeaderValue::new(Self::name(), "auto-generated".to_owned())
    }
}
