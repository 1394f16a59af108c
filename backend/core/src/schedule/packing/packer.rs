//! Costs by numbered state and request, each computed once.
//!
//! This module forgets nothing by itself: whoever holds numbers calls `forget` when `is_full` says so, and numbers its
//! states anew.

use super::mix::Ask;
use super::score::Scorer;
use super::state::NodeState;
use std::collections::HashMap;

/// States kept before they should be forgotten.
const MOST_STATES: usize = 1 << 18;

/// A state's number, until `forget`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StateId(u32);

/// Where on a node a request goes, and what that costs. Orders by cost; the gap is the tightest of the cheapest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Choice {
    /// In tenths of a GPU.
    pub cost: i32,
    /// What is free of the GPU that a share goes to (0 for CPU only).
    pub gap: u16,
}

/// A choice in eight bytes: there are many, and most of a cold decision is fetching them.
#[derive(Debug, Clone, Copy)]
struct Known {
    cost: i32,
    /// A gap, or one of the marks below.
    gap: u16,
}

impl Known {
    const NOT: Self = Self { cost: 0, gap: u16::MAX };
    const NO_FIT: Self = Self { cost: 0, gap: u16::MAX - 1 };
}

/// The cache.
#[derive(Debug, Clone)]
pub struct Packer {
    scorer: Scorer,
    /// With what each is worth, and the hint for what comes after it.
    states: Vec<(NodeState, (i64, usize))>,
    ids: HashMap<NodeState, u32>,
    asks: Vec<Ask>,
    ask_ids: HashMap<Ask, usize>,
    /// By request, then state.
    known: Vec<Vec<Known>>,
    options: Vec<u16>,
    after: NodeState,
}

impl Packer {
    #[must_use]
    pub fn new(scorer: Scorer) -> Self {
        Self {
            scorer,
            states: Vec::new(),
            ids: HashMap::new(),
            asks: Vec::new(),
            ask_ids: HashMap::new(),
            known: Vec::new(),
            options: Vec::new(),
            after: NodeState::new(0, 0, []),
        }
    }

    /// The number of a request.
    pub fn ask(&mut self, ask: Ask) -> usize {
        let next = self.asks.len();
        let id = *self.ask_ids.entry(ask).or_insert(next);
        if id == next {
            self.asks.push(ask);
            self.known.push(Vec::new());
        }
        id
    }

    /// The number of a state.
    pub fn state(&mut self, state: &NodeState) -> StateId {
        if let Some(&id) = self.ids.get(state) {
            return StateId(id);
        }
        let id = u32::try_from(self.states.len()).unwrap_or(u32::MAX);
        self.states.push((state.clone(), self.scorer.worth(state, 0)));
        self.ids.insert(state.clone(), id);
        StateId(id)
    }

    /// The cheapest way to put the request on a node in this state; `None` when it does not fit.
    pub fn best(&mut self, state: StateId, ask: usize) -> Option<Choice> {
        let at = state.0 as usize;
        if self.known[ask].len() <= at {
            self.known[ask].resize(self.states.len(), Known::NOT);
        }
        let mut known = self.known[ask][at];
        if known.gap == Known::NOT.gap {
            known = self.compute(at, ask).map_or(Known::NO_FIT, |Choice { cost, gap }| Known { cost, gap });
            self.known[ask][at] = known;
        }
        (known.gap != Known::NO_FIT.gap).then_some(Choice { cost: known.cost, gap: known.gap })
    }

    fn compute(&mut self, at: usize, ask: usize) -> Option<Choice> {
        let ((state, before), ask) = (&self.states[at], &self.asks[ask]);
        state.options(ask, &mut self.options);
        let mut best: Option<Choice> = None;
        for &gap in &self.options {
            state.place_into(ask, gap, &mut self.after);
            let choice = Choice { cost: self.scorer.cost(*before, &self.after, ask), gap };
            best = Some(best.map_or(choice, |least| least.min(choice)));
        }
        best
    }

    /// The state after the request went where `choice` says.
    pub fn after(&mut self, state: StateId, ask: usize, choice: Choice) -> StateId {
        let mut after = std::mem::replace(&mut self.after, NodeState::new(0, 0, []));
        self.states[state.0 as usize].0.place_into(&self.asks[ask], choice.gap, &mut after);
        let id = self.state(&after);
        self.after = after;
        id
    }

    #[must_use]
    pub fn get(&self, state: StateId) -> &NodeState {
        &self.states[state.0 as usize].0
    }

    /// Many states have been seen: `forget` bounds memory.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.states.len() >= MOST_STATES
    }

    /// Forgets states and costs; requests keep their numbers.
    pub fn forget(&mut self) {
        self.states.clear();
        self.ids.clear();
        for known in &mut self.known {
            *known = Vec::new();
        }
    }
}
