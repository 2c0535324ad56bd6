//! Which rule holds at which gate: one that names it, else the longest pattern that does. Keeps rules; knows no states.

use std::collections::BTreeMap;

use super::name::{BadGate, GateName, GateRef};
use super::rule::Rule;
use crate::name::TenantName;

/// Which gates of a tenant a rule is for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reach {
    One(GateName),
    /// Every gate of a kind whose name begins so, each by itself: two keys under one pattern share nothing.
    Each {
        kind: Kind,
        prefix: String,
    },
}

/// What there can be many of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    Queue,
    Type,
    Key,
}

impl Reach {
    /// As a [`GateName`], or `queue:PREFIX*`, `type:PREFIX*`, `key:PREFIX*`.
    pub fn parse(text: &str) -> Result<Reach, BadGate> {
        let Some(stem) = text.strip_suffix('*') else { return GateName::parse(text).map(Reach::One) };
        let each = |kind, prefix: &str| Reach::Each { kind, prefix: prefix.to_owned() };
        let reach = match stem.split_once(':') {
            Some(("queue", prefix)) => each(Kind::Queue, prefix),
            Some(("type", prefix)) => each(Kind::Type, prefix),
            Some(("key", prefix)) => each(Kind::Key, prefix),
            _ => return GateName::parse(text).map(Reach::One),
        };
        // What a name may not contain, its beginning may not either.
        if !stem.ends_with(':') {
            GateName::parse(stem)?;
        }
        Ok(reach)
    }

    pub fn text(&self) -> String {
        match self {
            Reach::One(gate) => gate.text(),
            Reach::Each { kind, prefix } => format!("{}:{prefix}*", kind.word()),
        }
    }

    /// Whether it is for this gate.
    pub fn covers(&self, gate: &GateName) -> bool {
        match self {
            Reach::One(one) => one == gate,
            Reach::Each { kind, prefix } => {
                parts(gate).is_some_and(|(of, name)| of == *kind && name.starts_with(prefix.as_str()))
            }
        }
    }
}

impl Reach {
    /// Of two that cover a gate, the one with more holds there.
    fn precision(&self) -> usize {
        match self {
            Reach::One(_) => usize::MAX,
            Reach::Each { prefix, .. } => prefix.len(),
        }
    }
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Kind::Queue => "queue",
            Kind::Type => "type",
            Kind::Key => "key",
        }
    }
}

fn parts(gate: &GateName) -> Option<(Kind, &str)> {
    match gate {
        GateName::Tenant => None,
        GateName::Queue(queue) => Some((Kind::Queue, queue.as_str())),
        GateName::Type(kind) => Some((Kind::Type, kind.as_str())),
        GateName::Key(key) => Some((Kind::Key, key.as_str())),
    }
}

/// So few rules are sooner looked at one by one than searched for every beginning of a name: the simulator spent a seventh of its time on
/// those beginnings.
const FEW: usize = 16;

/// Every rule of every tenant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    rules: BTreeMap<(TenantName, Reach), Rule>,
}

impl Rules {
    /// Answers the rule that it replaces.
    pub fn set(&mut self, tenant: TenantName, reach: Reach, rule: Rule) -> Option<Rule> {
        self.rules.insert((tenant, reach), rule)
    }

    pub fn clear(&mut self, tenant: &TenantName, reach: &Reach) -> Option<Rule> {
        self.rules.remove(&(tenant.clone(), reach.clone()))
    }

    /// The rule that was set for exactly this reach.
    pub fn get(&self, tenant: &TenantName, reach: &Reach) -> Option<&Rule> {
        self.rules.get(&(tenant.clone(), reach.clone()))
    }

    /// The rule that holds at a gate, and what it was set for.
    pub fn at(&self, gate: &GateRef) -> Option<(&Reach, &Rule)> {
        if self.rules.len() <= FEW {
            let covers = |((tenant, reach), _): &(&(TenantName, Reach), &Rule)| {
                *tenant == gate.tenant && reach.covers(&gate.gate)
            };
            let found = self.rules.iter().filter(covers).max_by_key(|((_, reach), _)| reach.precision());
            return found.map(|((_, reach), rule)| (reach, rule));
        }
        let find = |reach| {
            let found = self.rules.get_key_value(&(gate.tenant.clone(), reach));
            found.map(|((_, reach), rule)| (reach, rule))
        };
        if let Some(exact) = find(Reach::One(gate.gate.clone())) {
            return Some(exact);
        }
        let (kind, name) = parts(&gate.gate)?;
        let ends = name.char_indices().map(|(at, _)| at).chain([name.len()]);
        let mut ends: Vec<usize> = ends.collect();
        ends.reverse();
        ends.into_iter().find_map(|end| find(Reach::Each { kind, prefix: name[..end].to_owned() }))
    }

