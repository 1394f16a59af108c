//! A tournament at each node of the team tree: the node's own candidate against its children's champions.
//!
//! Changing one seat costs a walk up that node's bracket, whatever the number of its children. Who is better
//! is the candidates' `Ord`; this module knows no more of them.

use super::ledger::Tree;

/// All brackets, one after the other: for a node with `n` seats, cells `1 ..= 2n - 1` from `first`, the
/// winner in cell 1 and the seats from cell `n` on. Seat 0 is the node's own.
#[derive(Debug)]
pub(super) struct Bracket<T> {
    first: Vec<usize>,
    seats: Vec<usize>,
    parent: Vec<usize>,
    seat_at_parent: Vec<usize>,
    cells: Vec<Option<T>>,
}

impl<T: Copy + Ord> Bracket<T> {
    pub(super) fn new(tree: &Tree) -> Self {
        let nodes = tree.root + 1;
        let seats: Vec<usize> = tree.children.iter().map(|children| children.len() + 1).collect();
        let mut first = Vec::with_capacity(nodes);
        let mut cells = 0;
        for count in &seats {
            first.push(cells);
            cells += 2 * count;
        }
        let mut seat_at_parent = vec![0; nodes];
        for children in &tree.children {
            for (at, &child) in children.iter().enumerate() {
                seat_at_parent[child] = at + 1;
            }
        }
        Self { first, seats, parent: tree.parent.clone(), seat_at_parent, cells: vec![None; cells] }
    }

    pub(super) fn champion(&self, node: usize) -> Option<T> {
        self.cells[self.first[node] + 1]
    }

    pub(super) fn set_own(&mut self, node: usize, candidate: Option<T>) {
        self.set(node, 0, candidate);
    }

    /// Seats a node's champion at its parent. The root has none.
    pub(super) fn set_child(&mut self, node: usize, candidate: Option<T>) {
        self.set(self.parent[node], self.seat_at_parent[node], candidate);
    }

    fn set(&mut self, node: usize, seat: usize, candidate: Option<T>) {
        let (first, seats) = (self.first[node], self.seats[node]);
        let mut at = seats + seat;
        self.cells[first + at] = candidate;
        while at > 1 {
            at /= 2;
            let winner = better(self.cells[first + 2 * at], self.cells[first + 2 * at + 1]);
            if self.cells[first + at] == winner {
                return;
            }
            self.cells[first + at] = winner;
        }
    }
}

fn better<T: Ord>(left: Option<T>, right: Option<T>) -> Option<T> {
    match (left, right) {
        (Some(left), Some(right)) => Some(left.min(right)),
        (left, right) => left.or(right),
    }
}

#[cfg(test)]
mod tests {
    use super::{Bracket, Tree};

    #[test]
    fn the_champion_is_the_least_of_all_seats() {
        // 0 has children 1, 2, 3; 4 stands alone; the root is 5.
        let tree = Tree::new(&[None, Some(0), Some(0), Some(0), None]);
        let mut bracket: Bracket<u32> = Bracket::new(&tree);
        let mut seed = 3_u32;
        let mut seats: Vec<Vec<Option<u32>>> = vec![vec![None; 4], vec![None], vec![None; 3]];
        for _ in 0..500 {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let value = (seed >> 8) % 20;
            let value = (value > 3).then_some(value);
            match (seed >> 16) % 6 {
                0 => (bracket.set_own(0, value), seats[0][0] = value),
                at @ 1..=3 => (bracket.set_child(at as usize, value), seats[0][at as usize] = value),
                4 => (bracket.set_child(0, value), seats[2][0] = value),
                _ => (bracket.set_child(4, value), seats[2][1] = value),
            };
            for (node, seats) in [(0, &seats[0]), (5, &seats[2])] {
                assert_eq!(bracket.champion(node), seats.iter().flatten().min().copied());
            }
        }
    }
}
