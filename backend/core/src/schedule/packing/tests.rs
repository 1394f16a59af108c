//! The cache gives what recomputation gives, names mean nothing, and no input overflows.

use super::index::Index;
use super::mix::{Ask, Mix, Models};
use super::packer::{Choice, Packer};
use super::prices::prices;
use super::score::Scorer;
use super::state::NodeState;
use super::{UNIT, ask_bucket};
use proptest::prelude::*;

const MODELS: u8 = 3;

fn ask() -> impl Strategy<Value = Ask> {
    let size = prop_oneof![
        (1..=1_000_u16).prop_map(|milli| (1, milli)),
        (1..=8_u16).prop_map(|gpus| (gpus, 1_000)),
        Just((0, 0)),
    ];
    (0..64_000_i64, size, 0..=MODELS).prop_map(|(cpu_milli, (gpus, milli), model)| Ask {
        cpu_milli,
        gpus,
        milli,
        models: if model == MODELS { Models::ANY } else { Models::only(model) },
    })
}

fn state() -> impl Strategy<Value = NodeState> {
    let gap = prop_oneof![Just(1_000_u16), 0..=1_000_u16];
    (0..MODELS, 0..200_000_i64, prop::collection::vec(gap, 0..9))
        .prop_map(|(model, cpu, gaps)| NodeState::new(model, cpu, gaps))
}

fn scorer(mix: &[(Ask, u32)]) -> Scorer {
    Scorer::new(&Mix::new(mix.iter().copied()), &[8_000, 16_000, 4_000], 8)
}

/// Each option's cost, computed anew without any cache.
fn recomputed(scorer: &Scorer, state: &NodeState, ask: &Ask) -> Option<Choice> {
    let mut options = Vec::new();
    state.options(ask, &mut options);
    let choices = options.into_iter().map(|gap| {
        let mut after = NodeState::new(0, 0, []);
        state.place_into(ask, gap, &mut after);
        Choice { cost: scorer.cost((scorer.worth(state, 47).0, 0), &after, ask), gap }
    });
    choices.min()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_index_decides_as_a_scan_does(
        mix in prop::collection::vec((ask(), 1..50_u32), 1..12),
        nodes in prop::collection::vec(state(), 1..12),
        picks in prop::collection::vec((0..12_usize, any::<u16>()), 1..60),
    ) {
        let scorer = scorer(&mix);
        let mut states = nodes.clone();
        let ties = |node: usize| u32::try_from(node * 7 % 13).unwrap();
        let mut index =
            Index::new(Packer::new(scorer.clone()), nodes.iter().enumerate().map(|(at, n)| (n.clone(), ties(at))));
        for (pick, refused) in picks {
            let ask = mix[pick % mix.len()].0;
            let id = index.ask(ask);
            let accepts = |node: usize| refused >> node & 1 == 0;
            let scan = (0..states.len()).filter(|&node| accepts(node)).filter_map(|node| {
                recomputed(&scorer, &states[node], &ask).map(|choice| (choice.cost, ties(node), node, choice.gap))
            });
            let expected = scan.min().map(|(cost, _, node, gap)| (node, Choice { cost, gap }));
            let chosen = index.choose(id, accepts);
            prop_assert_eq!(chosen, expected);
            let Some((node, choice)) = chosen else { continue };
            index.put(node, id, choice);
            let before = states[node].clone();
            before.place_into(&ask, choice.gap, &mut states[node]);
            prop_assert_eq!(index.state(node), &states[node]);
        }
    }

    #[test]
    fn the_order_of_requests_and_gpus_means_nothing(
        mix in prop::collection::vec((ask(), 1..50_u32), 1..12),
        gaps in prop::collection::vec(0..=1_000_u16, 0..9),
        wanted in ask(),
    ) {
        let reversed: Vec<(Ask, u32)> = mix.iter().rev().copied().collect();
        let one = NodeState::new(1, 50_000, gaps.iter().copied());
        let other = NodeState::new(1, 50_000, gaps.iter().rev().copied());
        prop_assert_eq!(
            recomputed(&scorer(&mix), &one, &wanted),
            recomputed(&scorer(&reversed), &other, &wanted)
        );
    }

    #[test]
    fn what_fits_has_a_cost_and_nothing_else(
        mix in prop::collection::vec((ask(), 1..50_u32), 1..4),
        state in state(),
        wanted in ask(),
    ) {
        prop_assert_eq!(recomputed(&scorer(&mix), &state, &wanted).is_some(), state.fits(&wanted));
    }
}

/// Overflow panics in tests: the largest inputs must not.
#[test]
fn the_largest_inputs_do_not_overflow() {
    let huge = Ask { cpu_milli: i64::MAX, gpus: u16::MAX, milli: 1_000, models: Models::ANY };
    let small = Ask { cpu_milli: 0, gpus: 1, milli: 1, models: Models::only(63) };
    let mix = Mix::new([(huge, u32::MAX), (small, u32::MAX), (Ask { milli: 1_000, ..small }, 1)]);
    let scorer = Scorer::new(&mix, &[i64::MAX, 1], usize::MAX);
    let node = NodeState::new(0, i64::MAX, std::iter::repeat_n(1_000, 5_000));
    let one = Ask { cpu_milli: 1, gpus: 1, milli: 1_000, models: Models::ANY };
    assert!(recomputed(&scorer, &node, &one).is_some());
    assert_eq!(recomputed(&scorer, &node, &huge), None);
}

#[test]
fn a_mix_of_nothing_places_all_the_same() {
    let scorer = scorer(&[]);
    let one = Ask { cpu_milli: 1_000, gpus: 1, milli: 500, models: Models::ANY };
    assert!(recomputed(&scorer, &NodeState::new(0, 8_000, [1_000]), &one).is_some());
}

/// Half of a GPU goes twice; three fifths go once and leave a rest that nobody asks for: both are worth what keeps the
/// cutting tight.
#[test]
fn a_size_that_leaves_an_unusable_rest_costs_the_whole_gpu() {
    let share = |milli| Ask { cpu_milli: 0, gpus: 1, milli, models: Models::ANY };
    let prices = prices(&Mix::new([(share(600), 10), (share(500), 10)]));
    let near = |milli: u16, expected: i64| {
        let price = prices[ask_bucket(milli)];
        assert!((price - expected * UNIT).abs() < 10 * UNIT, "{milli}: {price}");
    };
    near(600, 600);
    near(500, 300);
}

#[test]
fn a_whole_node_is_kept_for_who_needs_it() {
    let whole = |gpus| Ask { cpu_milli: 0, gpus, milli: 1_000, models: Models::ANY };
    let scorer = scorer(&[(whole(8), 1), (whole(1), 4)]);
    let cost = |gaps: &[u16]| {
        recomputed(&scorer, &NodeState::new(0, 0, gaps.iter().copied()), &whole(1)).unwrap().cost
    };
    assert!(cost(&[0, 0, 0, 0, 1_000, 1_000, 1_000, 1_000]) < cost(&[1_000; 8]));
}

#[test]
fn a_model_that_others_depend_on_is_spared() {
    let one = |models| Ask { cpu_milli: 0, gpus: 1, milli: 1_000, models };
    let scorer = scorer(&[(one(Models::ANY), 10), (one(Models::only(2)), 3)]);
    let cost =
        |model| recomputed(&scorer, &NodeState::new(model, 0, [1_000]), &one(Models::ANY)).unwrap().cost;
    assert!(cost(0) < cost(2));
}
