//! What the configuration file may say, and what `docs/config.md` promises about it. The environment is tested through the
//! real program, in `tests/config.rs`.

use std::collections::BTreeSet;
use std::io::Write as _;

use serde_json::Value;

use super::*;

fn load(toml: &str, flags: &Flags) -> anyhow::Result<Config> {
    let mut file = tempfile::Builder::new().suffix(".toml").tempfile().expect("a temporary file");
    file.write_all(toml.as_bytes()).expect("it takes the text");
    Config::load(Some(file.path()), flags)
}

fn refused(toml: &str) -> String {
    load(toml, &Flags::default()).expect_err("is refused").to_string()
}

#[test]
fn without_a_word_the_defaults_hold() {
    assert_eq!(load("", &Flags::default()).expect("nothing is fine"), Config::default());
}

#[test]
fn the_file_is_over_the_defaults_and_flags_are_over_the_file() {
    let toml = "[server]\nlisten = \"127.0.0.1:1\"\nvirtual_clock = \"now\"\n[jobs]\nretention = \"2d\"\ndead_retention = 60\n[store]\nmax_size = \"1GiB\"\n";
    let flags = Flags { retention: Some(Span::from_secs(5)), ..Flags::default() };
    let config = load(toml, &flags).expect("is fine");
    assert_eq!(config.server.listen.port(), 1);
    assert_eq!(config.server.virtual_clock, VirtualClock::Now);
    assert_eq!(config.jobs, Jobs { retention: Span::from_secs(5), dead_retention: Span::from_secs(60) });
    assert_eq!(config.store.max_size, Size(1 << 30));
    assert_eq!(config.workers, Workers::default());
}

#[test]
fn an_unknown_key_is_named_with_its_file() {
    let error = refused("[server]\nlisten = \"127.0.0.1:1\"\nport = 7\n");
    assert!(error.starts_with("unknown key `server.port` in "), "{error}");
    assert!(error.contains(".toml: expected one of listen, allow_remote"), "{error}");
    let error = refused("[sever]\nlisten = \"127.0.0.1:1\"\n");
    assert!(error.starts_with("unknown key `sever` in "), "{error}");
}

#[test]
fn a_bad_value_is_named_with_its_key_and_what_was_expected() {
    let check = |toml: &str, key: &str, words: &str| {
        let error = refused(toml);
        assert!(error.contains(&format!("`{key}`")), "{error:?} does not name {key}");
        assert!(error.contains(words), "{error:?} does not say {words:?}");
    };
    check("[jobs]\nretention = \"soon\"\n", "jobs.retention", "is not a duration");
    check("[store]\nmax_size = \"big\"\n", "store.max_size", "is not a size");
    check("[store]\nkind = \"postgres\"\n", "store.kind", "embedded, memory, or an address");
    check("[server]\nlisten = \"here\"\n", "server.listen", "socket address");
    check("[server]\nvirtual_clock = \"soon\"\n", "server.virtual_clock", "is not a time");
    check("[server]\nroles = \"cook\"\n", "server.roles", "is no role");
    check("[log]\nlevel = 3\n", "log.level", "string");
}

#[test]
fn a_file_that_is_missing_or_no_toml_is_an_error() {
    let missing = Config::load(Some(Path::new("/no/such/mainspring.toml")), &Flags::default());
    let missing = missing.expect_err("is not there").to_string();
    assert!(missing.contains("/no/such/mainspring.toml"), "{missing}");
    let broken = refused("[server\n");
    assert!(broken.contains("could not read"), "{broken}");
    for error in [missing, broken] {
        assert_eq!(error.trim_end(), error, "no blank line behind it");
    }
}

/// The keys of a document, with their sections.
fn keys(config: &Value) -> BTreeSet<String> {
    let sections = config.as_object().into_iter().flatten();
    let in_section = |(section, keys): (&String, &Value)| {
        let section = section.clone();
        keys.as_object().into_iter().flatten().map(move |(key, _)| format!("{section}.{key}")).collect::<Vec<_>>()
    };
    sections.flat_map(in_section).collect()
}

#[test]
fn the_documented_file_names_every_key_with_its_default() {
    let page = include_str!("../../../docs/config.md");
    let example =
        page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("there is an example");
    let config = load(example, &Flags::default()).expect("the example is read");
    assert_eq!(config, Config::default(), "the example shows the defaults");
    let documented: Value = Figment::from(Toml::string(example)).extract().expect("the example is TOML");
    let known = serde_json::to_value(Config::default()).expect("a configuration prints");
    assert_eq!(keys(&documented), keys(&known), "the example names every key");
    for key in keys(&known) {
        let variable = format!("{ENV_PREFIX}{}", key.replace('.', "__").to_uppercase());
        assert!(page.contains(&variable), "{variable} is not in docs/config.md");
    }
}
