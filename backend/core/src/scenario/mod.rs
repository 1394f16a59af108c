//! Scenario files: stories with expected outcomes.
