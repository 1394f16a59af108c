//! Searches random walks for broken rules: `walks FROM TO [STEPS] [THREADS]`, or `walks one SEED [STEPS]`
//! for one seed's shortest story with the state and the plan at its end.

use reeve_core::id::JobId;
use reeve_core::scenario::random::{Failure, Trial, Walk};
use reeve_core::schedule::plan;
use reeve_core::schedule::plan::Plan;
use reeve_core::schedule::snapshot::{Placement, Snapshot};
use reeve_sim::walks::{Walks, profile_of};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

const STEPS: u32 = 50;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| args.get(at).and_then(|text| text.parse::<u64>().ok());
    match (args.first().map(String::as_str), number(0), number(1)) {
        (Some("one"), _, Some(seed)) => one(seed, number(2).map_or(STEPS, |steps| steps as u32)),
        (_, Some(from), Some(to)) => {
            let steps = number(2).map_or(STEPS, |steps| steps as u32);
            let threads = number(3).map_or_else(
                || std::thread::available_parallelism().map_or(1, usize::from),
                |threads| threads as usize,
            );
            search(&Walks { seeds: from..to, steps, threads })
        }
        _ => {
            eprintln!("walks FROM TO [STEPS] [THREADS] | walks one SEED [STEPS]");
            ExitCode::from(2)
        }
    }
}

