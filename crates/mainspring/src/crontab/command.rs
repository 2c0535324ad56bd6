//! What `%` means in a crontab: the first one ends the command, the others are new lines of what the command is fed. `\%` is a
//! percent sign.

/// The command, and what it reads on stdin.
pub fn split(text: &str) -> (String, Option<String>) {
    let mut parts = vec![String::new()];
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if letters.next_if_eq(&'%').is_some() => last(&mut parts).push('%'),
            '%' if parts.len() == 1 => parts.push(String::new()),
            '%' => last(&mut parts).push('\n'),
            other => last(&mut parts).push(other),
        }
    }
    let stdin = (parts.len() > 1).then(|| parts.pop().expect("there are two")).map(with_an_end);
    (parts.pop().expect("there is one").trim_end().to_owned(), stdin)
}

fn last(parts: &mut [String]) -> &mut String {
    parts.last_mut().expect("there is always one")
}

/// Cron ends the last line too.
fn with_an_end(mut stdin: String) -> String {
    if !stdin.ends_with('\n') {
        stdin.push('\n');
    }
    stdin
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percent_sign_is_the_end_of_the_command_and_of_each_line_fed_to_it() {
        let check = |text: &str, command: &str, stdin: Option<&str>| {
            let split = split(text);
            assert_eq!((split.0.as_str(), split.1.as_deref()), (command, stdin), "{text}");
        };
        check("echo hi", "echo hi", None);
        check("mail -s hi joe%dear joe,%%bye", "mail -s hi joe", Some("dear joe,\n\nbye\n"));
        check(r"date +\%F", "date +%F", None);
        check(r"cat %50\% off%", "cat", Some("50% off\n"));
        check(r"a \\ b", r"a \\ b", None);
        check("cat%", "cat", Some("\n"));
    }
}
