//! Which program runs a script's text. The text goes to the node as an argument: nothing has to lie there beforehand.

use anyhow::{Context, bail};
use std::path::Path;

/// Shells and languages that take a program's text after `-c`, and arguments after it.
const BY_TEXT: [&str; 6] = ["sh", "bash", "dash", "ksh", "zsh", "python"];

/// The words of the first line's `#!`, and those that make it read a text.
///
/// # Errors
/// For a script without one, and for a program that is not known to take a text.
pub(super) fn interpreter(first_line: &str) -> anyhow::Result<Vec<String>> {
    let line = first_line
        .strip_prefix("#!")
        .context("a job script begins with #! and the program that runs it, for example #!/bin/bash")?;
    let mut words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    let by_env = words.first().is_some_and(|word| word.ends_with("/env"));
    let program = words.get(usize::from(by_env)).context("the first line's #! names no program")?;
    let name = Path::new(program).file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    // python3, python3.12
    let family = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    if !BY_TEXT.contains(&family) {
        bail!(
            "a script for {name} cannot be sent as a text: put it on the nodes, and submit `-- {program} SCRIPT`"
        );
    }
    // A shell's own flags stay; -c is its last.
    words.push("-c".to_owned());
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shells_and_python_take_a_text() {
        assert_eq!(interpreter("#!/bin/bash -e").expect("known"), ["/bin/bash", "-e", "-c"]);
        assert_eq!(
            interpreter("#! /usr/bin/env python3.12").expect("known"),
            ["/usr/bin/env", "python3.12", "-c"]
        );
        for wrong in ["echo", "#!", "#!/usr/bin/env", "#!/usr/bin/perl"] {
            assert!(interpreter(wrong).is_err(), "{wrong}");
        }
    }
}
