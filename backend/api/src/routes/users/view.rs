//! A person as JSON.

use crate::routes::me::view::MembershipView;
use chrono::{DateTime, Utc};
use reeve_store::memberships::of_users;
use reeve_store::users::User;
use reeve_store::{Store, StoreError};
use serde::Serialize;
use std::collections::BTreeMap;
use utoipa::ToSchema;
use uuid::Uuid;

#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct UserView {
    id: Uuid,
    username: String,
    display_name: String,
    email: Option<String>,
    locale: Option<String>,
    /// `active` or `disabled`.
    state: String,
    /// `person`, or `service` for the account of a workload rule.
    kind: String,
    platform_roles: Vec<String>,
    memberships: Vec<MembershipView>,
    created_at: DateTime<Utc>,
    version: i64,
}

pub(crate) async fn views(store: &Store, users: Vec<User>) -> Result<Vec<UserView>, StoreError> {
    let ids: Vec<Uuid> = users.iter().map(|user| user.id).collect();
    let mut by_user: BTreeMap<Uuid, Vec<MembershipView>> = BTreeMap::new();
    for row in of_users(store, &ids).await? {
        by_user.entry(row.user_id).or_default().push(row.into());
    }
    Ok(users
        .into_iter()
        .map(|user| {
            let memberships = by_user.remove(&user.id).unwrap_or_default();
            view(user, memberships)
        })
        .collect())
}

pub(crate) async fn one(store: &Store, user: User) -> Result<UserView, StoreError> {
    let memberships = of_users(store, &[user.id]).await?.into_iter().map(MembershipView::from).collect();
    Ok(view(user, memberships))
}

pub(crate) fn view(user: User, memberships: Vec<MembershipView>) -> UserView {
    UserView {
        id: user.id,
        username: user.username,
        display_name: user.display_name,
        email: user.email,
        locale: user.locale,
        state: user.state,
        kind: user.kind,
        platform_roles: user.platform_roles,
        memberships,
        created_at: user.created_at,
        version: user.version,
    }
}
