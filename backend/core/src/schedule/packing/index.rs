//! Nodes in order of cost, for each request: a decision looks only at nodes that changed since the same request was
//! last decided.
//!
//! This module places what its caller tells it to, and does not know which nodes the caller would rather not use: it
//! asks.

use super::packer::{Choice, Packer, StateId};
use super::state::NodeState;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Old entries of a queue are dropped when it is this many times as long as there are nodes.
const SLACK: usize = 4;

/// Cost, the caller's order among equals, node, the node's version for which the cost holds, and the gap.
type Entry = Reverse<(i32, u32, usize, u32, u16)>;

#[derive(Debug, Clone, Default)]
struct Queue {
    entries: BinaryHeap<Entry>,
    /// How much of the log it has read.
    read: usize,
    filled: bool,
}

/// A cluster's nodes.
#[derive(Debug, Clone)]
pub struct Index {
    packer: Packer,
    nodes: Vec<Node>,
    /// Changed nodes and the version they changed to.
    log: Vec<(usize, u32)>,
    /// By request.
    queues: Vec<Queue>,
    aside: Vec<Entry>,
}

#[derive(Debug, Clone)]
struct Node {
    state: StateId,
    tie: u32,
    version: u32,
}

impl Index {
    /// Nodes with their free states and an order among equals: the lower tie wins.
    #[must_use]
    pub fn new(packer: Packer, nodes: impl IntoIterator<Item = (NodeState, u32)>) -> Self {
        let mut index =
            Self { packer, nodes: Vec::new(), log: Vec::new(), queues: Vec::new(), aside: Vec::new() };
        index.reset(nodes);
        index
    }

    /// Starts over with other nodes; costs are kept.
    pub fn reset(&mut self, nodes: impl IntoIterator<Item = (NodeState, u32)>) {
        self.log.clear();
        self.queues.clear();
        self.nodes.clear();
        if self.packer.is_full() {
            self.packer.forget();
        }
        for (state, tie) in nodes {
            let state = self.packer.state(&state);
            self.nodes.push(Node { state, tie, version: 0 });
        }
    }

    /// The number of a request.
    pub fn ask(&mut self, ask: super::Ask) -> usize {
        self.packer.ask(ask)
    }

    #[must_use]
    pub fn state(&self, node: usize) -> &NodeState {
        self.packer.get(self.nodes[node].state)
    }

    /// The cheapest node that `accepts`; it is told nothing else, for example about host memory.
    pub fn choose(&mut self, ask: usize, accepts: impl Fn(usize) -> bool) -> Option<(usize, Choice)> {
        self.catch_up(ask);
        let mut found = None;
        while let Some(&Reverse((cost, _, node, version, gap))) = self.queues[ask].entries.peek() {
            if version == self.nodes[node].version {
                if accepts(node) {
                    found = Some((node, Choice { cost, gap }));
                    break;
                }
                self.aside.extend(self.queues[ask].entries.pop());
            } else {
                self.queues[ask].entries.pop();
            }
        }
        self.queues[ask].entries.extend(self.aside.drain(..));
        found
    }

    /// Puts a request on a node as chosen.
    pub fn put(&mut self, node: usize, ask: usize, choice: Choice) {
        let state = self.packer.after(self.nodes[node].state, ask, choice);
        self.change(node, state);
    }

    /// Tells of a node whose free state changed otherwise.
    pub fn set(&mut self, node: usize, state: &NodeState) {
        let state = self.packer.state(state);
        self.change(node, state);
    }

    fn change(&mut self, node: usize, state: StateId) {
        self.nodes[node].state = state;
        self.nodes[node].version += 1;
        if self.packer.is_full() {
            self.renumber();
        }
        if self.log.len() >= SLACK * self.nodes.len() {
            self.log.clear();
            self.queues.clear();
        }
        self.log.push((node, self.nodes[node].version));
    }

    /// Forgets states that no node is in.
    fn renumber(&mut self) {
        let states: Vec<NodeState> =
            self.nodes.iter().map(|node| self.packer.get(node.state).clone()).collect();
        self.packer.forget();
        for (node, state) in self.nodes.iter_mut().zip(&states) {
            node.state = self.packer.state(state);
        }
    }

    fn catch_up(&mut self, ask: usize) {
        if self.queues.len() <= ask {
            self.queues.resize_with(ask + 1, Queue::default);
        }
        let (queue, nodes) = (&mut self.queues[ask], &self.nodes);
        let mut push = |queue: &mut Queue, node: usize| {
            let Node { state, tie, version } = nodes[node];
            if let Some(Choice { cost, gap }) = self.packer.best(state, ask) {
                queue.entries.push(Reverse((cost, tie, node, version, gap)));
            }
        };
        let behind = self.log.len() - queue.read;
        if !queue.filled || behind >= nodes.len() || queue.entries.len() > SLACK * nodes.len() {
            queue.entries.clear();
            (0..nodes.len()).for_each(|node| push(queue, node));
            queue.filled = true;
        } else {
            for at in queue.read..self.log.len() {
                let (node, version) = self.log[at];
                if version == nodes[node].version {
                    push(queue, node);
                }
            }
        }
        queue.read = self.log.len();
    }
}