fn search(walks: &Walks) -> ExitCode {
    let start = Instant::now();
    let done = AtomicU64::new(0);
    let broken = walks.search(plan, || {
        let count = done.fetch_add(1, Ordering::Relaxed) + 1;
        if count.is_multiple_of(500) {
            eprintln!("{count} walks in {:.0} s", start.elapsed().as_secs_f64());
        }
    });
    for (rule, found) in &broken {
        println!("{rule}: {} walks, seeds {:?}\n  {}\n", found.count, found.seeds, found.shortest);
    }
    let secs = start.elapsed().as_secs_f64();
    let states = walks.states();
    println!(
        "{states} states in {secs:.1} s: {:.0} a second; {} rules broken",
        states as f64 / secs,
        broken.len()
    );
    if broken.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn one(seed: u64, steps: u32) -> ExitCode {
    let trial = Trial::new(seed, steps, profile_of(seed));
    let Err(failure) = trial.run(plan) else {
        println!("seed {seed}: nothing broken");
        return ExitCode::SUCCESS;
    };
    let failure = failure.shrunk(plan);
    println!("{failure}\n");
    if failure.story.iter().any(|line| line.starts_with("--")) {
        println!("-- where the walk itself ended:");
        describe_end(&failure);
        println!("\n-- and in what might come after:");
    }
    describe(&failure.state);
    let made = plan(&failure.state);
    describe_plan(&failure.state, &made);
    let mut cluster = reeve_core::scenario::Cluster::new(failure.state);
    if cluster.apply(&made).is_ok() {
        println!("-- and planned again:");
        describe_plan(&cluster.snapshot, &plan(&cluster.snapshot));
        let jobs: Vec<JobId> = cluster.snapshot.jobs.iter().map(|job| job.id).collect();
        jobs.into_iter().for_each(|job| cluster.vacate(job));
        println!("-- and when all who leave are gone:");
        describe_plan(&cluster.snapshot, &plan(&cluster.snapshot));
    }
    ExitCode::FAILURE
}

/// The walk's last state and the plan for it.
fn describe_end(failure: &Failure) {
    let mut walk = Walk::new(failure.trial.seed, failure.trial.profile);
    for step in 1..failure.step {
        if failure.trial.skipped.contains(&step) {
            walk.skip();
            continue;
        }
        walk.happen();
        if walk.plan(plan).is_err() {
            return;
        }
    }
    walk.happen();
    describe(walk.snapshot());
    describe_plan(walk.snapshot(), &plan(walk.snapshot()));
}

/// The last figures of an id.
fn short(id: impl ToString) -> String {
    let text = id.to_string();
    text[text.len() - 3..].to_owned()
}

fn describe(state: &Snapshot) {
    let mut policy = state.policy.clone();
    let runs: Vec<i64> = policy.kinds.values().map(|rules| rules.min_runtime_secs).collect();
    policy.kinds.clear();
    println!("-- {} {policy:?} min run times {runs:?}", state.now);
    for team in &state.teams {
        let quotas: Vec<String> = state
            .quotas
            .iter()
            .filter(|quota| quota.team == team.id)
            .map(|q| {
                format!(
                    "{}: n={} b={:?} l={:?} w={} drain={}",
                    short(q.pool),
                    q.guaranteed.0,
                    q.borrow_limit.map(|limit| limit.0),
                    q.lend_limit.map(|limit| limit.0),
                    q.weight,
                    q.drain
                )
            })
            .collect();
        println!(
            "team {} {} under {:?}: {}",
            short(team.id),
            team.slug,
            team.parent.map(short),
            quotas.join("; ")
        );
    }
    describe_places(state);
    describe_jobs(state);
    for found in &state.nominations {
        println!(
            "nomination of {} from {} to {}: {:?}",
            short(found.job),
            found.created_at,
            found.expires_at,
            places(&found.members)
        );
    }
}

fn describe_places(state: &Snapshot) {
    for queue in &state.queues {
        println!(
            "queue {} of {}: {} {} jobs {:?} a user {:?} gpus {:?}",
            short(queue.id),
            short(queue.team),
            queue.order,
            queue.state,
            queue.max_running_jobs,
            queue.max_running_jobs_per_user,
            queue.max_running_gpus.map(|most| most.0)
        );
    }
    for node in &state.nodes {
        let sick: Vec<u32> = node.gpus.iter().filter(|gpu| !gpu.healthy).map(|gpu| gpu.index).collect();
        println!(
            "node {} {} pool {} {} {} GPUs (sick {sick:?}) cpu {} memory {} {:?} {:?} rdma {}",
            short(node.id),
            node.name,
            short(node.pool),
            node.state,
            node.gpus.len(),
            node.cpu.0,
            node.memory.0,
            node.labels,
            node.topology,
            node.rdma
        );
    }
}

fn describe_jobs(state: &Snapshot) {
    for job in &state.jobs {
        let members: Vec<String> = job
            .members
            .iter()
            .map(|member| {
                let gpus: Vec<String> =
                    member.gpus.iter().map(|s| format!("{}={}", short(s.gpu), s.milli.0)).collect();
                let leaving =
                    member.leaving.as_ref().map(|l| format!(" LEAVING by {} {:?}", l.leave_by, l.cause));
                format!(
                    "#{}@{} {gpus:?} since {}{}",
                    member.index,
                    short(member.node),
                    member.started_at,
                    leaving.unwrap_or_default()
                )
            })
            .collect();
        println!(
            "job {} {} team {} user {} {} p{} sub {} {:?} cpu {} mem {} x {}..{} pools {:?} model {:?} labels {:?} topo {:?}/{:?} rdma {} preempt {} evicts {} held {} ev {} {members:?}",
            short(job.id),
            job.name,
            short(job.team),
            short(job.user),
            job.kind,
            job.priority.0,
            job.submitted_at,
            job.shape.gpus,
            job.shape.cpu.0,
            job.shape.memory.0,
            job.min_replicas,
            job.max_replicas,
            job.pools.iter().map(short).collect::<Vec<_>>(),
            job.gpu_model,
            job.labels,
            job.require_topology,
            job.prefer_topology,
            job.rdma,
            job.preemptible,
            job.evict_others,
            job.held,
            job.evictions_in_last_day
        );
    }
}

fn places(members: &[Placement]) -> Vec<String> {
    let gpus = |p: &Placement| p.gpus.iter().map(|s| short(s.gpu)).collect::<Vec<_>>().join(",");
    members.iter().map(|p| format!("{} {}", short(p.node), gpus(p))).collect()
}

fn describe_plan(state: &Snapshot, made: &Plan) {
    let name = |id: JobId| {
        state.jobs.iter().find(|job| job.id == id).map_or_else(|| "?".into(), |job| job.name.clone())
    };
    for start in &made.starts {
        println!(
            "=> start {} {} grow {} {:?}",
            short(start.job),
            name(start.job),
            start.grow,
            places(&start.members)
        );
    }
    for reclaim in &made.reclaims {
        let evictor = reclaim.evictor.map(|job| format!("{} {}", short(job), name(job)));
        println!("=> for {evictor:?} until {} at {:?}", reclaim.expires_at, places(&reclaim.nomination));
        for e in &reclaim.evictions {
            println!(
                "   evict {} {} {:?} {} {}",
                short(e.job),
                name(e.job),
                e.members,
                e.cause,
                e.record.rule
            );
        }
    }
    for dropped in &made.dropped {
        println!("=> drop {} {} {}", short(dropped.job), name(dropped.job), dropped.why);
    }
    for (job, why) in &made.waiting {
        println!("   {} waits: {} {:?} {:?}", name(*job), why.main.code, why.main.detail, why.main.numbers);
    }
}
