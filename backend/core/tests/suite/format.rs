//! The scenario format: what is refused, where, and that nothing passes in silence.

use reeve_core::scenario::{FileReport, parse};

fn error(text: &str) -> String {
    parse(text).unwrap_err().to_string()
}

fn report(text: &str) -> FileReport {
    FileReport::of("f.yaml", text, reeve_core::schedule::plan)
}

#[test]
fn an_unknown_key_is_an_error_with_its_line_and_column_at_every_depth() {
    let cases = [
        ("name: x\nnods: []\n", "2:1: unknown key `nods`"),
        ("name: x\nnodes: [{gpus: 8, gpu: 1}]\n", "2:19: unknown key `gpu`"),
        ("name: x\npolicy:\n  graze: 0s\n", "3:3: unknown key `graze`"),
        ("name: x\npolicy:\n  kinds:\n    batch: {grace: 1m, min: 2m}\n", "4:24: unknown key `min`"),
        ("name: x\npolicy: {borrow_preemption: {max: 3}}\n", "2:30: unknown key `max`"),
        ("name: x\nteams:\n  a: {guarantee: 4}\n", "3:7: unknown key `guarantee`"),
        ("name: x\nqueues: {q: {team: a, mode: strict}}\n", "2:23: unknown key `mode`"),
        ("name: x\njobs:\n  j: {team: a, gpu: 1}\n", "3:16: unknown key `gpu`"),
        ("name: x\nsteps:\n  - submitt: {}\n", "3:5: unknown key `submitt`"),
        ("name: x\nsteps:\n  - expect: {startd: []}\n", "3:14: unknown key `startd`"),
        ("name: x\nsteps:\n  - expect:\n      evicting: {count: 2, tem: b}\n", "4:28: unknown key `tem`"),
        ("name: x\nsteps:\n  - set: {teams: {a: {limit: 3}}}\n", "3:23: unknown key `limit`"),
        ("name: x\n---\nname: y\nstps: []\n", "4:1: unknown key `stps`"),
    ];
    for (text, expected) in cases {
        assert!(error(text).starts_with(expected), "{text}\n{}", error(text));
    }
}

#[test]
fn wrong_values_are_errors_with_their_place() {
    let cases = [
        ("nodes: []\n", "1:1: a scenario needs a `name`"),
        ("", "1:1: no scenario"),
        ("name: x\npolicy: {grace: 5}\n", "2:17: `5` is no duration"),
        ("name: x\npolicy: {reclaim: sometimes}\n", "2:19: "),
        ("name: x\njobs: {j: {team: a, gpus: 1.5}}\n", "2:27: gpus is a whole number"),
        ("name: x\njobs: {j: {team: a, gpus: -1}}\n", "2:27: "),
        ("name: x\njobs: {j: {team: a, gpu_share: 1.2}}\n", "2:32: gpu_share"),
        ("name: x\njobs: {j: {team: a, replicas: 3, max_replicas: 2}}\n", "2:21: replicas"),
        ("name: x\njobs: {j: {gpus: 1}}\n", "2:8: job `j` needs a `team`"),
        ("name: x\njobs: {j: {team: a, priority: urgent}}\n", "2:31: "),
        ("name: x\nsteps:\n  - wait: -5m\n", "3:11: time does not run backwards"),
        ("name: x\nsteps:\n  - node: {n1: broken}\n", "3:16: `broken` is none of"),
        ("name: x\nsteps:\n  - expect: {pending: {a: hungry}}\n", "3:27: "),
    ];
    for (text, expected) in cases {
        assert!(error(text).starts_with(expected), "{text}\n{}", error(text));
    }
}

#[test]
fn a_story_that_cannot_be_told_fails_with_its_place() {
    let world = "name: x\nnodes: [{count: 1, gpus: 2}]\nteams: {a: {guaranteed: 2}}\n";
    let cases = [
        ("jobs: {j: {team: b}}\n", "no team `b`"),
        ("jobs: {j: {team: a, gpus: 4, state: running}}\n", "don't fit on the nodes"),
        ("jobs: {j: {team: a, state: running, node: n7}}\n", "no node `n7`"),
        ("jobs: {j: {team: a, pools: [q]}}\n", "no pool `q`"),
        ("steps:\n  - vacate: [ghost]\n", "no job `ghost`"),
        (
            "jobs: {j: {team: a, state: running}}\nsteps:\n  - vacate: [j]\n",
            "does not suit job `j`, which is running",
        ),
        ("steps:\n  - submit: {j: {team: a}}\n  - submit: {j: {team: a}}\n", "a second job `j`"),
        ("steps:\n  - expect: {not_evicting: [ghost]}\n", "no job `ghost`"),
    ];
    for (text, expected) in cases {
        let report = report(&format!("{world}{text}"));
        assert!(!report.passed(), "{text}");
        assert!(report.text(false).contains(expected), "{text}\n{}", report.text(false));
    }
}

