//! A sentence in both languages, as JSON.

use reeve_core::sentence::Sentence;
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct SentenceView {
    pub en: String,
    pub zh: String,
}

impl From<Sentence> for SentenceView {
    fn from(sentence: Sentence) -> Self {
        Self { en: sentence.en, zh: sentence.zh }
    }
}