    pub fn iter(&self) -> impl Iterator<Item = (&TenantName, &Reach, &Rule)> {
        self.rules.iter().map(|((tenant, reach), rule)| (tenant, reach, rule))
    }

    pub fn len(&self) -> usize {
        self.rules.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn acme() -> TenantName {
        TenantName::parse("acme").expect("a tenant")
    }

    fn rule(concurrency: u32) -> Rule {
        Rule { concurrency: Some(concurrency), ..Rule::default() }
    }

    fn rules(texts: &[(&str, u32)]) -> Rules {
        let mut rules = Rules::default();
        for (text, concurrency) in texts {
            rules.set(acme(), Reach::parse(text).expect("a reach"), rule(*concurrency));
        }
        rules
    }

    fn holds(rules: &Rules, gate: &str) -> Option<u32> {
        let gate = GateRef { tenant: acme(), gate: GateName::parse(gate).expect("a gate") };
        rules.at(&gate).and_then(|(reach, rule)| {
            assert!(reach.covers(&gate.gate));
            rule.concurrency
        })
    }

    #[test]
    fn a_reach_reads_back_as_it_was_written() {
        for text in ["tenant", "queue:mail", "type:img:resize", "key:a", "key:*", "type:img:*", "queue:tmp-*", "key:ä*"]
        {
            assert_eq!(Reach::parse(text).expect("a reach").text(), text);
        }
    }

    #[test]
    fn what_reaches_nothing_is_refused_with_what_to_write() {
        for text in ["*", "tenant*", "tenants:*", "mail*", "queue:a b*", "type:**"] {
            assert!(Reach::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_rule_is_found_among_many_as_it_is_among_few() {
        let few = [("key:*", 1), ("key:eu:*", 2), ("key:eu:7", 3), ("type:*", 4), ("tenant", 5)];
        let (few, mut many) = (rules(&few), rules(&few));
        for number in 0..FEW {
            many.set(TenantName::default_tenant(), Reach::parse(&format!("key:{number}*")).expect("a reach"), rule(9));
        }
        assert!(few.len() <= FEW && many.len() > FEW);
        for gate in ["key:eu:7", "key:eu:70", "key:eu:", "key:eu", "key:1", "key:ünï", "type:eu:7", "queue:a", "tenant"]
        {
            assert_eq!(holds(&many, gate), holds(&few, gate), "{gate}");
        }
    }

    #[test]
    fn the_rule_that_names_a_gate_goes_before_every_pattern_and_the_longer_pattern_before_the_shorter() {
        let rules = rules(&[("key:*", 1), ("key:eu:*", 2), ("key:eu:7", 3), ("type:*", 4), ("tenant", 5)]);
        assert_eq!(holds(&rules, "key:eu:7"), Some(3));
        assert_eq!(holds(&rules, "key:eu:70"), Some(2));
        assert_eq!(holds(&rules, "key:eu:"), Some(2));
        assert_eq!(holds(&rules, "key:eu"), Some(1));
        assert_eq!(holds(&rules, "key:ünï"), Some(1));
        assert_eq!(holds(&rules, "type:eu:7"), Some(4));
        assert_eq!(holds(&rules, "queue:eu:7"), None);
        assert_eq!(holds(&rules, "tenant"), Some(5));
    }

    #[test]
    fn a_rule_is_its_tenants_alone() {
        let mut rules = rules(&[("key:*", 1)]);
        let other = GateRef { tenant: TenantName::default_tenant(), gate: GateName::parse("key:a").expect("a gate") };
        assert_eq!(rules.at(&other), None);
        assert_eq!(rules.clear(&acme(), &Reach::parse("key:*").expect("a reach")), Some(rule(1)));
        assert!(rules.is_empty());
    }
}
