//! The order of service (rule 2.2): requests inside their team's guarantee first, by priority and age;
//! then what lies inside a department's guarantee; then the surplus, by class band, weighted share and
//! age. Shares are compared where the branches of two teams meet, and anew after each start.
//!
//! The tournament up the team tree stays in place between two turns: only the branches of teams whose
//! use or lines changed play again. This module starts nobody.

use super::bracket::Bracket;
use super::ledger::Share;
use super::line::{Line, Lines};
use super::problem::Index;
use super::state::State;
use crate::policy::SurplusOrder;
use crate::priority::Priority;
use chrono::{DateTime, Utc};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Who is served first. Less = first; the last field is the id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Turn {
    /// Steps up to the guarantee inside which the request lies.
    level: usize,
    /// Inside the own guarantee: exact priority. Surplus: the band. 0 when only shares count.
    class: Reverse<i32>,
    share: Option<Share>,
    submitted_at: DateTime<Utc>,
    /// Dense, in the order of ids.
    job: usize,
}

/// Against other teams' jobs.
fn turn(state: &State<'_, '_>, job: usize) -> Turn {
    turn_at(state, job, state.problem.jobs[job].priority)
}

/// Among the lines of its own team, where a raised priority may count only there.
fn turn_in_team(state: &State<'_, '_>, job: usize) -> Turn {
    turn_at(state, job, state.problem.jobs[job].team_priority)
}

fn turn_at(state: &State<'_, '_>, job: usize, priority: i32) -> Turn {
    let row = &state.problem.jobs[job];
    let level = row.pools.iter().filter_map(|&pool| state.inside(job, pool)).min().unwrap_or(usize::MAX);
    let class = if level == 0 {
        priority
    } else if state.problem.snapshot.policy.surplus_order == SurplusOrder::Bands {
        Priority(priority).band().value().0
    } else {
        0
    };
    Turn { level, class: Reverse(class), share: None, submitted_at: row.submitted_at, job }
}

/// A line's head and the line.
type Candidate = (Turn, usize);

/// Lines of one team whose heads differ in age only: whatever the use, the oldest goes first.
#[derive(Debug, Default)]
struct Group {
    /// Submission, job, line.
    heads: BinaryHeap<Reverse<(DateTime<Utc>, usize, usize)>>,
}

/// What makes two lines of a team one group; a strict line stands for itself.
#[derive(PartialEq, Eq, Hash)]
struct GroupKey<'a> {
    team: usize,
    priority: i32,
    team_priority: i32,
    milli: i64,
    pools: &'a [usize],
    strict: Option<usize>,
}

/// Picks the line to serve next.
///
/// Invariant, once [`Picker::next`] has followed the state: each team's seat holds its best head as judged
/// on the state, and each node's seat at its parent the node's champion with the node's present share.
#[derive(Debug)]
pub(super) struct Picker {
    groups: Vec<Group>,
    of_team: Vec<Vec<usize>>,
    of_line: Vec<usize>,
    bracket: Bracket<Candidate>,
    /// By pool and tree node: the use that the turns were judged on.
    seen: Vec<Vec<i64>>,
    /// By tree node: what heads at or below it may ask, ascending. A turn's level can change only where
    /// one of these begins or ceases to fit a guarantee.
    asks: Vec<Vec<i64>>,
}

impl Picker {
    pub(super) fn new(state: &mut State<'_, '_>, lines: &Lines) -> Self {
        let mut picker = Self {
            groups: Vec::new(),
            of_team: vec![Vec::new(); state.problem.teams.len()],
            of_line: Vec::new(),
            bracket: Bracket::new(&state.tree),
            seen: state.later.iter().map(|ledger| ledger.used.clone()).collect(),
            asks: vec![Vec::new(); state.tree.root + 1],
        };
        state.take_moved();
        picker.group(state, lines);
        picker.collect_asks(state, lines);
        picker.replay_under(state, lines, state.tree.root);
        picker
    }

    fn group(&mut self, state: &State<'_, '_>, lines: &Lines) {
        let problem = state.problem;
        let mut index: Index<GroupKey<'_>, usize> = Index::default();
        for (at, line) in lines.iter().enumerate() {
            let group = line.head().map(|head| {
                let row = &problem.jobs[head];
                let key = GroupKey {
                    team: line.team,
                    priority: row.priority,
                    team_priority: row.team_priority,
                    milli: row.base_milli,
                    pools: &row.pools,
                    strict: line.strict.then_some(at),
                };
                let next = self.groups.len();
                let group = *index.entry(key).or_insert(next);
                if group == next {
                    self.groups.push(Group::default());
                    self.of_team[line.team].push(group);
                }
                group
            });
            self.of_line.push(group.unwrap_or(usize::MAX));
            self.queue_up(state, line, at);
        }
    }

    fn queue_up(&mut self, state: &State<'_, '_>, line: &Line, at: usize) {
        if let Some(head) = line.head().filter(|_| !line.blocked) {
            let age = state.problem.jobs[head].submitted_at;
            self.groups[self.of_line[at]].heads.push(Reverse((age, head, at)));
        }
    }

    fn collect_asks(&mut self, state: &State<'_, '_>, lines: &Lines) {
        for line in lines.iter() {
            // Only a strict line's jobs differ in what they ask.
            let most = if line.strict { line.jobs.len() } else { 1 };
            let asks = line.jobs.iter().take(most).map(|&job| state.problem.jobs[job].base_milli);
            self.asks[line.team].extend(asks);
        }
        for &node in &state.tree.bottom_up {
            let mut asks = std::mem::take(&mut self.asks[node]);
            asks.sort_unstable();
            asks.dedup();
            if node != state.tree.root {
                self.asks[state.tree.parent[node]].extend(&asks);
            }
            self.asks[node] = asks;
        }
    }

