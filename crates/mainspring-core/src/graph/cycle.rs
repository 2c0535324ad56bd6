//! Finds a cycle to show: the shortest one, as far as a bounded search can tell. Repairs nothing.

use crate::job::OnFailure;

/// How many edges the search may look at. The shortest of all cycles takes a walk from every step, 10⁹ looks for the
/// largest workflow; this many take milliseconds and are enough for any workflow that a person wrote.
const LOOKS_MAX: usize = 2_000_000;

type Parents = [Vec<(usize, OnFailure)>];

/// A cycle as steps that each wait for the next, the last for the first. `waits_for` says how many parents of each
/// step could not be ordered; there must be some.
pub fn shortest(parents: &Parents, waits_for: &[usize]) -> Vec<usize> {
    let knot = knot(parents, waits_for);
    let mut best = any(parents, &knot);
    let mut search = Search { parents, knot: &knot, reached_from: vec![UNREACHED; parents.len()], looks: 0 };
    for start in (0..parents.len()).filter(|&step| knot[step]) {
        // Two is as short as it gets: a step that waits for itself was refused before.
        if best.len() == 2 || search.looks > LOOKS_MAX {
            break;
        }
        if let Some(shorter) = search.through(start, best.len()) {
            best = shorter;
        }
    }
    best
}

/// The steps that are in a cycle or between two: those left over, without the ones that no other of them waits for.
fn knot(parents: &Parents, waits_for: &[usize]) -> Vec<bool> {
    let mut knot: Vec<bool> = waits_for.iter().map(|&left| left > 0).collect();
    let mut children = vec![0usize; parents.len()];
    for step in (0..parents.len()).filter(|&step| knot[step]) {
        parents[step].iter().for_each(|&(parent, _)| children[parent] += 1);
    }
    let mut loose: Vec<usize> = (0..parents.len()).filter(|&step| knot[step] && children[step] == 0).collect();
    while let Some(step) = loose.pop() {
        knot[step] = false;
        for &(parent, _) in &parents[step] {
            children[parent] -= 1;
            if knot[parent] && children[parent] == 0 {
                loose.push(parent);
            }
        }
    }
    knot
}

/// Some cycle: every step of a knot has a parent in it, so whoever keeps going comes round.
fn any(parents: &Parents, knot: &[bool]) -> Vec<usize> {
    let mut passed_at = vec![None; parents.len()];
    let mut walk = Vec::new();
    let mut step = knot.iter().position(|&tied| tied).expect("some steps could not be ordered");
    loop {
        if let Some(at) = passed_at[step].replace(walk.len()) {
            return walk.split_off(at);
        }
        walk.push(step);
        let mut up = parents[step].iter().map(|&(parent, _)| parent);
        step = up.find(|&parent| knot[parent]).expect("a step that was left over waits for another");
    }
}

const UNREACHED: usize = usize::MAX;

struct Search<'a> {
    parents: &'a Parents,
    knot: &'a [bool],
    /// Which step each one was reached from in the walk that runs.
    reached_from: Vec<usize>,
    looks: usize,
}

impl Search<'_> {
    /// The shortest cycle through `start`, if it has fewer than `below` steps.
    fn through(&mut self, start: usize, below: usize) -> Option<Vec<usize>> {
        let mut line = vec![(start, 1)];
        let found = self.walk(start, below, &mut line);
        // Cleared by what was reached, not as a whole: most walks are short and there can be 10,000 of them.
        line.into_iter().for_each(|(step, _)| self.reached_from[step] = UNREACHED);
        found
    }

    /// Breadth first, back to `start`. `line` has each step that was reached, and how many steps led there.
    fn walk(&mut self, start: usize, below: usize, line: &mut Vec<(usize, usize)>) -> Option<Vec<usize>> {
        let mut next = 0;
        while let Some(&(step, steps)) = line.get(next).filter(|&&(_, steps)| steps < below) {
            next += 1;
            for &(parent, _) in &self.parents[step] {
                self.looks += 1;
                if parent == start {
                    return Some(self.way(start, step));
                }
                if self.knot[parent] && self.reached_from[parent] == UNREACHED {
                    self.reached_from[parent] = step;
                    line.push((parent, steps + 1));
                }
            }
        }
        None
    }

    fn way(&self, start: usize, last: usize) -> Vec<usize> {
        let mut way = vec![last];
        let mut step = last;
        while step != start {
            step = self.reached_from[step];
            way.push(step);
        }
        way.reverse();
        way
    }
}
