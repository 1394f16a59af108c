use super::super::ledger::Row;
use super::*;

fn row(guaranteed: i64, lend_limit: Option<i64>) -> Row {
    Row { guaranteed, borrow_limit: None, lend_limit, weight: 1 }
}

fn debts(tree: &Tree, rows: &[Row], capacity: i64, used: &[i64]) -> Vec<(usize, Option<usize>, i64)> {
    let limits = Limits::new(tree, rows, capacity);
    let mut ledger = Ledger::new(tree);
    for (team, &milli) in used.iter().enumerate() {
        ledger.add(tree, &limits, team, milli);
    }
    let debts = attribute(tree, &limits, &ledger);
    debts.into_iter().map(|debt| (debt.borrower, debt.lender, debt.milli)).collect()
}

#[test]
fn lenders_give_in_proportion_to_what_they_have_idle() {
    let flat = Tree::new(&[None, None, None]);
    let rows = [row(6, None), row(3, None), row(0, None)];
    assert_eq!(debts(&flat, &rows, 9, &[0, 0, 3]), [(2, Some(0), 2), (2, Some(1), 1)]);
    assert_eq!(debts(&flat, &rows, 9, &[6, 3, 0]), []);
    assert_eq!(debts(&flat, &rows, 9, &[7, 0, 0]), [(0, Some(1), 1)]);
}

#[test]
fn what_nobody_owns_is_borrowed_first() {
    let flat = Tree::new(&[None, None]);
    let rows = [row(4, None), row(0, None)];
    assert_eq!(debts(&flat, &rows, 6, &[0, 3]), [(1, None, 2), (1, Some(0), 1)]);
}

#[test]
fn nearest_relatives_lend_first() {
    // 0 is a department of 1 and 2; 3 stands alone.
    let tree = Tree::new(&[None, Some(0), Some(0), None]);
    let rows = [row(5, None), row(2, None), row(2, None), row(5, None)];
    assert_eq!(debts(&tree, &rows, 10, &[0, 6, 0, 0]), [(1, Some(0), 1), (1, Some(2), 2), (1, Some(3), 1)]);
}

#[test]
fn lend_limits_hold_at_each_level() {
    let flat = Tree::new(&[None, None, None]);
    let rows = [row(6, Some(1)), row(6, None), row(0, None)];
    assert_eq!(debts(&flat, &rows, 12, &[0, 0, 7]), [(2, Some(0), 1), (2, Some(1), 6)]);
}

#[test]
fn a_loan_that_lost_its_lender_is_owed_to_nobody() {
    let flat = Tree::new(&[None, None]);
    let rows = [row(4, None), row(0, None)];
    assert_eq!(debts(&flat, &rows, 6, &[4, 4]), [(1, None, 4)]);
}

#[test]
fn several_borrowers_leave_lenders_their_proportion_and_owe_few_of_them() {
    let flat = Tree::new(&[None, None, None, None, None]);
    let rows = [row(6, None), row(3, None), row(0, None), row(0, None), row(0, None)];
    let found = debts(&flat, &rows, 9, &[0, 0, 3, 2, 1]);
    // Of 6 that are lacking, 4 and 2 are given.
    let given = |lender| -> i64 {
        found.iter().filter(|(_, from, _)| *from == Some(lender)).map(|(_, _, milli)| milli).sum()
    };
    assert_eq!((given(0), given(1)), (4, 2));
    assert_eq!(found, [(2, Some(0), 3), (3, Some(0), 1), (3, Some(1), 1), (4, Some(1), 1)]);
    assert!(found.len() < 3 + 2, "at most one debt fewer than there are borrowers and lenders");
}
