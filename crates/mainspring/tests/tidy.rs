//! The house rules as tests: sources, rooms, pages. Reads text and manifests, never runs our code.
//!
//! A rule is a function from what it reads to findings, each of which names its file and line. Every rule is
//! also shown a small bad input, because a rule that cannot fail holds nothing.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

const SOURCE_LINES_MAX: usize = 600;

/// A homeless function wants a better noun.
const HOMELESS_NAMES: &[&str] = &["util", "utils", "common", "helper", "helpers", "manager", "managers"];

/// Written in halves, so that this file keeps its own rule.
const LEFT_UNDONE: &[&str] = &[concat!("TO", "DO"), concat!("FIX", "ME"), concat!("todo", "!(")];

/// Which rooms a room may use, and which others its tests may. A new crate is entered here first.
const ROOMS: &[Room] = &[
    Room { name: "mainspring-core", uses: &[], tests_use: &[] },
    Room { name: "mainspring-wire", uses: &[], tests_use: &[] },
    Room { name: "mainspring-store", uses: &["mainspring-core"], tests_use: &[] },
    Room { name: "mainspring-engine", uses: &["mainspring-core"], tests_use: &["mainspring-store"] },
    Room {
        name: "mainspring-http",
        uses: &["mainspring-core", "mainspring-engine", "mainspring-wire"],
        tests_use: &["mainspring-store"],
    },
    Room { name: "mainspring-worker", uses: &["mainspring-wire"], tests_use: &[] },
    Room {
        name: "mainspring-sim",
        uses: &["mainspring-core", "mainspring-engine", "mainspring-store"],
        tests_use: &[],
    },
    Room {
        name: "mainspring",
        uses: &[
            "mainspring-core",
            "mainspring-engine",
            "mainspring-http",
            "mainspring-store",
            "mainspring-wire",
            "mainspring-worker",
        ],
        tests_use: &[],
    },
];

/// All that the core may use: nothing that reads a clock, draws a random number, does IO or serializes. Calendars need some
/// that could; their features for it are off, and time zones come with the program.
const CORE_LIBRARIES: &[&str] = &["async-trait", "chrono", "croner", "jiff", "rrule", "sha2", "thiserror", "uuid"];
/// Features by which an allowed library would draw random numbers or read the clock after all.
const IMPURE_FEATURES: &[&str] = &["v1", "v4", "v6", "v7", "rng", "fast-rng"];

const ADR_HEADINGS: &[&str] = &["Context", "Decision", "Price"];

#[test]
fn every_source_opens_with_its_purpose() {
    hold(sources(), opens_with_its_purpose);
}

#[test]
fn no_source_has_a_homeless_name() {
    hold(sources(), has_a_proper_name);
}

#[test]
fn no_source_is_a_hub() {
    hold(sources(), is_short_enough);
}

#[test]
fn no_source_unwraps_without_a_reason() {
    hold(sources(), never_unwraps_outside_tests);
}

#[test]
fn nothing_is_left_undone() {
    hold(repository(&["rs", "sh", "sql", "lua", "toml"]), leaves_nothing_undone);
}

#[test]
fn the_core_reads_no_clock() {
    hold(sources(), keeps_clocks_out_of_the_core);
}

#[test]
fn the_rooms_use_only_what_the_table_allows() {
    let uses = uses_of(&cargo_metadata());
    assert!(uses.iter().any(|used| used.by == "mainspring"), "cargo metadata lists no rooms");
    assert_none(uses.iter().filter_map(breaks_the_table).collect());
}

#[test]
fn decisions_are_numbered_and_say_what_they_cost() {
    let mut pages = repository(&["md"]);
    pages.retain(|page| page.path.starts_with("docs/adr/"));
    assert_none(decision_findings(&pages));
}

#[test]
fn links_between_pages_lead_somewhere() {
    let root = root();
    let exists = |path: &Path| root.join(path).exists();
    hold(repository(&["md"]), |page| dead_links(page, &exists));
}

// The rules for sources.

fn opens_with_its_purpose(file: &File) -> Vec<String> {
    let opens = file.text.starts_with("//! ");
    finding_if(!opens, file, 1, "the file does not open with `//!` and what it is for")
}

