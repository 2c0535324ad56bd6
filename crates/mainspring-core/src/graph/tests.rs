//! What a workflow may look like, by random graphs and by the words of each refusal.

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::sample::Index;

use super::*;

/// Steps by number, with the numbers of their parents.
type Drawing = Vec<Vec<usize>>;

fn names(count: usize) -> Vec<StepName> {
    (0..count).map(|step| StepName::parse(&format!("s{step}")).expect("a name")).collect()
}

fn check_drawing(drawing: &Drawing) -> Result<Order, BadGraph> {
    let names = names(drawing.len());
    let after = |parents: &Vec<usize>| parents.iter().map(|&parent| (&names[parent], OnFailure::Cancel)).collect();
    let nodes: Vec<Node<'_>> =
        drawing.iter().zip(&names).map(|(parents, name)| Node { name, after: after(parents) }).collect();
    check(&nodes)
}

/// `"c: a b"` is a step that waits for two others.
fn check_text(lines: &[&str]) -> Result<Order, BadGraph> {
    let name = |text: &str| StepName::parse(text).expect("a name");
    let read = |line: &&str| {
        let (step, after) = line.split_once(':').unwrap_or((line, ""));
        (name(step), after.split_whitespace().map(name).collect::<Vec<_>>())
    };
    let steps: Vec<_> = lines.iter().map(read).collect();
    let nodes: Vec<Node<'_>> = steps
        .iter()
        .map(|(name, parents)| Node {
            name,
            after: parents.iter().map(|parent| (parent, OnFailure::default())).collect(),
        })
        .collect();
    check(&nodes)
}

/// A graph without cycles: parents come before their children in a hidden order that is then shuffled.
fn drawings() -> impl Strategy<Value = Drawing> {
    (1usize..40).prop_flat_map(|count| {
        let edges = prop::collection::vec((any::<Index>(), any::<Index>()), 0..120);
        (Just((0..count).collect::<Vec<_>>()).prop_shuffle(), edges).prop_map(move |(label, edges)| {
            let mut parents = vec![BTreeSet::new(); count];
            for (one, other) in edges {
                let (one, other) = (one.index(count), other.index(count));
                if one != other {
                    parents[label[one.max(other)]].insert(label[one.min(other)]);
                }
            }
            parents.into_iter().map(Vec::from_iter).collect()
        })
    })
}

/// The length of the shortest cycle, by walking from every step: slow and plain.
fn shortest_by_hand(drawing: &Drawing) -> Option<usize> {
    let from = |start: usize| {
        let mut reached = BTreeSet::from([start]);
        for length in 1..=drawing.len() {
            let next: BTreeSet<usize> = reached.iter().flat_map(|&step| drawing[step].iter().copied()).collect();
            if next.contains(&start) {
                return Some(length);
            }
            reached = next;
        }
        None
    };
    (0..drawing.len()).filter_map(from).min()
}

proptest! {
    #[test]
    fn a_graph_without_cycles_is_ordered_parents_first(drawing in drawings()) {
        let order = check_drawing(&drawing).expect("it has no cycle");
        let place = |step: usize| order.steps.iter().position(|&other| other == step).expect("every step is in it");
        prop_assert_eq!(order.steps.len(), drawing.len());
        for (step, parents) in drawing.iter().enumerate() {
            prop_assert!(parents.iter().all(|&parent| place(parent) < place(step)));
            let named: Vec<usize> = order.parents[step].iter().map(|&(parent, _)| parent).collect();
            prop_assert_eq!(&named, parents);
        }
        let mut chain = vec![1; drawing.len()];
        for &step in &order.steps {
            chain[step] = 1 + drawing[step].iter().map(|&parent| chain[parent]).max().unwrap_or(0);
        }
        prop_assert_eq!(Some(order.depth), chain.into_iter().max());
    }

    #[test]
    fn a_graph_with_a_cycle_is_refused_and_the_shortest_is_shown(
        drawing in drawings(), planted in prop::collection::vec(any::<Index>(), 2..8),
    ) {
        let mut drawing = drawing;
        let mut ring: Vec<usize> = planted.iter().map(|at| at.index(drawing.len())).collect();
        ring.sort_unstable();
        ring.dedup();
        prop_assume!(ring.len() >= 2);
        for (at, &step) in ring.iter().enumerate() {
            let parent = ring[(at + 1) % ring.len()];
            if !drawing[step].contains(&parent) {
                drawing[step].push(parent);
            }
        }
        let Err(BadGraph::Cycle { steps }) = check_drawing(&drawing) else {
            return Err(TestCaseError::fail("a cycle was let through"));
        };
        let numbers: Vec<usize> = steps.iter().map(|name| name.as_str()[1..].parse().expect("a number")).collect();
        for (at, &step) in numbers.iter().enumerate() {
            prop_assert!(drawing[step].contains(&numbers[(at + 1) % numbers.len()]), "{:?} is no cycle", steps);
        }
        prop_assert_eq!(numbers.iter().collect::<BTreeSet<_>>().len(), numbers.len());
        prop_assert_eq!(Some(numbers.len()), shortest_by_hand(&drawing));
    }
}

