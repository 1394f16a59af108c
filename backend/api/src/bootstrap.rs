//! The first administrator: made from the command line, because nobody can sign in to make them.

use crate::auth::password;
use crate::problem::Fields;
use chrono::{DateTime, Utc};
use reeve_core::access::PlatformRole;
use reeve_store::users::NewUser;
use reeve_store::{Actor, Store, StoreError, WriteContext, users};

/// Why there is no first administrator.
#[derive(Debug, thiserror::Error)]
pub enum BootstrapError {
    #[error("{0}")]
    Invalid(String),
    #[error("the password could not be hashed")]
    Hash,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Makes the first administrator while nobody exists; `false` when somebody does.
///
/// # Errors
/// [`BootstrapError::Invalid`] for a username or password that would be refused elsewhere too.
pub async fn create_first_admin(
    store: &Store,
    username: &str,
    password: &str,
    now: DateTime<Utc>,
) -> Result<bool, BootstrapError> {
    if users::any(store).await? {
        return Ok(false);
    }
    let mut fields = Fields::new();
    fields.username("username", username);
    fields.text("password", password, password::LEAST, password::MOST);
    fields.done().map_err(|problem| BootstrapError::Invalid(problem.detail))?;
    let hash = password::hash(password).map_err(|_| BootstrapError::Hash)?;
    let context = WriteContext { actor: Actor::system("bootstrap"), request_id: None, now };
    let mut tx = store.begin(context).await?;
    let new = NewUser {
        username: username.to_owned(),
        display_name: username.to_owned(),
        email: None,
        password_hash: Some(hash),
        platform_roles: vec![PlatformRole::Admin],
    };
    match users::create(&mut tx, new).await {
        Ok(_) => tx.commit().await?,
        // Another server was faster.
        Err(StoreError::Duplicate { .. }) => return Ok(false),
        Err(other) => return Err(other.into()),
    }
    Ok(true)
}
