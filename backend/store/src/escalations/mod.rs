//! Escalations: kept, decided, put in force and ended. Each change goes from one state to the next by a guarded update,
//! with its event. What may follow what is [`reeve_core::approval`]'s; this module refuses to judge people.

mod change;
pub mod comments;
pub mod cover;
pub mod decide;
pub mod due;
pub mod effect;
pub mod end;
pub mod list;
pub mod request;
pub mod row;
pub mod show;
