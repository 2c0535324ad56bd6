//! Asks a person before anything is changed. Where there is nobody to ask, it is refused.

use std::io::{IsTerminal as _, Write as _};

use anyhow::{Result, bail};

use crate::exit::Usage;

pub fn ask(changes: usize) -> Result<()> {
    if !std::io::stdin().is_terminal() {
        bail!(Usage("nobody can be asked here: add --yes to make these changes, or --dry-run to only see them".into()));
    }
    eprint!("Make {changes} changes? [y/N] ");
    std::io::stderr().flush()?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    match is_yes(&answer) {
        true => Ok(()),
        false => bail!("nothing was changed"),
    }
}

fn is_yes(answer: &str) -> bool {
    matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_yes_is_one() {
        assert!(is_yes("y\n") && is_yes(" YES \n"));
        assert!(!is_yes("\n") && !is_yes("no") && !is_yes("yep") && !is_yes(""));
    }
}
