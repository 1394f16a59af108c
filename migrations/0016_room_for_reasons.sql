-- A waiting job's row is written again when it is told why it waits: with room left in its page the new version stays
-- there, and none of the table's indexes is touched.
alter table jobs set (fillfactor = 70);
