-- SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
-- Queries: joins, windows, common tables, aggregates, triggers, views, collations, upserts, errors.
create table people(id integer primary key, name text collate nocase, boss references people(id), pay real, born date);
create table things(id integer primary key autoincrement, owner int references people(id) on delete cascade, kind text, price numeric check(price >= 0), data blob, unique(owner, kind));
create table log(at integer primary key, what text);
create index by_boss on people(boss, pay desc);
create index by_price on things(price) where price > 10;
create index by_length on things(length(kind), kind);
pragma foreign_keys = on;
create trigger made after insert on things when new.price > 90 begin insert into log(what) values('made ' || new.kind || ' ' || new.price); end;
create trigger changed before update of price on things begin select case when new.price > 1000 then raise(abort, 'too dear') end; insert into log(what) values(old.price || '>' || new.price); end;
create trigger removed after delete on things begin insert into log(what) values('gone ' || old.id); end;
create view owners as select p.name, count(t.id) as n, sum(t.price) as worth from people p left join things t on t.owner = p.id group by p.id;
create trigger via_view instead of insert on owners begin insert into people(name, pay) values(new.name, new.worth); end;
with recursive n(i) as (select 1 union all select i + 1 from n where i < 800)
	insert into people select i, printf('person %c%d', 65 + i % 26, i), nullif(i / 3, 0), (i * 7919 % 1009) / 4.0, date('2000-01-01', (i % 3650) || ' days') from n;
with recursive n(i) as (select 1 union all select i + 1 from n where i < 2500)
	insert or ignore into things(owner, kind, price, data) select i % 800 + 1, 'kind ' || (i % 97), i * 31 % 101, zeroblob(i % 300) from n;
insert into owners(name, worth) values('by view', 12.5);
update things set price = price + 1 where id % 7 = 0;
update things set price = 2000 where id = 3;
insert into things(owner, kind, price) values(999999, 'x', 1);
insert into things(owner, kind, price) values(1, 'x', -1);
insert into things(owner, kind, price) values(2, 'kind 3', 1) on conflict(owner, kind) do update set price = excluded.price + 5 returning owner, kind, price;
insert into things(owner, kind, price) select owner, kind, price from things limit 3;
delete from people where id between 700 and 720;
select count(*), sum(n), round(sum(worth), 2) from owners;
select p.name, b.name, t.kind, t.price from people p join people b on b.id = p.boss join things t on t.owner = b.id where t.price > 80 order by t.price desc, p.id limit 8;
select count(*) from people a left join people b on a.boss = b.id left join things t on t.owner = b.id and t.price between 20 and 40 where b.id is null or t.id is not null;
select count(*) from people a full outer join things t on t.owner = a.id;
select count(*) from people natural join (select id, kind from things);
select name, pay, rank() over w, dense_rank() over w, row_number() over w, ntile(5) over w, lag(pay, 2, 0) over w, lead(name) over w, first_value(pay) over w,
	round(percent_rank() over w, 4), round(cume_dist() over w, 4) from people where id < 40 window w as (partition by id % 4 order by pay) order by id limit 12;
select sum(s), max(m), min(f) from (select sum(price) over (order by id rows between 5 preceding and 3 following exclude current row) s,
	max(price) over (partition by owner % 7 order by price groups between 1 preceding and unbounded following) m,
	avg(price) filter (where price > 50) over (order by price range between 10 preceding and 10 following) f from things);
with recursive down(id, level, path) as (select id, 0, name from people where boss is null union all select p.id, level + 1, path || '/' || p.id from people p join down d on p.boss = d.id)
	select level, count(*), max(length(path)) from down group by level having count(*) > 1 order by level;
with recursive mandel(x, y, cx, cy, n) as (select 0.0, 0.0, c.i / 10.0 - 2, d.i / 5.0 - 1, 0 from (with recursive q(i) as (select 0 union all select i + 1 from q where i < 30) select i from q) c,
	(with recursive q(i) as (select 0 union all select i + 1 from q where i < 10) select i from q) d
	union all select x*x - y*y + cx, 2*x*y + cy, cx, cy, n + 1 from mandel where x*x + y*y < 4 and n < 20) select sum(n), max(n), count(*) from mandel;
select kind, group_concat(price, ','), total(price), round(avg(price), 3) from (select * from things order by id) group by kind having count(*) > 30 order by 3 desc, 1 limit 5;
select owner from things where price > 60 intersect select owner from things where price < 20 except select id from people where pay > 100 order by 1 limit 9;
select count(*) from (select owner from things union select id from people union all select 1);
select (select max(price) from things t where t.owner = p.id) as m, exists(select 1 from things where owner = p.id and price > 99) e from people p where m in (select price from things where id < 50) order by p.id limit 9;
select upper(name), lower(name), substr(name, -3), instr(name, '1'), replace(name, 'person', '*'), trim(name, 'p1'), hex(name), quote(name), unicode(name), printf('%08.3f|%-9s|%+d|%x', pay, name, id, id), typeof(boss), coalesce(boss, 'none'), iif(id > 5, 'a', 'b'), name like 'PERSON%1', name glob '*[a-c]1' from people limit 6;
select date('2024-02-29', '+1 year'), strftime('%j %W %w', '2024-12-31'), julianday('2000-01-01 12:00'), datetime(86400, 'unixepoch'), time('12:34:56', '-90 minutes'), round(pow(2, 0.5), 6), round(ln(10), 6), abs(-7), 7 % 3, 7 / 2.0, 1 << 40, ~5, -9223372036854775808, 9223372036854775807 + 1, '12abc' + 1, cast('3.9' as int), x'00ff' || x'11', null is not distinct from null, 1 between 0 and 2, random() is null;
explain query plan select * from people p join things t on t.owner = p.id where p.boss = 3 and t.price > 50 order by t.price;
select count(*), sum(length(what)) from log;
analyze;
reindex;
pragma optimize;
select tbl, idx is null, length(stat) > 3 from sqlite_stat1 order by 1, 2, 3 limit 4;
pragma integrity_check;
pragma foreign_key_check;
pragma table_xinfo(things);
pragma index_list(things);
select * from nowhere;
select nothing from people;
select 1 +;
select abs(-9223372036854775808);
select max(1, 2, x) from people;
select json('{');
select zeroblob(1 << 40);
insert into people values(1);
create table people(x);
drop table nothing;
select sum(9223372036854775807) from people;
select load_extension('/nowhere');
alter table log rename to people;
alter table log rename column what to words;
alter table log add column more text default 'm';
alter table log drop column more;
select sql from sqlite_schema where name in ('log', 'made') order by 1;
create table generated(a int, b int generated always as (a * 2) stored, c text as ('c' || a)) strict;
insert into generated(a) values(1), (2), (3);
insert into generated(a) values('x');
select * from generated;
create table packed(k text primary key, v) without rowid;
insert into packed select kind, count(*) from things group by 1;
delete from packed where v < 25;
update packed set k = k || '!' where v % 2;
select count(*), min(k), sum(v) from packed;
