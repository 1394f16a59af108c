//! The generator, the reader's refusals, and the protocol on a tiny trace.

use super::data::{Cluster, Node, Pod, Workload};
use super::replay::{Product, best_fit};
use super::ties::{Cooked, own, published};
use reeve_core::schedule::packing::{Ask, Models};
use std::collections::BTreeMap;

fn cluster(nodes: usize) -> Cluster {
    let node = |at| Node { name: format!("n{at}"), cpu_milli: 64_000, memory_mib: 1_000, gpus: 8, model: 0 };
    Cluster { nodes: (0..nodes).map(node).collect(), models: vec!["A".to_owned()] }
}

fn workload(asks: &[(u16, u16)]) -> Workload {
    let pod = |(gpus, milli)| Pod {
        ask: Ask { cpu_milli: 1_000, gpus, milli, models: Models::ANY },
        memory_mib: 1,
    };
    let pods = asks.iter().enumerate().map(|(at, &ask)| (format!("p{at}"), pod(ask))).collect();
    Workload { name: "tiny", pods, arrivals: BTreeMap::new() }
}

/// `rand.New(rand.NewSource(1)).Perm(5)` and the rest of a run, as Go draws them.
#[test]
fn the_generator_is_gos() {
    let cooked = Cooked::new();
    // Go's documented first `Intn(100)` values for seed 1 are 81, 87, 47, 59, 81, 18, 25, 40, 56, 0.
    let mut random = super::ties::GoRand::new(&cooked, 1);
    let drawn: Vec<usize> = (0..10).map(|_| random.below(100)).collect();
    assert_eq!(drawn, [81, 87, 47, 59, 81, 18, 25, 40, 56, 0]);
}

#[test]
fn orders_among_equals_are_permutations() {
    let pods = workload(&[(1, 1_000), (8, 1_000), (1, 500)]);
    let (arrivals, ties) = published(&Cooked::new(), &pods, 24_000, 50, 7);
    let milli: i64 = arrivals.iter().map(|&pod| pods.pods[pod].1.ask.gpu_milli()).sum();
    assert!(milli >= 24_000, "pods are cloned up to 130 %: {milli}");
    for mut ties in [ties, own(50, 7)] {
        ties.sort_unstable();
        assert_eq!(ties, (0..50).collect::<Vec<u32>>());
    }
}

#[test]
fn what_fits_is_placed_and_what_does_not_is_lost() {
    let (cluster, pods) = (cluster(2), workload(&[(1, 800)]));
    // 16 GPUs asked for in twenty shares of 0.8: one fits on a GPU, 12.8 are placed.
    let (arrivals, ties) = ([0; 20], own(2, 1));
    let reference = best_fit(&cluster, &pods, &arrivals, &ties);
    let ours = Product::new(&cluster, &pods).replay(&cluster, &pods, &arrivals, &ties);
    for outcome in [reference, ours] {
        assert_eq!((outcome.allocated_at_100, outcome.decisions), (80.0, 20));
    }
}

/// Costs kept from an earlier run change nothing.
#[test]
fn a_second_run_gives_the_same() {
    let (cluster, pods) = (cluster(3), workload(&[(1, 810), (1, 470), (2, 1_000), (1, 160)]));
    let arrivals: Vec<usize> = (0..60).map(|at| at * 7 % 4).collect();
    let mut product = Product::new(&cluster, &pods);
    let runs: Vec<f64> =
        (0..2).map(|_| product.replay(&cluster, &pods, &arrivals, &own(3, 5)).allocated_at_100).collect();
    assert_eq!(runs[0], runs[1]);
    assert!(runs[0] > 0.0);
}