/// Each expectation with one value that is true and one that is not: a form that could not fail would be
/// worthless.
#[test]
fn every_expectation_can_pass_and_can_fail() {
    let world = "name: x
policy: {min_runtime: 0s}
nodes: [{count: 1, gpus: 8, topology: {rack: r1}}]
teams: {a: {guaranteed: 4}, b: {guaranteed: 4}}
jobs:
  b: {team: b, count: 4, gpus: 2, state: running}
steps:
  - submit:
      a1: {team: a, gpus: 4}
      huge: {team: a, gpus: 16}
    expect: ";
    let cases = [
        ("{evicting: [b3, b4]}", "{evicting: [b1, b4]}"),
        ("{evicting: {count: 2, team: b}}", "{evicting: {count: 2, team: a}}"),
        ("{evicting: {count: 2, new: true}}", "{evicting: {count: 0, new: true}}"),
        ("{evicting: {b: 2}}", "{evicting: {b: 1}}"),
        ("{evicting: {max: 2}}", "{evicting: {max: 1}}"),
        ("{not_evicting: [b1]}", "{not_evicting: [b4]}"),
        ("{evicted: []}", "{evicted: [b4]}"),
        ("{started: []}", "{started: [a1]}"),
        ("{pending: {a1: waiting_for_evictions}}", "{pending: {a1: no_quota}}"),
        ("{pending: [a1, huge]}", "{pending: [a1]}"),
        ("{refused: [huge]}", "{refused: [a1]}"),
        ("{causes: {b4: reclaim}}", "{causes: {b4: preemption}}"),
        ("{placed: {b1: n1}}", "{placed: {a1: n1}}"),
        ("{placed: {b1: {same: rack}}}", "{placed: {b1: {same: spine}}}"),
        ("{placed: {b1: {rack: r1}}}", "{placed: {b1: {rack: r2}}}"),
        ("{replicas: {b1: 1}}", "{replicas: {b4: 1}}"),
        ("{state: {b1: running, b4: leaving, a1: pending}}", "{state: {b4: running}}"),
        ("{usage: {a: 0, b: 8}}", "{usage: {b: 4}}"),
        ("{loans: {b: 4}}", "{loans: {b: 0}}"),
        ("{loans: {b: {a: 4}}}", "{loans: {b: {a: 3}}}"),
        ("{lent: {a: 4}}", "{lent: {a: {min: 5}}}"),
        ("{evictions_total: 2}", "{evictions_total: {max: 1}}"),
        ("{pool_mode: normal}", "{pool_mode: overcommitted}"),
        ("{eta: {a1: {min: 0s}}}", "{eta: {a1: unknown}}"),
        ("{plan_again_is_empty: true}", "{eta: {a1: {min: 30d}}}"),
    ];
    for (holds, fails) in cases {
        let passing = report(&format!("{world}{holds}\n"));
        assert!(passing.passed(), "{holds}\n{}", passing.text(true));
        let failing = report(&format!("{world}{fails}\n"));
        assert!(!failing.passed(), "{fails} passed");
        assert!(failing.text(false).contains("expected "), "{}", failing.text(false));
    }
}

#[test]
fn what_is_over_every_limit_counts_as_refused_with_its_reason() {
    let text = "name: x
nodes: [{count: 1, gpus: 8}]
teams: {a: {guaranteed: 2, borrow_limit: 1, ceiling: normal}}
steps:
  - submit: {big: {team: a, gpus: 4}}
    expect: {refused: {big: over_cap}, pending: {big: over_cap}}
  - submit: {proud: {team: a, priority: critical}}
    expect: {refused: {proud: awaiting_approval}}
  - submit: {lost: {team: a, require_topology: galaxy}}
    expect: {refused: {lost: invalid}}
";
    assert!(report(text).passed(), "{}", report(text).text(true));
}

#[test]
fn time_moves_through_each_due_moment() {
    let text = "name: x
policy: {min_runtime: 10m}
nodes: [{count: 1, gpus: 2}]
teams: {a: {guaranteed: 2}, b: {guaranteed: 0}}
jobs: {b: {team: b, gpus: 2, state: running, started: -4m}}
steps:
  - submit: {a: {team: a, gpus: 2}}
    expect: {evicting: []}
  - wait: 5m
    expect: {evicting: []}
  - wait: 1m
    expect: {evicting: [b]}
";
    assert!(report(text).passed(), "{}", report(text).text(true));
}

#[test]
fn keys_of_later_machinery_are_accepted_and_said() {
    let text = "name: x
policy: {backfill: {planned_jobs: 4, starvation_limit: 12h}, consolidation: on}
nodes: [{count: 1, gpus: 8, nvlink: [[0, 1, 2, 3], [4, 5, 6, 7]], datasets: [imagenet]}]
teams: {a: {guaranteed: 8}}
steps:
  - submit: {j: {team: a, gpus: 2, nvlink: required, datasets: [imagenet], time_limit: 2h}}
    expect: {started: [j]}
";
    let report = report(text);
    assert!(report.passed(), "{}", report.text(true));
    assert_eq!(report.scenarios[0].notes.len(), 1, "{:?}", report.scenarios[0].notes);
}
