//! Which node is to have which segment: evenly, and with as few moves as an even share allows. Pure: the leader asks,
//! a store remembers.

use std::collections::BTreeMap;

use crate::id::NodeId;
use crate::segment::Segment;

/// Who has which segment. What is not in it has nobody.
pub type Assignment = BTreeMap<Segment, NodeId>;

/// Shares all segments out among these nodes. Whoever has segments keeps as many of them as its share allows; the larger shares
/// go to those who have more already. The same nodes again change nothing. Empty if there is nobody.
pub fn assign(before: &Assignment, nodes: &[NodeId]) -> Assignment {
    let mut held: BTreeMap<NodeId, Vec<Segment>> = nodes.iter().map(|&node| (node, Vec::new())).collect();
    if held.is_empty() {
        return Assignment::new();
    }
    let mut free = Vec::new();
    for segment in Segment::all() {
        match before.get(&segment).and_then(|holder| held.get_mut(holder)) {
            Some(segments) => segments.push(segment),
            None => free.push(segment),
        }
    }

    let count = usize::from(Segment::COUNT);
    let (share, larger) = (count / held.len(), count % held.len());
    let mut by_size: Vec<(NodeId, Vec<Segment>)> = held.into_iter().collect();
    by_size.sort_by_key(|(node, segments)| (std::cmp::Reverse(segments.len()), *node));
    let share_of = |place: usize| share + usize::from(place < larger);
    for (place, (_, segments)) in by_size.iter_mut().enumerate() {
        free.extend(segments.drain(share_of(place).min(segments.len())..));
    }
    free.sort_unstable();
    let mut free = free.into_iter();
    for (place, (_, segments)) in by_size.iter_mut().enumerate() {
        let wanted = share_of(place) - segments.len();
        segments.extend(free.by_ref().take(wanted));
    }
    by_size.into_iter().flat_map(|(node, segments)| segments.into_iter().map(move |segment| (segment, node))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use uuid::Uuid;

    fn node(number: u8) -> NodeId {
        NodeId(Uuid::from_u128(u128::from(number)))
    }

    fn counts(assignment: &Assignment, nodes: &[NodeId]) -> Vec<usize> {
        nodes.iter().map(|node| assignment.values().filter(|holder| *holder == node).count()).collect()
    }

    fn moves(before: &Assignment, after: &Assignment) -> usize {
        after.iter().filter(|(segment, holder)| before.get(segment) != Some(holder)).count()
    }

    /// The fewest moves that lead to even shares: what nobody has must move, and whatever is past the best shares.
    fn fewest_moves(before: &Assignment, nodes: &[NodeId]) -> usize {
        let count = usize::from(Segment::COUNT);
        let mut sizes = counts(before, nodes);
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        let (share, larger) = (count / nodes.len(), count % nodes.len());
        let kept: usize =
            sizes.iter().enumerate().map(|(place, &size)| size.min(share + usize::from(place < larger))).sum();
        count - kept
    }

    fn befores() -> impl Strategy<Value = Assignment> {
        prop::collection::vec(prop::option::of(0u8..12), usize::from(Segment::COUNT)).prop_map(|holders| {
            let held = Segment::all().zip(holders);
            held.filter_map(|(segment, holder)| Some((segment, node(holder?)))).collect()
        })
    }

    fn nodes() -> impl Strategy<Value = Vec<NodeId>> {
        prop::collection::btree_set(0u8..12, 1..10).prop_map(|numbers| numbers.into_iter().map(node).collect())
    }

    proptest! {
        #[test]
        fn every_segment_has_a_living_holder_and_shares_differ_by_one_at_most(before in befores(), nodes in nodes()) {
            let after = assign(&before, &nodes);
            prop_assert_eq!(after.len(), usize::from(Segment::COUNT));
            prop_assert!(after.values().all(|holder| nodes.contains(holder)));
            let counts = counts(&after, &nodes);
            prop_assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1, "{:?}", counts);
        }

        #[test]
        fn no_even_sharing_moves_fewer(before in befores(), nodes in nodes()) {
            prop_assert_eq!(moves(&before, &assign(&before, &nodes)), fewest_moves(&before, &nodes));
        }

        #[test]
        fn the_same_nodes_again_change_nothing(before in befores(), nodes in nodes()) {
            let after = assign(&before, &nodes);
            let mut backwards = nodes.clone();
            backwards.reverse();
            prop_assert_eq!(&assign(&after, &nodes), &after);
            prop_assert_eq!(&assign(&before, &backwards), &after, "the order of nodes does not matter");
        }

        #[test]
        fn a_node_that_goes_moves_only_its_own_segments(before in befores(), nodes in nodes()) {
            let settled = assign(&before, &nodes);
            let (gone, rest) = nodes.split_first().expect("one at least");
            prop_assume!(!rest.is_empty());
            let after = assign(&settled, rest);
            let stayed = |(segment, holder): (&Segment, &NodeId)| holder == gone || after[segment] == *holder;
            prop_assert!(settled.iter().all(stayed));
        }
    }

    #[test]
    fn one_node_has_everything_and_nobody_has_nothing() {
        let alone = assign(&Assignment::new(), &[node(1)]);
        assert_eq!(counts(&alone, &[node(1)]), [100]);
        assert!(assign(&alone, &[]).is_empty());
        let joined = assign(&alone, &[node(1), node(2)]);
        assert_eq!((counts(&joined, &[node(1), node(2)]), moves(&alone, &joined)), (vec![50, 50], 50));
    }
}
