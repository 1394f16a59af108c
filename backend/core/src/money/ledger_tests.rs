use super::*;
use crate::id::{JobId, QueueId};
use crate::kind::Kind;
use crate::priority::PriorityClass;
use proptest::prelude::*;
use uuid::Uuid;

fn team(number: u128) -> TeamId {
    TeamId(Uuid::from_u128(number))
}

fn held(run: u128, of: u128, milli: i64, from: Ms, to: Ms) -> Held {
    let work = Work {
        run: Uuid::from_u128(run),
        job: JobId(Uuid::from_u128(run)),
        team: team(of),
        queue: QueueId(Uuid::from_u128(of)),
        kind: Kind::Training,
        class: PriorityClass::Normal,
    };
    Held { work, preemptible: true, milli, since: from, span: Span { from, to } }
}

fn lent(borrower: u128, lender: Option<u128>, milli: i64, from: Ms, to: Ms) -> Lent {
    Lent { borrower: team(borrower), lender: lender.map(team), milli, span: Span { from, to } }
}

/// Milli-GPU-milliseconds by share, team and lender.
fn sums(entries: &[Entry]) -> BTreeMap<(Share, Option<TeamId>, Option<TeamId>), i64> {
    let mut sums = BTreeMap::new();
    for entry in entries {
        let key = (entry.part.share(), entry.part.team(), entry.part.lender());
        *sums.entry(key).or_insert(0) += entry.amount();
    }
    sums
}

const HOUR: Span = Span { from: 0, to: 3_600_000 };

#[test]
fn a_team_above_its_guarantee_is_on_loan_with_its_latest_work() {
    // Eight GPUs; team 1 and 2 are guaranteed four each. Team 2 runs four, and from minute 10 on two more.
    let inputs = Inputs {
        held: vec![held(1, 2, 4_000, 0, 9_000_000), held(2, 2, 2_000, 600_000, 9_000_000)],
        lent: vec![lent(2, Some(1), 2_000, 600_000, 9_000_000)],
        capacity: vec![Capacity { milli: 8_000, down_milli: 0, span: Span { from: 0, to: Ms::MAX } }],
        guarantees: vec![
            Guarantee { team: team(1), milli: 4_000, span: Span { from: 0, to: Ms::MAX } },
            Guarantee { team: team(2), milli: 4_000, span: Span { from: 0, to: Ms::MAX } },
        ],
    };
    let entries = settle(HOUR, &inputs);
    let loan = entries.iter().find(|entry| entry.part.share() == Share::Loan).expect("a loan");
    assert_eq!(
        (loan.part.work().expect("work").run, loan.milli, loan.span.from),
        (Uuid::from_u128(2), 2_000, 600_000)
    );
    let sums = sums(&entries);
    assert_eq!(sums[&(Share::Guaranteed, Some(team(2)), None)], 4_000 * 3_600_000);
    assert_eq!(sums[&(Share::Loan, Some(team(2)), Some(team(1)))], 2_000 * 3_000_000);
    assert_eq!(sums[&(Share::Idle, Some(team(1)), None)], 4_000 * 600_000 + 2_000 * 3_000_000);
    assert_eq!(sums.values().sum::<i64>(), 8_000 * 3_600_000);
}

#[test]
fn a_loan_that_no_tick_has_ended_yet_is_no_more_than_what_is_held() {
    let inputs = Inputs {
        held: vec![held(1, 2, 1_000, 0, 1_000_000)],
        lent: vec![lent(2, Some(1), 3_000, 0, 2_000_000), lent(2, None, 1_000, 0, 2_000_000)],
        capacity: vec![Capacity { milli: 8_000, down_milli: 2_000, span: Span { from: 0, to: Ms::MAX } }],
        guarantees: Vec::new(),
    };
    let sums = sums(&settle(HOUR, &inputs));
    assert_eq!(sums[&(Share::Loan, Some(team(2)), Some(team(1)))], 750 * 1_000_000);
    assert_eq!(sums[&(Share::Loan, Some(team(2)), None)], 250 * 1_000_000);
    assert_eq!(sums[&(Share::Down, None, None)], 2_000 * 3_600_000);
    assert_eq!(sums.values().sum::<i64>(), 8_000 * 3_600_000);
}

#[test]
fn who_may_not_be_evicted_and_who_matters_more_is_inside_the_guarantee() {
    let mut kept = held(1, 1, 1_000, 900, 3_600_000);
    kept.preemptible = false;
    let mut low = held(2, 1, 1_000, 0, 3_600_000);
    low.work.class = PriorityClass::Low;
    let inputs = Inputs {
        held: vec![kept, low, held(3, 1, 1_000, 100, 3_600_000)],
        lent: vec![lent(1, None, 1_500, 0, 3_600_000)],
        ..Inputs::default()
    };
    let entries = settle(Span { from: 1_000, to: 2_000 }, &inputs);
    let on_loan: Vec<(u128, i64)> = entries
        .iter()
        .filter(|entry| entry.part.share() == Share::Loan)
        .map(|entry| (entry.part.work().expect("work").run.as_u128(), entry.milli))
        .collect();
    assert_eq!(on_loan, [(2, 1_000), (3, 500)]);
}