fn has_a_proper_name(file: &File) -> Vec<String> {
    let homeless = Path::new(&file.path).iter().filter_map(|part| part.to_str()).find(|part| {
        let stem = part.trim_end_matches(".rs");
        let noun = stem.rsplit(['_', '-']).next().unwrap_or(stem);
        HOMELESS_NAMES.contains(&noun)
    });
    finding_if(homeless.is_some(), file, 1, "the name says nothing; what it does wants a better noun")
}

fn is_short_enough(file: &File) -> Vec<String> {
    let lines = file.text.lines().count();
    let problem = format!("{lines} lines, over {SOURCE_LINES_MAX}: look for the second noun in it");
    finding_if(lines > SOURCE_LINES_MAX, file, lines, &problem)
}

/// A heuristic that reads up to the test module; clippy's `unwrap_used` knows better, where there is clippy.
fn never_unwraps_outside_tests(file: &File) -> Vec<String> {
    let is_test = ["/tests.rs", "_tests.rs"].iter().any(|ending| file.path.ends_with(ending));
    let is_product = file.path.contains("/src/") && !file.path.contains("/tests/") && !is_test;
    let lines: Vec<&str> = file.text.lines().map(str::trim).collect();
    let tests_at = (0..lines.len()).find(|&at| {
        let item = lines[at + 1..].iter().find(|line| !line.starts_with("#["));
        lines[at] == "#[cfg(test)]" && item.is_some_and(|item| item.contains("mod ") && item.ends_with('{'))
    });
    let product_lines = if is_product { tests_at.unwrap_or(lines.len()) } else { 0 };
    each_line(file, product_lines, |line| {
        let bare = line.contains(".unwrap()") && !line.trim_start().starts_with("//");
        bare.then(|| "bare unwrap: say in `expect` why it cannot fail".to_owned())
    })
}

fn leaves_nothing_undone(file: &File) -> Vec<String> {
    each_line(file, usize::MAX, |line| {
        let mark = LEFT_UNDONE.iter().find(|mark| contains_word(line, mark))?;
        Some(format!("{mark}: do it, or open an issue"))
    })
}

fn keeps_clocks_out_of_the_core(file: &File) -> Vec<String> {
    if !file.path.starts_with("crates/mainspring-core/src/") {
        return Vec::new();
    }
    each_line(file, usize::MAX, |line| {
        let code = line.split("//").next().unwrap_or(line);
        let clock = ["SystemTime", "Instant", "sleep"].iter().find(|word| contains_word(code, word))?;
        Some(format!("{clock} in the core: time is an argument"))
    })
}

fn contains_word(line: &str, word: &str) -> bool {
    let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_';
    line.match_indices(word).any(|(at, _)| {
        let ends_open = word.ends_with(is_letter) && line[at + word.len()..].starts_with(is_letter);
        !line[..at].ends_with(is_letter) && !ends_open
    })
}

// The rules for rooms.

struct Room {
    name: &'static str,
    uses: &'static [&'static str],
    tests_use: &'static [&'static str],
}

#[derive(Debug)]
struct Use {
    by: String,
    of: String,
    in_tests_only: bool,
    features: Vec<String>,
}

fn uses_of(metadata: &Value) -> Vec<Use> {
    let array = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut uses = Vec::new();
    for package in array(&metadata["packages"]) {
        for dependency in array(&package["dependencies"]) {
            uses.push(Use {
                by: text(&package["name"]),
                of: text(&dependency["name"]),
                in_tests_only: dependency["kind"] == "dev",
                features: array(&dependency["features"]).iter().map(text).collect(),
            });
        }
    }
    uses
}

fn breaks_the_table(used: &Use) -> Option<String> {
    let Use { by, of, in_tests_only, features } = used;
    let Some(room) = ROOMS.iter().find(|room| room.name == by) else {
        return Some(format!("crates/{by}/Cargo.toml: {by} is not in the table of rooms"));
    };
    let of_ours = of == "mainspring" || of.starts_with("mainspring-");
    let allowed = match (of_ours, by.as_str()) {
        (true, _) => room.uses.contains(&of.as_str()) || *in_tests_only && room.tests_use.contains(&of.as_str()),
        (false, "mainspring-core") => {
            let pure = !features.iter().any(|feature| IMPURE_FEATURES.contains(&feature.as_str()));
            *in_tests_only || pure && CORE_LIBRARIES.contains(&of.as_str())
        }
        (false, _) => true,
    };
    let tests = if *in_tests_only { "the tests of " } else { "" };
    (!allowed).then(|| format!("crates/{by}/Cargo.toml: {tests}{by} may not use {of} {features:?}"))
}