    /// The line that was picked last has moved on, or is blocked.
    pub(super) fn served(&mut self, state: &State<'_, '_>, lines: &Lines, at: usize) {
        let line = &lines[at];
        let heads = &mut self.groups[self.of_line[at]].heads;
        debug_assert!(
            heads.peek().is_some_and(|Reverse((_, _, first))| *first == at),
            "the picked goes first"
        );
        heads.pop();
        self.queue_up(state, line, at);
        self.play(state, line.team);
        self.raise(state, lines, line.team);
    }

    /// The next line.
    pub(super) fn next(&mut self, state: &mut State<'_, '_>, lines: &Lines) -> Option<usize> {
        self.follow(state, lines);
        let line = self.bracket.champion(state.tree.root).map(|(_, line)| line);
        debug_assert_eq!(line, self.recount(state, lines), "the tournament equals a new one");
        line
    }

    /// The next line by a whole new tournament.
    fn recount(&self, state: &State<'_, '_>, lines: &Lines) -> Option<usize> {
        let tree = &state.tree;
        let mut champion: Vec<Option<Candidate>> = vec![None; tree.root + 1];
        for &node in tree.bottom_up.iter().filter(|&&node| node != tree.root) {
            let own = lines.iter().enumerate().filter(|(_, line)| line.team == node && !line.blocked);
            let own = own.filter_map(|(at, line)| Some((line.head()?, at)));
            let Some((turn, line)) = best(state, own).into_iter().chain(champion[node]).min() else {
                continue;
            };
            let share = (turn.level > 0).then(|| share(state, node, lines[line].head()));
            let above = tree.parent[node];
            champion[above] = champion[above].into_iter().chain([(Turn { share, ..turn }, line)]).min();
        }
        champion[tree.root].map(|(_, line)| line)
    }

    /// Lets those play again whose turn may have changed with the use of their team or of those above it.
    fn follow(&mut self, state: &mut State<'_, '_>, lines: &Lines) {
        for (pool, team) in state.take_moved() {
            let mut stale = None;
            for node in state.tree.path(team) {
                let guaranteed = state.limits[pool].guaranteed[node];
                let used = state.later[pool].used[node];
                let before = std::mem::replace(&mut self.seen[pool][node], used);
                let (low, high) = (guaranteed - used.max(before), guaranteed - used.min(before));
                let fitting = |room: i64| self.asks[node].partition_point(|&ask| ask <= room);
                if fitting(low) < fitting(high) {
                    stale = Some(node);
                }
            }
            if let Some(top) = stale {
                self.replay_under(state, lines, top);
            }
            // Only where a candidate lies outside its guarantee do shares count.
            let by_share = |node| self.bracket.champion(node).is_some_and(|(turn, _)| turn.level > 0);
            if state.tree.path(team).any(by_share) {
                self.raise(state, lines, team);
            }
        }
    }

    /// All turns at or below a node are judged again.
    fn replay_under(&mut self, state: &State<'_, '_>, lines: &Lines, top: usize) {
        let mut below = vec![top];
        let mut next = 0;
        while next < below.len() {
            below.extend(&state.tree.children[below[next]]);
            next += 1;
        }
        for &node in below.iter().rev() {
            if node != state.tree.root {
                self.play(state, node);
                self.lift(state, lines, node);
            }
        }
        self.raise(state, lines, top);
    }

    /// The team's own lines against each other.
    fn play(&mut self, state: &State<'_, '_>, team: usize) {
        let heads = self.of_team[team].iter().filter_map(|&group| self.groups[group].heads.peek());
        let best = best(state, heads.map(|&Reverse((_, head, line))| (head, line)));
        self.bracket.set_own(team, best);
    }

    /// The node's champion takes its seat at the parent, with the node's share.
    fn lift(&mut self, state: &State<'_, '_>, lines: &Lines, node: usize) {
        let champion = self.bracket.champion(node).map(|(turn, line)| {
            let share = (turn.level > 0).then(|| share(state, node, lines[line].head()));
            (Turn { share, ..turn }, line)
        });
        self.bracket.set_child(node, champion);
    }

    fn raise(&mut self, state: &State<'_, '_>, lines: &Lines, node: usize) {
        for at in state.tree.path(node) {
            self.lift(state, lines, at);
        }
    }
}

/// The first of a team's own heads. One that is raised among its own takes the place that the team has anyhow: against
/// others neither it nor those it passes gain or lose anything.
fn best<'a>(
    state: &State<'_, '_>,
    heads: impl Iterator<Item = (usize, usize)> + Clone + 'a,
) -> Option<Candidate> {
    let (own, line) = heads.clone().map(|(head, line)| (turn_in_team(state, head), line)).min()?;
    let row = &state.problem.jobs[own.job];
    if row.team_priority == row.priority {
        return Some((own, line));
    }
    let of_level = heads.map(|(head, _)| turn(state, head)).filter(|turn| turn.level == own.level);
    let seat = of_level.min().unwrap_or(own);
    Some((Turn { job: own.job, ..seat }, line))
}

/// What a node uses above its guarantee, in the pool that its candidate wants first.
fn share(state: &State<'_, '_>, node: usize, job: Option<usize>) -> Share {
    let pool = job.and_then(|job| state.problem.jobs[job].pools.first().copied());
    let nothing = Share { over: 0, weight: 1 };
    pool.map_or(nothing, |pool| state.later[pool].share(&state.limits[pool], node, 0))
}