#[test]
fn a_refusal_names_the_steps_and_says_what_to_do() {
    let check = |lines: &[&str], expected: &str| {
        assert_eq!(check_text(lines).expect_err("is bad").to_string(), expected);
    };
    check(&["a", "load", "c: laod"], "step `c` waits for `laod`, which is not in this workflow; did you mean `load`?");
    check(&["a", "c: xyzzy"], "step `c` waits for `xyzzy`, which is not in this workflow");
    check(&["a", "b", "c", "b"], "two steps are called `b`, at positions 1 and 3; rename one");
    check(&["a: a"], "step `a` waits for itself and would never start; take `a` out of what it waits for");
    check(&["a", "b: a a"], "step `b` names `a` twice among what it waits for; name it once");
    check(
        &["z", "a: b z", "b: c", "c: a", "d: c"],
        "these steps wait for each other and would never start: a → b → c → a; take one dependency away",
    );
}

#[test]
fn an_unknown_name_is_never_guessed_to_be_the_step_itself() {
    let bad = check_text(&["load2: load1"]).expect_err("is bad");
    assert_eq!(bad.to_string(), "step `load2` waits for `load1`, which is not in this workflow");
}

#[test]
fn a_long_cycle_is_shown_by_its_ends() {
    let drawing: Drawing = (0..1000).map(|step| vec![(step + 1) % 1000]).collect();
    let words = check_drawing(&drawing).expect_err("a ring").to_string();
    assert!(words.contains(": s0 → s1 → "), "{words}");
    assert!(words.contains("s9 → (980 more) → s990 → "), "{words}");
    assert!(words.contains("s999 → s0;"), "{words}");
}

#[test]
fn a_parent_keeps_what_its_failure_means() {
    let [a, b] = ["a", "b"].map(|text| StepName::parse(text).expect("a name"));
    let nodes = [Node { name: &b, after: vec![(&a, OnFailure::Hold)] }, Node { name: &a, after: vec![] }];
    let order = check(&nodes).expect("it has no cycle");
    assert_eq!(order, Order { steps: vec![1, 0], parents: vec![vec![(1, OnFailure::Hold)], vec![]], depth: 2 });
}

#[test]
fn nothing_is_a_workflow_of_nothing() {
    assert_eq!(check(&[]), Ok(Order { steps: vec![], parents: vec![], depth: 0 }));
}

#[test]
fn a_workflow_of_the_largest_size_is_ordered_and_a_larger_one_is_refused() {
    // Each waits for the ten before it: as many steps as may be, nearly as many edges, and one chain through all.
    let mut drawing: Drawing = (0..WORKFLOW_JOBS_MAX).map(|step| (step.saturating_sub(10)..step).collect()).collect();
    assert_eq!(check_drawing(&drawing).map(|order| order.depth), Ok(WORKFLOW_JOBS_MAX));
    drawing.push(vec![]);
    assert_eq!(check_drawing(&drawing), Err(BadGraph::TooManySteps { steps: WORKFLOW_JOBS_MAX + 1 }));

    let mut wide: Drawing = vec![vec![]; DEPENDENCIES_MAX];
    wide.extend((0..WORKFLOW_EDGES_MAX / DEPENDENCIES_MAX).map(|_| (0..DEPENDENCIES_MAX).collect()));
    assert_eq!(check_drawing(&wide).map(|order| order.depth), Ok(2));
    wide.push(vec![0]);
    assert_eq!(check_drawing(&wide), Err(BadGraph::TooManyEdges { edges: WORKFLOW_EDGES_MAX + 1 }));

    let mut many: Drawing = vec![vec![]; DEPENDENCIES_MAX + 1];
    many.push((0..=DEPENDENCIES_MAX).collect());
    assert_eq!(
        check_drawing(&many).expect_err("too many").to_string(),
        "step `s1001` waits for 1001 others, at most 1000 are allowed; put a step in between that gathers some of them",
    );
}

#[test]
fn a_cycle_through_the_largest_workflow_is_found_within_the_bounded_search() {
    let last = WORKFLOW_JOBS_MAX - 1;
    let mut drawing: Drawing = (0..=last).map(|step| (step.saturating_sub(9)..step).collect()).collect();
    drawing[0].push(last);
    let Err(BadGraph::Cycle { steps }) = check_drawing(&drawing) else { panic!("a cycle was let through") };
    assert_eq!(steps.len(), 1 + last.div_ceil(9));
}

#[test]
fn a_cycle_is_shown_though_thousands_of_steps_hang_on_it_and_lie_between_it_and_another() {
    // Two rings at the ends, and each step between waits for the ten before it: a walk from any of these never returns.
    let last = WORKFLOW_JOBS_MAX - 1;
    let mut drawing: Drawing = (0..=last).map(|step| (step.saturating_sub(9)..step).collect()).collect();
    drawing[0] = vec![2];
    drawing[last].retain(|&parent| parent != last - 1);
    drawing[last - 1].push(last);
    drawing[last].push(last - 1);
    let Err(BadGraph::Cycle { steps }) = check_drawing(&drawing) else { panic!("a cycle was let through") };
    assert_eq!(steps.iter().map(StepName::as_str).collect::<Vec<_>>(), ["s0", "s2"]);
}
