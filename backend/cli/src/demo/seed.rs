//! What the demo starts with: a pool, a department with three teams, guarantees, queues, people, and a policy with
//! short times. Made through the REST API, once.
//!
//! It refuses to touch what exists: running it again completes what is missing.

use super::logins::{Login, PEOPLE, password_of};
use crate::client::{Call, Client, ClientError};
use anyhow::Context;
use serde_json::{Value, json};

pub(super) const POOL: &str = "a100-80g";
/// Slug, name.
pub(super) const TEAMS: [(&str, &str); 3] =
    [("vision", "Vision 视觉"), ("speech", "Speech 语音"), ("search", "Search 搜索")];
const DEPARTMENT: (&str, &str) = ("research", "Research 研究部");
pub(super) const GUARANTEED_GPUS: u32 = 8;
/// Short enough for somebody who watches.
const MIN_RUNTIME_SECS: u32 = 5;
const GRACE_SECS: u32 = 10;

/// Makes all of it.
pub(super) async fn seed(admin: &Client, logins: &[Login]) -> anyhow::Result<()> {
    let pool = json!({"slug": POOL, "name": "A100 80G", "gpu_model": "A100-80G"});
    unless_there(admin, Call::post("/pools", pool)).await?;
    teams(admin).await.context("making the teams")?;
    people(admin, logins).await.context("making the people")?;
    policy(admin).await.context("setting the policy")
}

async fn teams(admin: &Client) -> anyhow::Result<()> {
    let (department, name) = DEPARTMENT;
    unless_there(admin, Call::post("/teams", json!({"slug": department, "name": name}))).await?;
    quota(admin, department, json!({"guaranteed_gpus": 24})).await?;
    for (slug, name) in TEAMS {
        let team = json!({"slug": slug, "name": name, "parent": department});
        unless_there(admin, Call::post("/teams", team)).await?;
        quota(admin, slug, json!({"guaranteed_gpus": GUARANTEED_GPUS})).await?;
        let training =
            json!({"slug": format!("{slug}-train"), "name": format!("{name} · training 训练"), "team": slug});
        unless_there(admin, Call::post("/queues", training)).await?;
        let trials = json!({
            "slug": format!("{slug}-trial"), "name": format!("{name} · trials 试验"), "team": slug,
            "allowed_kinds": ["experiment", "evaluation", "batch"], "max_running_jobs_per_user": 8,
        });
        unless_there(admin, Call::post("/queues", trials)).await?;
    }
    Ok(())
}

async fn quota(admin: &Client, team: &str, quota: Value) -> anyhow::Result<()> {
    let call = Call::put(format!("/quotas/{team}/{POOL}"), quota).header("If-None-Match", "*");
    unless_there(admin, call).await?;
    Ok(())
}

async fn people(admin: &Client, logins: &[Login]) -> anyhow::Result<()> {
    for person in PEOPLE.iter().filter(|person| person.role.is_some()) {
        let body = json!({
            "username": person.username, "display_name": person.display_name,
            "password": password_of(logins, person.username)?,
        });
        unless_there(admin, Call::post("/users", body)).await?;
        if let Some((team, role)) = person.role {
            let path = format!("/teams/{team}/members/{}/{role}", person.username);
            admin.send(Call::put(path, json!({}))).await?;
        }
    }
    Ok(())
}

async fn policy(admin: &Client) -> anyhow::Result<()> {
    let read = admin.send(Call::get("/policy")).await?;
    let mut document = read["document"].clone();
    shorten(&mut document);
    let condition = format!("\"{}\"", read["version"]);
    admin.send(Call::put("/policy", document).header("If-Match", condition)).await?;
    Ok(())
}

/// The same rules with times for a demo, and no protection of jobs that were evicted often.
fn shorten(document: &mut Value) {
    document["max_evictions_per_job_per_day"] = json!(100);
    if let Some(kinds) = document["kinds"].as_object_mut() {
        for rules in kinds.values_mut() {
            rules["min_runtime_secs"] = json!(MIN_RUNTIME_SECS);
            rules["grace_secs"] = json!(GRACE_SECS);
        }
    }
}

async fn unless_there(client: &Client, call: Call) -> Result<(), ClientError> {
    match client.send(call).await {
        // 409: the name is taken; 412: the quota exists.
        Err(ClientError::Refused(problem)) if [409, 412].contains(&problem.status) => Ok(()),
        other => other.map(|_| ()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_gets_the_short_times() {
        let mut document = serde_json::to_value(reeve_core::policy::Policy::default()).expect("JSON");
        shorten(&mut document);
        let policy: reeve_core::policy::Policy = serde_json::from_value(document).expect("still a policy");
        assert!(policy.kinds.values().all(|rules| rules.grace_secs == 10 && rules.min_runtime_secs == 5));
        assert_eq!(policy.kinds.len(), reeve_core::kind::Kind::ALL.len());
    }
}
