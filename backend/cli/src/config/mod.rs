//! Settings: flags over environment over file, checked once. Only this part of the product reads the environment.

mod load;
mod settings;

pub(crate) use load::{Overrides, load};
pub(crate) use settings::{ServerSettings, Settings};
