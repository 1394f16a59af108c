//! Settings of notifications, parsed.

use crate::problem::{Fields, Result};
use reeve_core::notice::{Setting, Topic};
use serde::Deserialize;
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// Topics that are left out stay.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PutNotifications {
    #[schema(max_items = 50)]
    settings: Vec<TopicSetting>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TopicSetting {
    topic: String,
    /// `off`, `own` or `team`; null = no word of one's own.
    setting: Option<String>,
}

impl PutNotifications {
    /// # Errors
    /// 422 for words that are none.
    pub(super) fn parse(&self) -> Result<BTreeMap<Topic, Option<Setting>>> {
        let mut fields = Fields::new();
        if self.settings.len() > 50 {
            fields.add("/settings", "too_many", "at most 50");
        }
        let mut settings = BTreeMap::new();
        for (at, body) in self.settings.iter().enumerate().take(50) {
            let topic: Option<Topic> = fields.word(&format!("/settings/{at}/topic"), &body.topic);
            let setting: Option<Option<Setting>> = match &body.setting {
                Some(text) => fields.word(&format!("/settings/{at}/setting"), text).map(Some),
                None => Some(None),
            };
            if let (Some(topic), Some(setting)) = (topic, setting) {
                settings.insert(topic, setting);
            }
        }
        fields.done()?;
        Ok(settings)
    }
}
