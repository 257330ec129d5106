-- SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
-- Storage: transactions that are rolled back, savepoints, journals of each kind, vacuum, backups, files that are damaged, blobs.
.open --new stored.db
pragma page_size = 1024;
pragma auto_vacuum = incremental;
pragma cache_size = 20;
pragma temp_store = file;
create table t(a integer primary key, b text, c blob);
create index tb on t(b);
begin;
with recursive n(i) as (select 1 union all select i + 1 from n where i < 3000) insert into t select i, hex(i * 7919), zeroblob(i % 900) from n;
commit;
begin;
delete from t where a % 2;
savepoint one;
update t set b = b || 'x';
savepoint two;
insert into t select a + 10000, b, c from t limit 500;
rollback to two;
select count(*), sum(length(b)) from t;
release one;
rollback;
select count(*), sum(length(b)), sum(length(c)) from t;
savepoint outer_one;
insert into t(b) values('in savepoint');
rollback to outer_one;
release outer_one;
begin immediate;
insert into t values(1, 'again', null);
update or replace t set a = 2 where a = 1;
select count(*) from t;
rollback;
commit;
rollback;
pragma journal_mode = truncate;
update t set c = zeroblob(1500) where a % 10 = 0;
pragma journal_mode = persist;
delete from t where a between 100 and 900;
pragma journal_mode = memory;
update t set b = lower(b) where a < 2000;
pragma journal_mode = wal;
begin;
insert into t select a + 20000, b, c from t where a < 300;
commit;
pragma wal_checkpoint(full);
begin;
delete from t where a > 20100;
rollback;
update t set b = 'w' || a where a % 50 = 0;
pragma wal_checkpoint(truncate);
pragma journal_mode = delete;
pragma freelist_count;
pragma incremental_vacuum(20);
pragma freelist_count;
vacuum;
pragma integrity_check;
pragma page_count;
vacuum into 'vacuumed.db';
attach 'vacuumed.db' as v;
select count(*) from v.t;
insert into v.t(b) select b from main.t limit 50;
detach v;
.backup 'copied.db'
.open copied.db
select count(*), max(b), sum(length(c)) from t;
pragma integrity_check;
.restore 'vacuumed.db'
select count(*), max(b) from t;
.save 'saved.db'
.dump t
.sha3sum
.open :memory:
create table m(x);
insert into m values(randomblob(100));
select length(x), typeof(x) from m;
.open --new damaged.db
create table d(a primary key, b);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 900) insert into d select i, hex(zeroblob(i % 50)) from n;
pragma writable_schema = on;
update sqlite_schema set rootpage = 3 where name = 'd';
pragma writable_schema = off;
.open damaged.db
pragma quick_check;
select count(*) from d;
select * from d where a = 5;
insert into d values(1000, 'x');
pragma integrity_check(5);
.recover
.open spoiled.db
pragma integrity_check(10);
select count(*), sum(length(b)), sum(length(c)) from t;
select max(b) from t where a > 1000;
update t set b = 'y';
delete from t where a > 500;
vacuum;
.recover
.open short.db
select count(*) from t;
pragma quick_check;
select * from t order by b limit 3;
.open noise.db
select * from t;
