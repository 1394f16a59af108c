//! Jobs as people write them: by flags, in a file, or as a script with lines of its own.

pub(crate) mod array;
pub(crate) mod body;
mod interpreter;
pub(crate) mod options;
mod sbatch;
mod sbatch_time;
mod script;
