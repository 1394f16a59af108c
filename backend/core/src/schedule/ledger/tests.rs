use super::*;

fn tree() -> Tree {
    // 0 and 1 are top-level; 2 and 3 are 1's children.
    Tree::new(&[None, None, Some(1), Some(1)])
}

fn row(guaranteed: i64, borrow_limit: Option<i64>, lend_limit: Option<i64>) -> Row {
    Row { guaranteed, borrow_limit, lend_limit, weight: 1 }
}

fn ledger(tree: &Tree, limits: &Limits, used: &[i64]) -> Ledger {
    let mut ledger = Ledger::new(tree);
    for (team, &milli) in used.iter().enumerate() {
        ledger.add(tree, limits, team, milli);
    }
    ledger
}

#[test]
fn a_request_fits_inside_guarantee_or_on_what_others_lend() {
    let tree = tree();
    // (rows, used by team, team, asks, fits)
    let free = [row(4, None, None), row(4, None, None), row(2, None, None), row(0, None, None)];
    let capped = [row(4, Some(1), None), row(4, None, None), row(2, None, None), row(0, Some(0), None)];
    let kept = [row(4, None, None), row(4, None, Some(1)), row(2, None, None), row(0, None, None)];
    for (name, rows, used, team, asks, fits) in [
        ("own guarantee", &free, [0, 0, 0, 0], 0, 4, true),
        ("everybody is idle", &free, [0, 0, 0, 0], 0, 8, true),
        ("more than the pool", &free, [0, 0, 0, 0], 0, 9, false),
        ("relatives use theirs", &free, [0, 0, 2, 2], 0, 4, true),
        ("nothing is left to borrow", &free, [0, 0, 2, 2], 0, 5, false),
        ("the borrow limit", &capped, [0, 0, 0, 0], 0, 5, true),
        ("one above the borrow limit", &capped, [0, 0, 0, 0], 0, 6, false),
        ("a child without guarantee and limit 0", &capped, [0, 0, 0, 0], 3, 1, false),
        ("the department lends one", &kept, [0, 0, 0, 0], 0, 5, true),
        ("and keeps three", &kept, [0, 0, 0, 0], 0, 6, false),
        ("a child draws on what its department keeps", &kept, [4, 0, 0, 0], 3, 4, true),
        ("but not on more", &kept, [4, 0, 0, 0], 3, 5, false),
    ] {
        let limits = Limits::new(&tree, rows, 8);
        let ledger = ledger(&tree, &limits, &used);
        assert_eq!(ledger.fits(&tree, &limits, team, asks).is_ok(), fits, "{name}");
    }
}

#[test]
fn taking_away_what_was_added_leaves_nothing() {
    let tree = tree();
    let rows = [row(4, None, None), row(4, None, Some(1)), row(2, None, Some(0)), row(0, None, None)];
    let limits = Limits::new(&tree, &rows, 8);
    let mut ledger = ledger(&tree, &limits, &[3, 0, 4, 1]);
    for (team, milli) in [(2, -4), (0, -3), (3, -1)] {
        ledger.add(&tree, &limits, team, milli);
    }
    assert_eq!(ledger.used, vec![0; 5]);
    assert_eq!(ledger.drawn, vec![0; 5]);
}

#[test]
fn the_nearest_guarantee_that_covers_a_request_counts() {
    let tree = tree();
    let rows = [row(4, None, None), row(4, None, None), row(2, None, None), row(0, None, None)];
    let limits = Limits::new(&tree, &rows, 8);
    let ledger = ledger(&tree, &limits, &[0, 0, 1, 1]);
    for (team, asks, level) in
        [(2, 1, Some(0)), (2, 2, Some(1)), (3, 1, Some(1)), (3, 3, None), (0, 5, None), (3, 0, Some(0))]
    {
        assert_eq!(ledger.inside(&tree, &limits, team, asks), level, "team {team} asks {asks}");
    }
}

#[test]
fn overcommitted_guarantees_shrink_by_one_factor() {
    let tree = tree();
    let rows =
        [row(6_000, None, None), row(10_000, None, None), row(4_000, None, None), row(2_000, None, None)];
    let limits = Limits::new(&tree, &rows, 8_000);
    assert!(limits.overcommitted);
    assert_eq!(limits.guaranteed, [3_000, 5_000, 2_000, 1_000, 8_000]);
    assert_eq!(limits.nominal[..4], [6_000, 10_000, 4_000, 2_000]);
}

#[test]
fn a_cycle_of_parents_is_cut() {
    let tree = Tree::new(&[Some(1), Some(0), None]);
    assert_eq!(tree.parent[..3], [3, 3, 3]);
    assert_eq!(tree.bottom_up.len(), 4);
}

#[test]
fn zero_weight_makes_any_loan_the_heaviest() {
    let share = |over, weight| Share { over, weight };
    assert!(share(1, 1) < share(1, 0));
    assert!(share(0, 0) < share(1, 5));
    assert!(share(3, 3) < share(2, 1));
    assert_eq!(share(2, 4), share(1, 2));
    assert!(!share(1, 0).is_less(share(2, 0)));
}
