//! `reeve audit rotate-key`: on the server's machine, where the key's file is.

use crate::config::Settings;
use crate::output::Output;
use reeve_store::audit::key::AuditKey;
use serde_json::json;

pub(super) fn run(settings: &Settings, output: Output) -> anyhow::Result<()> {
    let path = settings.audit.key_file();
    let (old, new) = AuditKey::rotate(path)?;
    let (old, new) = (old.public(), new.public());
    if output.is_json() {
        return output
            .json(&json!({"old_key_id": old.id(), "key_id": new.id(), "public_key": new.to_base64()}));
    }
    println!(
        "{} signs from the next checkpoint on; {} vouches for it and is kept beside the file",
        new.id(),
        old.id()
    );
    println!("public key: {}", new.to_base64());
    Ok(())
}
