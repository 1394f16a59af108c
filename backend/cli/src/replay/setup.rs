//! `--setup`: pool, teams with a queue and a quota each, and a token with which simulated nodes join. What
//! exists already is left as it is.

use crate::client::{Call, Client, ClientError};
use anyhow::{Context, ensure};
use serde_json::{Value, json};
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// A team and what it is guaranteed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tenant {
    pub(crate) team: String,
    pub(crate) guaranteed_gpus: u32,
}

/// Nodes of each tenant, divided, in GPUs.
pub(crate) fn tenants(nodes: &[(String, u32)], divisor: u32, node_gpus: u32) -> anyhow::Result<Vec<Tenant>> {
    ensure!(divisor > 0, "--quota-divisor: must be at least 1");
    let tenant = |(team, nodes): &(String, u32)| -> anyhow::Result<Tenant> {
        let gpus = nodes.checked_mul(node_gpus).with_context(|| format!("{team}: too many nodes"))?;
        Ok(Tenant { team: team.clone(), guaranteed_gpus: gpus / divisor })
    };
    nodes.iter().map(tenant).collect()
}

/// Makes them, and writes the join token to `token_file`. Returns how many nodes the guarantees need.
pub(crate) async fn make(
    client: &Client,
    pool: &str,
    tenants: &[Tenant],
    node_gpus: u32,
    token_file: &Path,
) -> anyhow::Result<u32> {
    unless_there(client, Call::post("/pools", json!({"slug": pool, "name": pool}))).await?;
    for tenant in tenants {
        unless_there(client, Call::post("/teams", json!({"slug": tenant.team, "name": tenant.team}))).await?;
        let queue = json!({"slug": tenant.team, "name": tenant.team, "team": tenant.team});
        unless_there(client, Call::post("/queues", queue)).await?;
        let quota = json!({"guaranteed_gpus": tenant.guaranteed_gpus});
        let call = Call::put(format!("/quotas/{}/{pool}", tenant.team), quota).header("If-None-Match", "*");
        unless_there(client, call).await?;
    }
    let nodes = tenants.iter().map(|tenant| tenant.guaranteed_gpus).sum::<u32>().div_ceil(node_gpus);
    let body = json!({"pool": pool, "max_uses": nodes, "expires_in_secs": 86400});
    let token = client.send(Call::post("/join-tokens", body)).await?;
    let token = token["token"].as_str().context("the reply holds no token")?;
    let opened = OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(token_file);
    let written = opened.and_then(|mut file| file.write_all(token.as_bytes()));
    written.with_context(|| token_file.display().to_string())?;
    Ok(nodes)
}

async fn unless_there(client: &Client, call: Call) -> Result<Value, ClientError> {
    match client.send(call).await {
        // 409: the name is taken; 412: the quota exists.
        Err(ClientError::Refused(problem)) if [409, 412].contains(&problem.status) => Ok(Value::Null),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotas_are_the_tenants_nodes_divided() {
        let got = tenants(&[("a".into(), 64), ("b".into(), 8)], 4, 8).expect("good");
        let expected =
            [("a", 128), ("b", 16)].map(|(team, gpus)| Tenant { team: team.into(), guaranteed_gpus: gpus });
        assert_eq!(got, expected);
        assert!(tenants(&[("a".into(), u32::MAX)], 1, 8).is_err());
        assert!(tenants(&[], 0, 8).is_err());
    }
}