fn cargo_metadata() -> Value {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(root())
        .output()
        .expect("cargo runs this test, so it can be run");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON")
}

// The rules for pages.

fn decision_findings(pages: &[File]) -> Vec<String> {
    let mut findings = Vec::new();
    for (index, page) in pages.iter().enumerate() {
        let name = page.path.rsplit('/').next().unwrap_or(&page.path);
        let expected = format!("{:04}-", index + 1);
        let title = name.strip_suffix(".md").and_then(|stem| stem.strip_prefix(&expected));
        let proper = |title: &str| {
            let plain = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
            !title.is_empty() && title.chars().all(|letter| plain(letter) || letter == '-')
        };
        let misnamed = !title.is_some_and(proper);
        let problem = format!("the next decision is named {expected}title.md");
        findings.extend(finding_if(misnamed, page, 1, &problem));

        let headings: BTreeSet<&str> = page
            .text
            .lines()
            .filter(|line| line.starts_with('#'))
            .map(|line| line.trim_start_matches('#').trim())
            .collect();
        for heading in ADR_HEADINGS {
            let problem = format!("the heading {heading} is missing");
            findings.extend(finding_if(!headings.contains(heading), page, 1, &problem));
        }
    }
    findings
}

fn dead_links(page: &File, exists: &dyn Fn(&Path) -> bool) -> Vec<String> {
    let folder = Path::new(&page.path).parent().unwrap_or(Path::new(""));
    let mut in_code = false;
    each_line(page, usize::MAX, |line| {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        }
        if in_code {
            return None;
        }
        let dead = link_targets(line).into_iter().find(|target| {
            let path = target.split('#').next().unwrap_or(target);
            let elsewhere = path.is_empty() || path.contains("://") || path.starts_with("mailto:");
            !elsewhere && (path.starts_with('/') || !exists(&folder.join(path)))
        })?;
        Some(format!("the link to {dead} leads nowhere"))
    })
}

/// The targets of `[text](target "title")` and `[name]: target`, outside of code spans.
fn link_targets(line: &str) -> Vec<String> {
    let prose: String = line.split('`').step_by(2).collect();
    let inline = prose.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let is_definition = prose.starts_with('[') && !prose.starts_with("[^");
    let definition = prose.split_once("]: ").filter(|_| is_definition).map(|(_, target)| target);
    inline
        .chain(definition)
        .filter_map(|target| target.split_whitespace().next())
        .map(|target| target.trim_matches(['<', '>']).to_owned())
        .collect()
}

// Reading and reporting.

struct File {
    /// From the root of the repository, with forward slashes.
    path: String,
    text: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn sources() -> Vec<File> {
    repository(&["rs"])
}

/// The files of the repository with these endings, by path. What is built or fetched is left out.
fn repository(endings: &[&str]) -> Vec<File> {
    let root = root();
    let mut files = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of the repository can be listed") {
            let entry = entry.expect("a folder of the repository can be listed");
            let name = entry.file_name().to_string_lossy().into_owned();
            let kind = entry.file_type().expect("a listed file has a type");
            let foreign = name.starts_with('.') || name == "target" || name == "node_modules";
            if kind.is_dir() && !foreign {
                folders.push(entry.path());
            }
            let wanted = name.rsplit_once('.').is_some_and(|(_, ending)| endings.contains(&ending));
            if kind.is_file() && wanted {
                let path = entry.path();
                let text = fs::read_to_string(&path)
                    .unwrap_or_else(|error| panic!("could not read {}: {error}", path.display()));
                let path = path.strip_prefix(&root).expect("the walk starts at the root");
                files.push(File { path: path.to_string_lossy().replace('\\', "/"), text });
            }
        }
    }
    files.sort_by(|one, other| one.path.cmp(&other.path));
    files
}

fn each_line(file: &File, lines: usize, mut problem: impl FnMut(&str) -> Option<String>) -> Vec<String> {
    let found = |(index, line)| Some(format!("{}:{}: {}", file.path, index + 1, problem(line)?));
    file.text.lines().enumerate().take(lines).filter_map(found).collect()
}

