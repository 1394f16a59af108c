//! Names, commands, environments, labels: bounded text that cannot break a terminal, a log or a shell.

use super::fault::Faults;
use std::collections::BTreeMap;

/// Most characters of a job's name.
pub const MAX_NAME_CHARS: usize = 200;
const MAX_ARGS: usize = 1_000;
const MAX_COMMAND_BYTES: usize = 64 * 1_024;
const MAX_ENV: usize = 200;
const MAX_ENV_NAME_BYTES: usize = 128;
const MAX_ENV_BYTES: usize = 64 * 1_024;
const MAX_LABELS: usize = 64;
const MAX_LABEL_CHARS: usize = 253;
const MAX_PATH_BYTES: usize = 4_096;

/// Signals that a job may ask to be told by.
pub const CHECKPOINT_SIGNALS: [&str; 8] = ["USR1", "USR2", "HUP", "INT", "TERM", "QUIT", "ALRM", "CONT"];

/// A name that people read: 1 to `most` characters, no control characters. Any script and emoji are fine.
pub fn name(pointer: &str, text: &str, most: usize, faults: &mut Faults) {
    let chars = text.chars().count();
    if text.trim().is_empty() {
        faults.add(pointer, "empty", format!("give a name of 1 to {most} characters"));
    } else if chars > most {
        faults.add(pointer, "too_long", format!("{chars} characters are too many: use at most {most}"));
    }
    if text.chars().any(char::is_control) {
        faults.add(
            pointer,
            "control_character",
            "control characters (NUL, line breaks, escapes) cannot stand in a name: take them out",
        );
    }
}

/// What to run: argv.
pub fn command(words: &[String], faults: &mut Faults) {
    if words.first().is_none_or(|first| first.trim().is_empty()) {
        faults.add(
            "/command",
            "empty",
            "give the program and its arguments, for example [\"python\", \"train.py\"]",
        );
    }
    if words.len() > MAX_ARGS || words.iter().map(String::len).sum::<usize>() > MAX_COMMAND_BYTES {
        faults.add(
            "/command",
            "too_long",
            format!("a command has at most {MAX_ARGS} words and {MAX_COMMAND_BYTES} bytes: put the rest in a script"),
        );
    }
    for (index, _) in words.iter().enumerate().filter(|(_, word)| word.contains('\0')) {
        faults.add(&format!("/command/{index}"), "control_character", "NUL cannot stand in an argument");
    }
}

/// Variables for the job. Reeve's own are refused: it sets them itself.
pub fn env(vars: &BTreeMap<String, String>, faults: &mut Faults) {
    let bytes: usize = vars.iter().map(|(name, value)| name.len() + value.len()).sum();
    if vars.len() > MAX_ENV || bytes > MAX_ENV_BYTES {
        faults.add(
            "/env",
            "too_large",
            format!("at most {MAX_ENV} variables and {MAX_ENV_BYTES} bytes in all: put the rest in a file"),
        );
        return;
    }
    for (name, value) in vars {
        let pointer = format!("/env/{}", escape(name));
        if !is_env_name(name) {
            faults.add(
                &pointer,
                "bad_name",
                format!("a variable's name has letters, digits and _, does not start with a digit, and has at most {MAX_ENV_NAME_BYTES} bytes"),
            );
        } else if is_reserved(name) {
            faults.add(&pointer, "reserved", "Reeve sets this variable itself: leave it out");
        } else if value.contains('\0') {
            faults.add(&pointer, "control_character", "NUL cannot stand in a variable's value");
        }
    }
}

/// Labels of a job or asked of a node.
pub fn labels(pointer: &str, labels: &BTreeMap<String, String>, faults: &mut Faults) {
    if labels.len() > MAX_LABELS {
        faults.add(
            pointer,
            "too_many",
            format!("{} labels are too many: use at most {MAX_LABELS}", labels.len()),
        );
        return;
    }
    for (key, value) in labels {
        let at = format!("{pointer}/{}", escape(key));
        if !is_label_key(key) {
            faults.add(
                &at,
                "bad_name",
                "a label's name has 1 to 63 letters, digits, '.', '_', '-' or '/' and starts and ends with a letter or digit",
            );
        } else if value.chars().count() > MAX_LABEL_CHARS || value.chars().any(char::is_control) {
            faults.add(
                &at,
                "bad_value",
                format!("a label's value has at most {MAX_LABEL_CHARS} characters, none of them control characters"),
            );
        }
    }
}

/// Where to start it: an absolute path.
pub fn working_dir(path: &str, faults: &mut Faults) {
    if !path.starts_with('/') || path.len() > MAX_PATH_BYTES || path.chars().any(char::is_control) {
        faults.add(
            "/working_dir",
            "bad_path",
            format!("give an absolute path of at most {MAX_PATH_BYTES} bytes without control characters"),
        );
    }
}

/// A signal's name, `SIG` left off, or a fault.
pub fn signal(text: &str, faults: &mut Faults) -> Option<String> {
    let name = text.to_ascii_uppercase();
    let name = name.strip_prefix("SIG").unwrap_or(&name);
    let known = CHECKPOINT_SIGNALS.contains(&name);
    if !known {
        faults.add(
            "/checkpoint_signal",
            "unknown_signal",
            format!("not a signal to checkpoint by: use one of {}", CHECKPOINT_SIGNALS.join(", ")),
        );
    }
    known.then(|| name.to_owned())
}

/// A short word such as a topology level or a GPU model.
pub fn word(pointer: &str, text: &str, faults: &mut Faults) {
    if text.trim().is_empty() || text.chars().count() > 100 || text.chars().any(char::is_control) {
        faults.add(
            pointer,
            "bad_value",
            "give 1 to 100 characters without control characters, or leave it out",
        );
    }
}

fn is_env_name(name: &str) -> bool {
    name.len() <= MAX_ENV_NAME_BYTES
        && name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn is_label_key(key: &str) -> bool {
    (1..=63).contains(&key.len())
        && key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '/'))
        && key.starts_with(|first: char| first.is_ascii_alphanumeric())
        && key.ends_with(|last: char| last.is_ascii_alphanumeric())
}

/// A key inside a JSON pointer (RFC 6901), cut to what a message can carry.
fn escape(key: &str) -> String {
    key.chars().filter(|c| !c.is_control()).take(64).collect::<String>().replace('~', "~0").replace('/', "~1")
}
/// Variables that the agent sets; `REEVE_SIM_…` are orders to simulated nodes, and the job's own.
fn is_reserved(name: &str) -> bool {
    name == "CUDA_VISIBLE_DEVICES" || (name.starts_with("REEVE_") && !name.starts_with("REEVE_SIM_"))
}

#[cfg(test)]
mod tests {
    use super::is_reserved;

    #[test]
    fn what_the_agent_sets_is_reserved_and_orders_to_simulated_nodes_are_not() {
        assert!(is_reserved("REEVE_RANK") && is_reserved("CUDA_VISIBLE_DEVICES"));
        assert!(!is_reserved("REEVE_SIM_DURATION_SECS") && !is_reserved("PATH"));
    }
}
