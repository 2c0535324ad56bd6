//! Which gates there are, how people write them, and which of them a job passes. Knows no rules.

use std::fmt;

use crate::job::Keys;
use crate::name::{BadName, LimitKey, QueueName, TenantName, TypeName};

/// What can be limited within a tenant.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GateName {
    /// All jobs of the tenant.
    Tenant,
    Queue(QueueName),
    Type(TypeName),
    Key(LimitKey),
}

/// Why a text names no gate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadGate {
    #[error("{text:?} is nothing that can be limited; write `queue:NAME`, `type:NAME`, `key:TEXT` or `tenant`")]
    Unknown { text: String },
    #[error("after `{kind}:`, {why}")]
    Name { kind: &'static str, why: BadName },
}

impl GateName {
    /// Reads what [`GateName::text`] writes: `tenant`, `queue:mail`, `type:resize`, `key:customer:42`.
    pub fn parse(text: &str) -> Result<GateName, BadGate> {
        let name = |kind| move |why| BadGate::Name { kind, why };
        match text.split_once(':') {
            None if text == "tenant" => Ok(GateName::Tenant),
            Some(("queue", queue)) => QueueName::parse(queue).map(GateName::Queue).map_err(name("queue")),
            Some(("type", kind)) => TypeName::parse(kind).map(GateName::Type).map_err(name("type")),
            Some(("key", key)) => LimitKey::parse(key).map(GateName::Key).map_err(name("key")),
            _ => Err(BadGate::Unknown { text: text.chars().take(SHOWN_CHARS).collect() }),
        }
    }

    /// As the API and the store write it.
    pub fn text(&self) -> String {
        match self {
            GateName::Tenant => "tenant".to_owned(),
            GateName::Queue(queue) => format!("queue:{queue}"),
            GateName::Type(kind) => format!("type:{kind}"),
            GateName::Key(key) => format!("key:{key}"),
        }
    }
}

/// How much of a text that names nothing is shown back.
const SHOWN_CHARS: usize = 64;

/// A gate of a tenant.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GateRef {
    pub tenant: TenantName,
    pub gate: GateName,
}

/// For people: `queue mail`, `type resize`, `key customer:42`, `tenant acme`.
impl fmt::Display for GateRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.gate {
            GateName::Tenant => write!(f, "tenant {}", self.tenant),
            GateName::Queue(queue) => write!(f, "queue {queue}"),
            GateName::Type(kind) => write!(f, "type {kind}"),
            GateName::Key(key) => write!(f, "key {key}"),
        }
    }
}

/// Which part of a gate's rule a job is under. Breakers and closures hold for every part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    Both,
    /// It named the key as its `concurrency_key`: it takes a slot and no permit.
    Concurrency,
    /// It named the key as its `rate_key`: it takes a permit and no slot.
    Rate,
}

impl Part {
    pub fn has_concurrency(self) -> bool {
        matches!(self, Part::Both | Part::Concurrency)
    }

    pub fn has_rate(self) -> bool {
        matches!(self, Part::Both | Part::Rate)
    }
}

/// A gate that a job passes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pass {
    pub gate: GateName,
    pub part: Part,
}

/// The gates of a job, always in this order: tenant, queue, type, concurrency key, rate key. No gate comes twice:
/// a key that is named for both is one gate.
pub fn gates_of(queue: &QueueName, kind: &TypeName, keys: &Keys) -> impl Iterator<Item = Pass> + use<> {
    let both = |gate| Some(Pass { gate, part: Part::Both });
    let key = |key: &LimitKey, part| Pass { gate: GateName::Key(key.clone()), part };
    let is_one = keys.concurrency.is_some() && keys.concurrency == keys.rate;
    let concurrency = if is_one { Part::Both } else { Part::Concurrency };
    let passes = [
        both(GateName::Tenant),
        both(GateName::Queue(queue.clone())),
        both(GateName::Type(kind.clone())),
        keys.concurrency.as_ref().map(|name| key(name, concurrency)),
        keys.rate.as_ref().filter(|_| !is_one).map(|name| key(name, Part::Rate)),
    ];
    passes.into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passes(concurrency: Option<&str>, rate: Option<&str>) -> Vec<(String, Part)> {
        let key = |text: &str| LimitKey::parse(text).expect("a key");
        let keys = Keys { concurrency: concurrency.map(key), rate: rate.map(key), weight: 1 };
        let queue = QueueName::parse("mail").expect("a queue");
        let kind = TypeName::parse("welcome").expect("a type");
        gates_of(&queue, &kind, &keys).map(|pass| (pass.gate.text(), pass.part)).collect()
    }

    #[test]
    fn a_gate_reads_back_as_it_was_written() {
        for text in ["tenant", "queue:mail", "type:img:resize", "key:customer:42", "key:käse & brot"] {
            assert_eq!(GateName::parse(text).expect("a gate").text(), text);
        }
    }

    #[test]
    fn a_text_that_is_no_gate_says_what_to_write() {
        let check = |text: &str, expected: &str| {
            assert_eq!(GateName::parse(text).expect_err("is bad").to_string(), expected);
        };
        let help = "write `queue:NAME`, `type:NAME`, `key:TEXT` or `tenant`";
        check("mail", &format!("\"mail\" is nothing that can be limited; {help}"));
        check("tenant:acme", &format!("\"tenant:acme\" is nothing that can be limited; {help}"));
        check("queue:", "after `queue:`, a queue must not be empty");
        check(
            "type:a b",
            "after `type:`, a type must not contain ' ' (position 1); letters, digits and . _ - : / are allowed",
        );
        check(&format!("key:{}", "x".repeat(256)), "after `key:`, a limit key has at most 255 bytes, this one has 256");
        let long = GateName::parse(&"x".repeat(5000)).expect_err("is bad").to_string();
        assert!(long.len() < 200, "{} bytes", long.len());
    }

    #[test]
    fn a_gate_is_shown_to_people_by_its_name() {
        let shown = |text: &str| {
            let tenant = TenantName::parse("acme").expect("a tenant");
            GateRef { tenant, gate: GateName::parse(text).expect("a gate") }.to_string()
        };
        assert_eq!(shown("tenant"), "tenant acme");
        assert_eq!(shown("queue:mail"), "queue mail");
        assert_eq!(shown("type:resize"), "type resize");
        assert_eq!(shown("key:customer:42"), "key customer:42");
    }

    #[test]
    fn a_job_passes_its_gates_in_one_fixed_order() {
        let own = ["tenant", "queue:mail", "type:welcome"].map(|text| (text.to_owned(), Part::Both));
        let with = |keys: &[(&str, Part)]| {
            let keys = keys.iter().map(|&(text, part)| (text.to_owned(), part));
            own.iter().cloned().chain(keys).collect::<Vec<_>>()
        };
        assert_eq!(passes(None, None), with(&[]));
        assert_eq!(passes(Some("z"), Some("a")), with(&[("key:z", Part::Concurrency), ("key:a", Part::Rate)]));
        assert_eq!(passes(None, Some("a")), with(&[("key:a", Part::Rate)]));
    }

    #[test]
    fn a_key_named_for_both_is_one_gate() {
        assert_eq!(passes(Some("a"), Some("a")).last(), Some(&("key:a".to_owned(), Part::Both)));
        assert_eq!(passes(Some("a"), Some("a")).len(), 4);
    }
}
