//! What a parent's state means for a child that waits for it. The one table; stores only apply it.

use crate::job::OnFailure;
use crate::lifecycle::State;

/// How an edge stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Edge {
    /// The parent has not ended: the child still waits.
    Open,
    /// The child need not wait for this one any more.
    Satisfied,
    /// The child is cancelled.
    Cancels,
    /// The child stays Blocked until the parent is revived and succeeds, or a person decides.
    Holds,
}

/// How the edge from a parent in this state stands.
pub fn decide_edge(parent: State, on_failure: OnFailure) -> Edge {
    match (parent, on_failure) {
        (State::Blocked | State::Waiting | State::Ready | State::Running, _) => Edge::Open,
        (State::Succeeded, _) => Edge::Satisfied,
        (State::Dead | State::Cancelled, OnFailure::Cancel) => Edge::Cancels,
        (State::Dead | State::Cancelled, OnFailure::Run) => Edge::Satisfied,
        (State::Dead | State::Cancelled, OnFailure::Hold) => Edge::Holds,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edge_stands_as_the_table_says() {
        use Edge::*;
        // On failure: cancel, run, hold.
        let table = [
            (State::Blocked, [Open, Open, Open]),
            (State::Waiting, [Open, Open, Open]),
            (State::Ready, [Open, Open, Open]),
            (State::Running, [Open, Open, Open]),
            (State::Succeeded, [Satisfied, Satisfied, Satisfied]),
            (State::Dead, [Cancels, Satisfied, Holds]),
            (State::Cancelled, [Cancels, Satisfied, Holds]),
        ];
        assert_eq!(table.map(|(state, _)| state), State::ALL);
        for (state, expected) in table {
            let row = [OnFailure::Cancel, OnFailure::Run, OnFailure::Hold].map(|policy| decide_edge(state, policy));
            assert_eq!(row, expected, "{state:?}");
        }
    }
}