#[test]
fn more_guaranteed_than_there_is_shares_the_idle_and_a_lender_is_not_idle_too() {
    let all = Span { from: 0, to: Ms::MAX };
    let inputs = Inputs {
        held: vec![held(1, 3, 1_000, 0, 3_600_000)],
        lent: vec![lent(3, Some(1), 1_000, 0, 3_600_000)],
        capacity: vec![Capacity { milli: 4_000, down_milli: 0, span: all }],
        guarantees: vec![
            Guarantee { team: team(1), milli: 3_000, span: all },
            Guarantee { team: team(2), milli: 4_000, span: all },
        ],
    };
    let sums = sums(&settle(Span { from: 0, to: 1 }, &inputs));
    assert_eq!(sums[&(Share::Idle, Some(team(1)), None)], 1_000);
    assert_eq!(sums[&(Share::Idle, Some(team(2)), None)], 2_000);
    assert_eq!(sums.values().sum::<i64>(), 4_000);
}

fn spans() -> impl Strategy<Value = (Ms, Ms)> {
    (-500..1_500_i64, 0..900_i64).prop_map(|(from, length)| (from, from + length))
}

prop_compose! {
    fn worlds()(
        held in proptest::collection::vec((0..5_u128, 1..3_000_i64, spans(), any::<bool>()), 0..25),
        lent in proptest::collection::vec((0..5_u128, proptest::option::of(0..5_u128), 1..4_000_i64, spans()), 0..15),
        // Capacity is told by intervals that follow each other.
        capacity in proptest::collection::vec((0..9_000_i64, 0..100_i64, 1..700_i64), 0..6),
        guarantees in proptest::collection::vec((0..5_u128, 1..5_000_i64, spans()), 0..8),
        cut in 1..999_i64,
    ) -> (Inputs, Ms) {
        let mut from = -300;
        let capacity = capacity.into_iter().map(|(milli, percent, length)| {
            let span = Span { from, to: from + length };
            from += length;
            Capacity { milli, down_milli: milli * percent / 100, span }
        });
        let inputs = Inputs {
            capacity: capacity.collect(),
            held: held.into_iter().enumerate().map(|(run, (of, milli, (from, to), preemptible))| {
                let mut one = super::tests::held(run as u128, of, milli, from, to);
                one.preemptible = preemptible;
                one
            }).collect(),
            lent: lent.into_iter()
                .map(|(borrower, lender, milli, (from, to))| super::tests::lent(borrower, lender, milli, from, to))
                .collect(),
            guarantees: guarantees.into_iter()
                .map(|(of, milli, (from, to))| Guarantee { team: team(of), milli, span: Span { from, to } })
                .collect(),
        };
        (inputs, cut)
    }
}

/// The same counted millisecond by millisecond.
fn recount(window: Span, inputs: &Inputs) -> (i64, BTreeMap<TeamId, i64>) {
    let (mut all, mut by_team) = (0, BTreeMap::new());
    for at in window.from..window.to {
        let covers = |span: Span| span.from <= at && at < span.to;
        let mut used = 0;
        for held in inputs.held.iter().filter(|held| covers(held.span)) {
            used += held.milli;
            *by_team.entry(held.work.team).or_insert(0) += held.milli;
        }
        let capacity: i64 = inputs.capacity.iter().filter(|one| covers(one.span)).map(|one| one.milli).sum();
        all += capacity.max(used);
    }
    (all, by_team)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Everything adds up to capacity × time; what a team used is what it held, whatever was lent.
    #[test]
    fn the_ledger_is_capacity_times_time((inputs, _) in worlds()) {
        let window = Span { from: 0, to: 1_000 };
        let entries = settle(window, &inputs);
        let (all, held) = recount(window, &inputs);
        prop_assert_eq!(entries.iter().map(Entry::amount).sum::<i64>(), all);
        let mut used: BTreeMap<TeamId, i64> = BTreeMap::new();
        for entry in entries.iter().filter(|entry| entry.part.work().is_some()) {
            *used.entry(entry.part.team().expect("a team")).or_default() += entry.amount();
        }
        prop_assert_eq!(used, held);
        for entry in &entries {
            prop_assert!(entry.milli > 0 && window.from <= entry.span.from && entry.span.to <= window.to);
        }
    }

    /// Settled in two steps it is the same as in one: no border loses or doubles anything.
    #[test]
    fn two_windows_are_one((inputs, cut) in worlds()) {
        let whole = sums(&settle(Span { from: 0, to: 1_000 }, &inputs));
        let mut parts = settle(Span { from: 0, to: cut }, &inputs);
        parts.extend(settle(Span { from: cut, to: 1_000 }, &inputs));
        prop_assert_eq!(sums(&parts), whole);
    }

    /// Nobody borrows more than was lent, and nobody is idle with more than the guarantee.
    #[test]
    fn loans_and_idle_have_their_bounds((inputs, _) in worlds()) {
        for entry in settle(Span { from: 0, to: 1_000 }, &inputs) {
            let at = entry.span.from;
            let covers = |span: Span| span.from <= at && at < span.to;
            match entry.part {
                Part::Loan { work, lender } => {
                    let lent: i64 = inputs.lent.iter()
                        .filter(|lent| covers(lent.span) && lent.borrower == work.team && lent.lender == lender)
                        .map(|lent| lent.milli).sum();
                    prop_assert!(entry.milli <= lent);
                }
                Part::Idle(Some(team)) => {
                    let guaranteed: i64 = inputs.guarantees.iter()
                        .filter(|one| covers(one.span) && one.team == team).map(|one| one.milli).sum();
                    prop_assert!(entry.milli <= guaranteed);
                }
                Part::Guaranteed(_) | Part::Idle(None) | Part::Down => {}
            }
        }
    }
}
