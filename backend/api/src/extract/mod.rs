//! What a request says, parsed: who calls, the body, the page, the version. A handler behind these has no
//! unreadable input left; what it means is the handler's to judge.

mod address;
mod caller;
mod if_match;
mod json;
mod keyed;
mod list;
mod patch;
mod query;
mod scan;

pub use address::Address;
pub use caller::{AuthKind, Caller};
pub use if_match::{IfMatch, Precondition};
pub use json::Json;
pub use keyed::{Effect, Empty, Keyed, Once, reply};
pub use list::{LONG_LIMIT, List, ListParams, LongListParams, PageView};
pub use patch::{clearable, not_null};
pub use query::Params;
