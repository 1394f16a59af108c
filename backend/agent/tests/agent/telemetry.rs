//! How the GPUs are used, as the server hears it.

use super::agent::{World, sh, wait_for};
use reeve_wire::report::MemberKey;
use std::collections::BTreeSet;

impl World {
    /// What was told of a GPU while a member was on it: thousandths of compute.
    fn computed(&self, index: u32, key: &MemberKey) -> Vec<u32> {
        let heard = self.server.heard.lock().unwrap();
        let of_gpu = heard.samples.iter().filter(|sample| sample.index == index);
        of_gpu
            .filter(|sample| sample.members == [key.clone()])
            .filter_map(|sample| sample.compute_permille)
            .collect()
    }
}

#[test]
fn samples_say_who_runs_where_and_how_busy_by_the_servers_clock() {
    let mut world = World::new();
    world.start_agent(&["--sample-secs", "1"]);
    let mut member = sh("sleep 1000");
    member.spec.env.insert("REEVE_SIM_USE_PERMILLE".into(), "420".into());
    let key = world.run(&member);
    let computed = wait_for("samples of the job", || {
        let computed = world.computed(3, &key);
        (computed.len() >= 2).then_some(computed)
    });
    assert_eq!(computed.iter().copied().collect::<BTreeSet<u32>>(), BTreeSet::from([420]));
    assert!(!world.computed(0, &key).is_empty());
    let heard = world.server.heard.lock().unwrap();
    let moments: BTreeSet<_> = heard.samples.iter().map(|sample| (sample.index, sample.at)).collect();
    assert_eq!(moments.len(), heard.samples.len(), "no moment of a GPU is told twice");
    let free = heard.samples.iter().filter(|sample| sample.index == 1);
    assert!(free.clone().count() > 0);
    assert!(free.into_iter().all(|sample| sample.members.is_empty() && sample.compute_permille == Some(0)));
}

#[test]
fn what_could_not_be_told_comes_when_the_server_is_back() {
    let mut world = World::new();
    world.start_agent(&["--sample-secs", "1"]);
    let key = world.sh("sleep 1000");
    wait_for("a sample", || (!world.computed(0, &key).is_empty()).then_some(()));
    world.server.down();
    let before = world.server.heard.lock().unwrap().samples.len();
    std::thread::sleep(std::time::Duration::from_secs(6));
    world.server.up();
    wait_for("more samples", || {
        (world.server.heard.lock().unwrap().samples.len() > before + 8 * 6).then_some(())
    });
    let heard = world.server.heard.lock().unwrap();
    let mut of_gpu: Vec<_> =
        heard.samples.iter().filter(|sample| sample.index == 0).map(|sample| sample.at).collect();
    of_gpu.sort();
    let gap = of_gpu.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap();
    assert!(gap < chrono::TimeDelta::seconds(4), "a gap of {gap} that the samples of meanwhile should fill");
}
