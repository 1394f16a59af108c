-- What a pool could give, as intervals: a new one at every change, so that its past stays true.

create table capacity_intervals (
    id uuid primary key,
    pool_id uuid not null references pools (id),
    -- Of nodes that are not removed.
    gpu_milli bigint not null constraint capacity_intervals_gpu_milli_check check (gpu_milli > 0),
    -- Of these: held by nobody, and out of reach because their node is lost or they are not healthy.
    down_milli bigint not null
        constraint capacity_intervals_down_milli_check check (down_milli between 0 and gpu_milli),
    started_at timestamptz not null,
    ended_at timestamptz,
    constraint capacity_intervals_order_check check (ended_at >= started_at)
);
create unique index capacity_intervals_open_key on capacity_intervals (pool_id) where ended_at is null;
create index capacity_intervals_ended_at_idx on capacity_intervals (ended_at);

-- What was before is not known: today's counts from the first node on.
insert into capacity_intervals (id, pool_id, gpu_milli, down_milli, started_at)
select gen_random_uuid(), n.pool_id, count(*) * 1000,
       coalesce(sum(g.free_milli) filter (where n.state = 'lost' or g.health <> 'healthy'), 0), min(n.created_at)
from nodes n join gpus g on g.node_id = n.id where n.state <> 'removed' group by n.pool_id;

-- A look at the last hours reads the intervals that ended in them, not all that ever were.
create index usage_intervals_ended_at_idx on usage_intervals (ended_at);
create index loans_ended_at_idx on loans (ended_at);
