//! Settings of notifications as JSON.

use reeve_core::notice::{Setting, Topic};
use reeve_store::notification_settings::Settings;
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct MyNotificationsView {
    /// Where mail goes; null = none is sent.
    pub(crate) email: Option<String>,
    /// Whether this server sends mail at all.
    pub(crate) mail_configured: bool,
    pub(crate) topics: Vec<TopicView>,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct TeamNotificationsView {
    pub(crate) topics: Vec<TopicView>,
}

/// How much of a topic is told.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct TopicView {
    /// `job_ended`, `job_evicted`, `approval_requested`, `approval_decided`, `budget`, `idle`, `quota`, `node` or
    /// `security`.
    topic: String,
    /// `off`, `own` (what concerns the person) or `team` (everything in their teams).
    setting: String,
    /// Who says so: `own`, `team` or `default`.
    source: &'static str,
}

/// Each topic by the first layer that says something.
pub(super) fn topics(layers: &[(&'static str, &Settings)]) -> Vec<TopicView> {
    let one = |topic: &Topic| {
        let found =
            layers.iter().find_map(|(source, layer)| layer.get(topic).map(|setting| (*source, *setting)));
        let (source, setting): (&'static str, Setting) =
            found.unwrap_or(("default", topic.default_setting()));
        TopicView { topic: topic.to_string(), setting: setting.to_string(), source }
    };
    Topic::ALL.iter().map(one).collect()
}