fn finding_if(found: bool, file: &File, line: usize, problem: &str) -> Vec<String> {
    if found { vec![format!("{}:{line}: {problem}", file.path)] } else { Vec::new() }
}

fn hold(files: Vec<File>, rule: impl Fn(&File) -> Vec<String>) {
    assert!(!files.is_empty(), "the walk over the repository found no files");
    assert_none(files.iter().flat_map(rule).collect());
}

fn assert_none(findings: Vec<String>) {
    assert!(findings.is_empty(), "{} finding(s):\n{}", findings.len(), findings.join("\n"));
}

/// The rules themselves, on small inputs that break them and small ones that do not.
mod rules {
    use super::*;

    fn file(path: &str, text: &str) -> File {
        File { path: path.to_owned(), text: text.to_owned() }
    }

    /// Holds that the rule finds something on exactly these lines.
    fn check(rule: fn(&File) -> Vec<String>, path: &str, text: &str, lines: &[usize]) {
        let findings = rule(&file(path, text));
        let places: Vec<String> = lines.iter().map(|line| format!("{path}:{line}: ")).collect();
        let as_expected = findings.len() == places.len()
            && findings.iter().zip(&places).all(|(finding, place)| finding.starts_with(place));
        assert!(as_expected, "{text:?} should be found on lines {lines:?}, but: {findings:#?}");
    }

    #[test]
    fn a_source_without_a_purpose_is_found() {
        let path = "crates/a/src/b.rs";
        check(opens_with_its_purpose, path, "//! Why.\n", &[]);
        for text in ["", "use a;\n//! Late.\n", "// Plain.\n", "/// An item.\n", "//!\n"] {
            check(opens_with_its_purpose, path, text, &[1]);
        }
    }

    #[test]
    fn a_homeless_name_is_found_in_files_and_folders() {
        let bad = ["src/util.rs", "src/job_manager.rs", "tests/common/mod.rs", "a/helpers.rs"];
        bad.iter().for_each(|path| check(has_a_proper_name, path, "", &[1]));
        let good = ["src/utility_bill.rs", "src/commons.rs", "src/claim.rs"];
        good.iter().for_each(|path| check(has_a_proper_name, path, "", &[]));
    }

    #[test]
    fn a_hub_is_found() {
        check(is_short_enough, "a.rs", &"x\n".repeat(SOURCE_LINES_MAX), &[]);
        check(is_short_enough, "a.rs", &"x\n".repeat(SOURCE_LINES_MAX + 1), &[SOURCE_LINES_MAX + 1]);
    }

    #[test]
    fn a_bare_unwrap_is_found_before_the_test_module() {
        let path = "crates/a/src/b.rs";
        let rule = never_unwraps_outside_tests;
        check(rule, path, "a();\nb.unwrap();\n", &[2]);
        check(rule, path, "#[cfg(test)]\nuse a;\nb.unwrap();\n", &[3]);
        check(rule, path, "#[cfg(test)]\nmod tests;\nb.unwrap();\n", &[3]);
        check(rule, path, "a.unwrap();\n#[cfg(test)]\nmod tests {\nb.unwrap();\n}\n", &[1]);
        check(rule, path, "#[cfg(test)]\n#[path = \"c.rs\"]\nmod tests {\nb.unwrap();\n}\n", &[]);
        check(rule, path, "/// a.unwrap()\nb.unwrap_or(c);\nd.expect(\"e\");\n", &[]);
        check(rule, "crates/a/tests/b.rs", "a.unwrap();\n", &[]);
        check(rule, "crates/a/src/b/tests.rs", "a.unwrap();\n", &[]);
        check(rule, "crates/a/src/b_tests.rs", "a.unwrap();\n", &[]);
        check(rule, "crates/a/src/contests.rs", "a.unwrap();\n", &[1]);
    }

    #[test]
    fn what_is_left_undone_is_found() {
        for mark in LEFT_UNDONE {
            check(leaves_nothing_undone, "a.rs", &format!("b\n// {mark} later)\n"), &[2]);
        }
        check(leaves_nothing_undone, "a.rs", concat!("TO", "DOS, PHO", "TO", "DO, todo"), &[]);
    }

