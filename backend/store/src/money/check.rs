//! What must hold of the ledger over the whole database: it is capacity × time, and its days are its hours.

use crate::error::StoreError;
use sqlx::PgConnection;

/// Everything that is wrong, in sentences.
pub(crate) async fn faults(connection: &mut PgConnection) -> Result<Vec<String>, StoreError> {
    Ok(sqlx::query_scalar!(
        r#"with entries as (
             select pool_id, hour, sum(gpu_milli * (extract(epoch from ended_at - started_at) * 1000)::bigint) as amount,
                    max(ended_at) as last
             from ledger_entries group by 1, 2
           ), spans as (
             -- A made hour reaches to its end, the last one to where it was made.
             select e.pool_id, e.hour, e.amount, least(e.hour + interval '1 hour', p.derived_until) as until
             from entries e join ledger_progress p on p.pool_id = e.pool_id
             where e.hour < p.settled_until and (p.redo_from is null or e.hour < p.redo_from)
               -- A closed month stays as it was, whatever was told too late for it: an event says so.
               and not exists (select from billing_months m where m.state = 'closed'
                               and e.hour >= m.month::timestamp at time zone 'UTC'
                               and e.hour < (m.month + interval '1 month') at time zone 'UTC')
           ), recorded as (
             select s.pool_id, s.hour, sum(c.gpu_milli *
                      (floor(extract(epoch from least(coalesce(c.ended_at, s.until), s.until)) * 1000)
                       - floor(extract(epoch from greatest(c.started_at, s.hour)) * 1000))) as amount
             from spans s join capacity_intervals c
               on c.pool_id = s.pool_id and c.started_at < s.until and (c.ended_at is null or c.ended_at > s.hour)
             group by 1, 2
           )
           select 'ledger of pool ' || s.pool_id || ', hour ' || s.hour || ': ' || s.amount
                  || ' milli-GPU ms, capacity × time is ' || coalesce(r.amount, 0) as "found!"
           from spans s left join recorded r on r.pool_id = s.pool_id and r.hour = s.hour
           where s.amount <> coalesce(r.amount, 0)
           union all
           select 'ledger of pool ' || d.pool_id || ', day ' || d.day || ': ' || d.amount || ' by days, '
                  || coalesce(e.amount, 0) || ' by entries'
           from (select pool_id, day, sum(gpu_milli_ms) as amount from usage_days group by 1, 2) d
           full join (select pool_id, (hour at time zone 'UTC')::date as day, sum(amount) as amount from entries
                      group by 1, 2) e on e.pool_id = d.pool_id and e.day = d.day
           where coalesce(d.amount, 0) <> coalesce(e.amount, 0)
           union all
           select 'ledger of run ' || u.run_id || ', hour ' || u.hour || ': ' || u.amount || ' held, '
                  || coalesce(e.amount, 0) || ' in the ledger'
           from (
             select i.run_id, s.pool_id, s.hour, sum(i.gpu_milli *
                      (floor(extract(epoch from least(coalesce(i.ended_at, s.until), s.until)) * 1000)
                       - floor(extract(epoch from greatest(i.started_at, s.hour)) * 1000))) as amount
             from spans s join usage_intervals i
               on i.pool_id = s.pool_id and i.started_at < s.until and (i.ended_at is null or i.ended_at > s.hour)
             group by 1, 2, 3
           ) u left join (
             select run_id, pool_id, hour,
                    sum(gpu_milli * (extract(epoch from ended_at - started_at) * 1000)::bigint) as amount
             from ledger_entries where run_id is not null group by 1, 2, 3
           ) e on e.run_id = u.run_id and e.pool_id = u.pool_id and e.hour = u.hour
           where u.amount <> coalesce(e.amount, 0)"#
    )
    .fetch_all(connection)
    .await?)
}
