//! What a workflow may look like, and what a parent's end means for its child. Stores and starts nothing.
//!
//! [`check`] reads the steps by name and answers an [`Order`] in which every parent comes before its children, or says
//! what is wrong and where ([`bad`]). It takes time in proportion to the steps and edges. [`edge`] is the table that a
//! store asks when a parent has ended.

use std::collections::HashMap;

use crate::job::OnFailure;
use crate::limits::{DEPENDENCIES_MAX, WORKFLOW_EDGES_MAX, WORKFLOW_JOBS_MAX};
use crate::name::StepName;

pub mod bad;
pub mod edge;
mod cycle;
mod near;

pub use bad::BadGraph;
pub use edge::{Edge, decide_edge};

/// A step and what it waits for.
#[derive(Clone, Debug)]
pub struct Node<'a> {
    pub name: &'a StepName,
    pub after: Vec<(&'a StepName, OnFailure)>,
}

/// A workflow that can run. Steps are told by their position in what was checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// Every step once, parents before children; steps that are free to go either way as they were given.
    pub steps: Vec<usize>,
    /// For each step, as given, its parents.
    pub parents: Vec<Vec<(usize, OnFailure)>>,
    /// How many steps the longest chain has. [`WORKFLOW_JOBS_MAX`] bounds it: nothing here or after recurses.
    pub depth: usize,
}

/// Whether these steps make a workflow.
pub fn check(nodes: &[Node<'_>]) -> Result<Order, BadGraph> {
    let edges = count(nodes)?;
    let positions = positions(nodes)?;
    let parents = parents(nodes, &positions)?;
    order(nodes, parents, edges)
}

fn count(nodes: &[Node<'_>]) -> Result<usize, BadGraph> {
    if nodes.len() > WORKFLOW_JOBS_MAX {
        return Err(BadGraph::TooManySteps { steps: nodes.len() });
    }
    if let Some(node) = nodes.iter().find(|node| node.after.len() > DEPENDENCIES_MAX) {
        return Err(BadGraph::TooManyParents { step: node.name.clone(), parents: node.after.len() });
    }
    let edges = nodes.iter().map(|node| node.after.len()).sum();
    if edges > WORKFLOW_EDGES_MAX {
        return Err(BadGraph::TooManyEdges { edges });
    }
    Ok(edges)
}

fn positions<'a>(nodes: &[Node<'a>]) -> Result<HashMap<&'a StepName, usize>, BadGraph> {
    let mut positions = HashMap::with_capacity(nodes.len());
    for (second, node) in nodes.iter().enumerate() {
        if let Some(first) = positions.insert(node.name, second) {
            return Err(BadGraph::Twice { step: node.name.clone(), first, second });
        }
    }
    Ok(positions)
}

fn parents(
    nodes: &[Node<'_>],
    positions: &HashMap<&StepName, usize>,
) -> Result<Vec<Vec<(usize, OnFailure)>>, BadGraph> {
    // The last step that named each parent: tells a repeated name without a set for each step.
    let mut named_by = vec![usize::MAX; nodes.len()];
    let mut parents = Vec::with_capacity(nodes.len());
    for (step, node) in nodes.iter().enumerate() {
        let mut own = Vec::with_capacity(node.after.len());
        for &(name, on_failure) in &node.after {
            let Some(&parent) = positions.get(name) else {
                let near = near::nearest(name, nodes.iter().map(|node| node.name).filter(|&other| other != node.name));
                return Err(BadGraph::Unknown { step: node.name.clone(), parent: name.clone(), near });
            };
            if parent == step {
                return Err(BadGraph::Itself { step: name.clone() });
            }
            if std::mem::replace(&mut named_by[parent], step) == step {
                return Err(BadGraph::ParentTwice { step: node.name.clone(), parent: name.clone() });
            }
            own.push((parent, on_failure));
        }
        parents.push(own);
    }
    Ok(parents)
}

/// Takes away, again and again, what waits for nothing (Kahn). What cannot be taken away is in or behind a cycle.
fn order(nodes: &[Node<'_>], parents: Vec<Vec<(usize, OnFailure)>>, edges: usize) -> Result<Order, BadGraph> {
    let children = Children::of(&parents, edges);
    let mut waits_for: Vec<usize> = parents.iter().map(Vec::len).collect();
    let mut steps: Vec<usize> = (0..nodes.len()).filter(|&step| waits_for[step] == 0).collect();
    let mut chain = vec![1; nodes.len()];
    let mut done = 0;
    while let Some(&step) = steps.get(done) {
        done += 1;
        for &child in children.of_step(step) {
            waits_for[child] -= 1;
            if waits_for[child] == 0 {
                // First in, first out, so chains come up by their length: the last parent ends the longest.
                chain[child] = chain[step] + 1;
                steps.push(child);
            }
        }
    }
    if steps.len() < nodes.len() {
        let steps = cycle::shortest(&parents, &waits_for);
        return Err(BadGraph::Cycle { steps: steps.into_iter().map(|step| nodes[step].name.clone()).collect() });
    }
    let depth = chain.into_iter().max().unwrap_or(0);
    Ok(Order { steps, parents, depth })
}

/// Who waits for each step: one list of all, and where each step's part of it begins.
struct Children {
    begins: Vec<usize>,
    all: Vec<usize>,
}

impl Children {
    fn of(parents: &[Vec<(usize, OnFailure)>], edges: usize) -> Children {
        let mut begins = vec![0; parents.len() + 1];
        for &(parent, _) in parents.iter().flatten() {
            begins[parent + 1] += 1;
        }
        for step in 0..parents.len() {
            begins[step + 1] += begins[step];
        }
        let mut next = begins.clone();
        let mut all = vec![0; edges];
        for (child, own) in parents.iter().enumerate() {
            for &(parent, _) in own {
                all[next[parent]] = child;
                next[parent] += 1;
            }
        }
        Children { begins, all }
    }

    fn of_step(&self, step: usize) -> &[usize] {
        &self.all[self.begins[step]..self.begins[step + 1]]
    }
}

#[cfg(test)]
mod tests;