    #[test]
    fn a_clock_in_the_core_is_found() {
        let path = "crates/mainspring-core/src/a.rs";
        let rule = keeps_clocks_out_of_the_core;
        check(rule, path, "use std::time::{Duration, SystemTime};\nInstant::now();\n", &[1, 2]);
        check(rule, path, "/// An Instant.\nlet a = Instants;\n", &[]);
        check(rule, "crates/mainspring-engine/src/a.rs", "Instant::now();\n", &[]);
    }

    #[test]
    fn a_use_outside_the_table_is_found() {
        let cases = [
            ("mainspring-core", "uuid", None, json!([]), true),
            ("mainspring-core", "uuid", None, json!(["v7"]), false),
            ("mainspring-core", "tokio", None, json!([]), false),
            ("mainspring-core", "serde", Some("build"), json!([]), false),
            ("mainspring-core", "proptest", Some("dev"), json!([]), true),
            ("mainspring-core", "mainspring-wire", None, json!([]), false),
            ("mainspring-core", "mainspring-wire", Some("dev"), json!([]), false),
            ("mainspring-wire", "mainspring-core", None, json!([]), false),
            ("mainspring-store", "mainspring-core", None, json!([]), true),
            ("mainspring-store", "mainspring-engine", None, json!([]), false),
            ("mainspring-engine", "mainspring-store", None, json!([]), false),
            ("mainspring-engine", "mainspring-store", Some("dev"), json!([]), true),
            ("mainspring-http", "mainspring-store", None, json!([]), false),
            ("mainspring-http", "mainspring-store", Some("dev"), json!([]), true),
            ("mainspring-http", "mainspring-engine", Some("dev"), json!([]), true),
            ("mainspring-worker", "mainspring-core", Some("dev"), json!([]), false),
            ("mainspring-worker", "tokio", None, json!([]), true),
            ("mainspring", "mainspring-store", None, json!([]), true),
            ("mainspring-attic", "tokio", None, json!([]), false),
        ];
        for (by, of, kind, features, allowed) in cases {
            let dependency = json!({ "name": of, "kind": kind, "features": features });
            let metadata = json!({ "packages": [{ "name": by, "dependencies": [dependency] }] });
            let uses = uses_of(&metadata);
            assert_eq!(uses.len(), 1);
            assert_eq!(breaks_the_table(&uses[0]).is_none(), allowed, "{uses:?}");
        }
    }

    #[test]
    fn a_decision_without_a_number_or_a_price_is_found() {
        let whole = "# 1\n## Context\n## Decision\n## Price\n";
        let found = |names: &[&str], text: &str| {
            let page = |name: &&str| file(&format!("docs/adr/{name}"), text);
            decision_findings(&names.iter().map(page).collect::<Vec<_>>()).len()
        };
        assert_eq!(found(&["0001-a.md", "0002-b-2.md"], whole), 0);
        assert_eq!(found(&["0001-a.md", "0003-b.md"], whole), 1);
        assert_eq!(found(&["0001-a.md", "0001-b.md"], whole), 1);
        for misnamed in ["0002-a.md", "1-a.md", "0001.md", "0001-.md", "0001-Big Title.md", "a.md"] {
            assert_eq!(found(&[misnamed], whole), 1, "{misnamed}");
        }
        assert_eq!(found(&["0001-a.md"], "## Context\n## Decision\nPrice\n"), 1);
        assert_eq!(found(&["0001-a.md"], ""), 3);
    }

    #[test]
    fn a_dead_link_is_found() {
        fn rule(page: &File) -> Vec<String> {
            dead_links(page, &|path| path == Path::new("docs/here.md"))
        }
        let good = "[a](here.md) [b](here.md#part) [c](#part) [d](https://a.b/c.md)\n\
            `[e](gone.md)` [f](mailto:g@h)\n```\n[i](gone.md)\n```\n[j]: here.md\n[^k]: not one\n";
        check(rule, "docs/a.md", good, &[]);
        let bad = "[a](gone.md)\n[b](here.md) [c](gone.md#d)\n[e](/docs/here.md)\n[f]: gone.md\n\
            ![g](gone.png \"title\")\n```\n[h](gone.md)\n```\n[i](../here.md)\n";
        check(rule, "docs/a.md", bad, &[1, 2, 3, 4, 5, 9]);
    }
}
