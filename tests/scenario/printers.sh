#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Classes, enumerations with parts and references of C++ and Rust, as the programs themselves print what they have.
. tests/scenario/lib.sh

cat >"$dir/classes.cc" <<'END'
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <vector>
#define KEPT __attribute__((noinline, noclone, noipa))
static const volatile void *volatile sink;
template <class... T> static inline void see(T &...x) { ((sink = &x), ...); }
enum class hue : unsigned char { red = 1, green, blue };
struct base { int number; virtual ~base() {} };
struct point { short x, y; };
struct row : base {
	std::string name;
	unsigned narrow : 3;
	int wide : 7;
	hue colour : 4;
	bool yes : 1;
	std::vector<short> list;
	point at[2];
	int matrix[2][3];
	const char *text;
	int (*call)(const char *);
	std::optional<int> maybe;
	std::unique_ptr<point> owned;
	std::string names[2];
	KEPT int method(int more) { see(more); return number + more; }
};
struct odd { std::string s; long double real; __int128 large; _Complex double complex; char16_t wide; static int shared; };
int odd::shared = 7;
struct root { int in_root; };
struct middle : virtual root { int in_middle; };
struct known_elsewhere;
struct packet { int n; int more[2]; char rest[]; };
namespace mine {
template <class C, class T> struct basic_string { int a; char b[4]; };
template <class T> struct vector { int _M_impl; };
struct basic_string_view { const char *_M_str; unsigned short _M_len; };
template <class T> struct optional { char _M_payload; T value; };
}
static std::string out;
static std::string quoted(std::string_view s, size_t most = 200)
{
	std::string r = "\"";
	char hex[8];
	for (size_t i = 0; i < s.size() && i < most; i++) {
		unsigned char c = s[i];
		snprintf(hex, sizeof(hex), "\\x%02x", c);
		r += c == '"' || c == '\\' ? std::string("\\") + s[i] : c == '\n' ? "\\n" : c == '\t' ? "\\t" : c < ' ' || c > '~' ? std::string(hex) : std::string(1, c);
	}
	return r + (s.size() > most ? "\"..." : "\"");
}
template <class T> static std::string list(const T &v, size_t most)
{
	std::string r = "{";
	size_t n = 0;
	for (const auto &x : v) {
		if (n == most)
			return r + ",... " + std::to_string(v.size()) + " in all}";
		r += (n++ ? "," : "") + std::to_string(x);
	}
	return r + "}";
}
static void say(const std::string &s) { fprintf(stderr, "%s\n", s.c_str()); }

extern "C" {
KEPT void text(const std::string &s, const std::string_view &v, std::string *p, std::string &&moved) { see(s, v, p, moved); }
KEPT void many(const std::vector<int> &v, const std::vector<char> &chars, std::vector<point> &points, const std::vector<bool> &bits) { see(v, chars, points, bits); }
KEPT void point_at(std::unique_ptr<point> &u, const std::shared_ptr<row> &s, std::optional<std::string> &o, std::optional<int> &n) { see(u, s, o, n); }
KEPT void scalars(int &i, const bool &b, double &d, hue &h, point &p, int *&q, const char &c) { see(i, b, d, h, p, q, c); }
KEPT void whole(const row &r) { see(r); }
KEPT void others(odd *o) { see(o); }
KEPT void diamond(middle &m, known_elsewhere &k) { see(m, k); }
KEPT void rows(int (*rows)[3], int (&all)[2][3], packet *p, int (*call)(const char *)) { see(rows, all, p, call); }
KEPT void own(mine::basic_string<char, int> &s, mine::vector<int> &v, mine::basic_string_view &w, mine::optional<int> &o) { see(s, v, w, o); }
}

static void texts(const std::string &s)
{
	std::string p = "other", moved = s + "!";
	say("text s=" + quoted(s) + " v=" + quoted(s) + " *p=\"other\" moved=" + quoted(moved));
	text(s, s, &p, std::move(moved));
}
int main()
{
	for (auto s : { "", "a", "fifteen bytes!!", "sixteen bytes!!!", "a\"b\\c\td\n" })
		texts(s);
	texts(std::string("zero\0byte", 9));
	texts(std::string(200, 'x'));
	texts(std::string(201, 'x'));
	texts(std::string(100000, 'y'));
	for (int n : { 0, 1, 3, 16, 17, 1000 }) {
		std::vector<int> v;
		for (int i = 0; i < n; i++)
			v.push_back(i * 100 - 5);
		std::vector<point> points(n > 2 ? 2 : n, point{ 3, -4 });
		std::string some = "{";
		for (size_t i = 0; i < points.size(); i++)
			some += (i ? ",{x=3,y=-4}" : "{x=3,y=-4}");
		say("many v=" + list(v, 16) + " points=" + some + "}");
		many(v, std::vector<char>(n, 'c'), points, std::vector<bool>(n));
	}
	auto u = std::make_unique<point>(point{ 5, 6 });
	auto s = std::make_shared<row>();
	std::optional<std::string> o;
	std::optional<int> n;
	s->name = "shared";
	char at[64];
	for (int i = 0; i < 2; i++) {
		snprintf(at, sizeof(at), "point_at u=%p *u={x=5,y=6} u->x=5 s=%p", (void *)u.get(), (void *)s.get());
		say(std::string(at) + " s->name=\"shared\" o=" + (o ? quoted(*o) : "nullopt") + " n=" + (n ? std::to_string(*n) : "nullopt"));
		point_at(u, s, o, n);
		o = "there";
		n = -7;
	}
	int i = -5, *q = &i;
	bool b = true;
	double d = 2.5;
	hue h = hue::green;
	point p{ -1, 2 };
	char c = 'z';
	snprintf(at, sizeof(at), "q=%p *q=-5", (void *)q);
	say(std::string("scalars i=-5 b=true d=2.5 h=green p={x=-1,y=2} p.y=2 ") + at + " c='z'");
	scalars(i, b, d, h, p, q, c);
	row r;
	r.number = -42;
	r.name = std::string(70, 'n');
	r.narrow = 5;
	r.wide = -3;
	r.colour = hue::blue;
	r.yes = true;
	r.list = { 7, -8 };
	r.at[0] = { 1, 2 };
	r.at[1] = { 3, 4 };
	for (int k = 0; k < 6; k++)
		r.matrix[k / 3][k % 3] = k * k;
	r.text = "literal";
	r.call = puts;
	r.maybe = 9;
	r.names[0] = "zeroth";
	r.names[1] = "a string that is longer";
	say("whole r.number=-42 r.name=" + quoted(r.name) + " r.narrow=5 r.wide=-3 r.colour=blue r.yes=true r.list={7,-8} r.at={{x=1,y=2},{x=3,y=4}} r.at[1].y=4"
	    " r.matrix={{0,1,4},{9,16,25}} r.matrix[1]={9,16,25} r.matrix[1][2]=25 r.text=\"literal\" r.maybe=9 r.names={\"zeroth\",\"a string that is longer\"}");
	say("struct number=-42,name=" + quoted(r.name, 64) + ",narrow=5,wide=-3,colour=blue,yes=true,list={7,-8},at={{x=1,y=2},{x=3,y=4}},"
	    "matrix={{0,1,4},{9,16,25}},text=\"literal\",call=puts,maybe=9,owned=0x0,names={\"zeroth\",\"a string that is longer\"}}");
	whole(r);
	say("method this->number=-42 more=3 this->name=" + quoted(r.name));
	printf("%d\n", r.method(3));
	odd x{ "odd", 1.25L, -1, 0, u'w' };
	__real__ x.complex = 1;
	__imag__ x.complex = -2.5;
	say("others *o={s=\"odd\",real=1.25,large=0xffffffffffffffffffffffffffffffff,complex={1.0,-2.5},wide=119}");
	others(&x);
	middle m;
	m.in_root = 1;
	m.in_middle = 2;
	snprintf(at, sizeof(at), " k=%p", (void *)&m);
	say(std::string("diamond m.in_middle=2") + at);
	diamond(m, *(known_elsewhere *)&m);
	packet *packet = (struct packet *)calloc(1, 200);
	packet->more[1] = 8;
	strcpy(packet->rest, "flexible");
	say("rows *rows={0,1,4} rows[1]={9,16,25} rows[1][2]=25 all={{0,1,4},{9,16,25}} all[1][0]=9 p->rest=\"flexible\" p->rest[2]='e' p->more={0,8}");
	rows(r.matrix, r.matrix, packet, puts);
	mine::basic_string<char, int> ms = { 3, "abc" };
	mine::vector<int> mv = { 4 };
	mine::basic_string_view mw = { "view", 4 };
	mine::optional<int> mo = { 1, 8 };
	say("own s={a=3,b=\"abc\"} v={_M_impl=4} w={_M_str=\"view\",_M_len=4} o={_M_payload=1,value=8}");
	own(ms, mv, mw, mo);
	return 0;
}
END
cat >"$dir/hostile.cc" <<'END'
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <vector>
struct raw { const char *p; size_t n; char local[16]; };
struct three { const void *begin, *end, *room; };
struct inside { int before; std::string s; std::vector<int> v; int behind; };
static const volatile void *volatile sink;
template <class... T> static inline void see(T &...x) { ((sink = &x), ...); }
extern "C" {
__attribute__((noinline)) void text(const std::string &s, const std::string_view &v, const std::vector<int> &w, inside *in) { see(s, v, w, in); }
}
int main()
{
	char *page = (char *)mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *end = page + 4096;
	munmap(end, 4096);
	memset(page, 'p', 4096);
	static const size_t lengths[] = { 1, 100, 4096, 1ul << 60, -1ul };
	raw bad = {};
	three vector = {};
	for (const char *at : { (const char *)8, (const char *)-8, (const char *)end - 100, (const char *)page, (const char *)0x800000000000 })
		for (size_t n : lengths) {
			struct { const char *p; size_t n; } view = { at, n };
			size_t want = n < 201 ? n : 201, have = at == page ? 4096 : at == end - 100 ? 100 : 0;
			bad = { at, n };
			inside in[1];
			memcpy((void *)&in->s, &bad, sizeof(bad));
			vector = { at, at + (n & -4), nullptr };
			memcpy((void *)&in->v, &vector, sizeof(vector));
			in->before = 1;
			in->behind = 2;
			struct { size_t len; const char *p; } swapped = { n, at };
			std::string s;
			if (want <= have)
				s = "\"" + std::string(want > 200 ? 200 : want, 'p') + "\"" + (want > 200 ? "..." : "");
			else {
				char fault[40];
				snprintf(fault, sizeof(fault), "<bad address 0x%lx>", (unsigned long)at + have);
				s = fault;
			}
			fprintf(stderr, "text s=%s v=%s before=1 behind=2\n", s.c_str(), s.c_str());
			text(*(std::string *)&bad, *(std::string_view *)&swapped, *(std::vector<int> *)&vector, in);
			memset((void *)in, 0, sizeof(in));
			new (&in->s) std::string;
			new (&in->v) std::vector<int>;
		}
	return 0;
}
END
cat >"$dir/things.rs" <<'END'
#![allow(dead_code)]
use std::hint::black_box;
#[derive(Debug)]
pub enum Shape { Dot, Circle(u32), Rect { w: u32, h: i64 }, Named(String) }
#[derive(Debug, Clone, Copy)]
pub enum Hue { Red = 1, Green = 5 }
#[derive(Debug)]
pub struct Row { name: String, n: i32, tags: Vec<u16>, t: (u8, i64), e: Option<u32>, s: &'static str, hue: Hue, yes: bool, real: f64, many: [i16; 3] }
#[no_mangle] #[inline(never)]
pub fn texts(s: &String, v: &&str, n: &usize) -> usize { black_box((s, v, n)); s.len() }
#[no_mangle] #[inline(never)]
pub fn whole(r: &Row, s: &Shape, o: &Option<u32>, v: &Vec<i32>, sl: &&[i64], x: &i32) -> usize { black_box((r, s, o, v, sl, x)); r.name.len() }
#[no_mangle] #[inline(never)]
pub fn niche(a: &Option<Box<u32>>, b: &Option<&i32>, c: &Option<Option<bool>>, d: &Result<u8, String>) -> bool { black_box((a, b, c, d)); a.is_some() }
fn main() {
    for s in ["", "a", "some text", "caf\u{e9}"] {
        eprintln!("texts s={:?} v={:?} n={}", s, s, s.len());
        texts(&s.to_string(), &s, &s.len());
    }
    for i in 0..4 {
        let r = Row { name: format!("row{}", i), n: -3 * i, tags: (0..i as u16).collect(), t: (7, -8), e: if i > 1 { Some(i as u32) } else { None },
            s: "static", hue: if i > 2 { Hue::Red } else { Hue::Green }, yes: i > 0, real: 0.5 + i as f64, many: [1, -2, 3] };
        let s = match i { 0 => Shape::Dot, 1 => Shape::Circle(5), 2 => Shape::Rect { w: 3, h: -4 }, _ => Shape::Named("x".to_string()) };
        let o = if i % 2 == 1 { Some(9) } else { None };
        let v: Vec<i32> = (0..i * 5).collect();
        let sl: &[i64] = &[1, -1][..(i as usize).min(2)];
        eprintln!("whole r={:?} s={:?} o={:?} v={:?} sl={:?} x={} r.name={:?} r.t=(7, -8) r.e={:?}", r, s, o, v, sl, i, r.name, r.e);
        whole(&r, &s, &o, &v, &sl, &i);
    }
    let k = 9;
    for i in 0..3 {
        let a = if i == 1 { Some(Box::new(1)) } else { None };
        let b = if i == 1 { Some(&k) } else { None };
        let c = match i { 0 => None, 1 => Some(None), _ => Some(Some(true)) };
        let d: Result<u8, String> = if i == 1 { Ok(4) } else { Err("wrong".to_string()) };
        eprintln!("niche a={} b={} c={:?} d={:?}", a.as_ref().map_or("None", |_| "Some(P)"), b.map_or("None", |_| "Some(P)"), c, d);
        niche(&a, &b, &c, &d);
    }
}
END

# traced PROGRAM SPEC…: what trace has said, and what the program has, on $dir/got and $dir/wanted
traced() {
	local program=$1
	shift
	timeout 100 "$DPROBES" trace -q -o "$dir/lines" "$@" -- "$dir/$program" 2>"$dir/wanted" >/dev/null
	sed -E "s/^.* $program:(row::|things::)?//" "$dir/lines" >"$dir/got"
}
differs() { diff "$dir/got" "$dir/wanted" | head -n 6; }
strings=('text(s, v, *p, moved)')
library=('many(v, points)' 'point_at(u, *u, u->x, s, s->name, o, n)' 'scalars(i, b, d, h, p, p.y, q, *q, c)' 'row::method(this->number, more, this->name)'
	'whole(r.number, r.name, r.narrow, r.wide, r.colour, r.yes, r.list, r.at, r.at[1].y, r.matrix, r.matrix[1], r.matrix[1][2], r.text, r.maybe, r.names)'
	'others(*o)' 'own(s, v, w, o)' 'diamond(m.in_middle, k)' 'rows(*rows, rows[1], rows[1][2], all, all[1][0], p->rest, p->rest[2], p->more)')

for how in "${CXX:-g++} -O0 -gdwarf-3" "${CXX:-g++} -O1 -gdwarf-4" "${CXX:-g++} -O2" "clang++ -O2 -fstandalone-debug"; do
	# shellcheck disable=SC2086
	if ! $how -g -w -std=c++17 -o "$dir/classes" "$dir/classes.cc" 2>"$dir/err"; then
		skip "$how" "$(head -n 1 "$dir/err")"
		continue
	fi
	traced classes "${strings[@]}" "${library[@]}"
	grep -v '^struct ' "$dir/wanted" >"$dir/all" && mv "$dir/all" "$dir/wanted"
	is "$how: $(grep -o '[^ ]*=' "$dir/wanted" | wc -l) values are those that the program prints" "$(differs)" ""
	# A struct as a whole: of the pointers only what they lead to
	traced classes 'whole(r)'
	like "$how: a whole struct" "$(sed -E 's/_vptr.base=0x[0-9a-f]+( <[^>]*>)?,//; s/call=0x[0-9a-f]+ <(_IO_)?(puts)>/call=\2/; s/whole r=\{/struct /' "$dir/got" |
		diff - <(grep '^struct ' "$dir/wanted"))" '^$'
done
"${CXX:-g++}" -O1 -g -w -std=c++17 -o "$dir/classes" "$dir/classes.cc"
conds=(1:'s == "a"' 0:'s == "b"' 8:'s != "a"' 2:'s == "a" || s == "a\"b\\c\td\n"' 1:'v ~ "zero*"' 3:'s ~ "??????????????*" && s ~ "x*" || s == "fifteen bytes!!"'
	9:'s ~ "*"' 1:'s ~ ""' 1:'s ~ "?"' 0:'s == "zero"' 9:'moved ~ "*" && *p == "other"' 1:'moved == "!"')
all=
for i in "${!conds[@]}"; do
	all+=", c$i=${conds[i]#*:}"
done
timeout 100 "$DPROBES" trace -q -o "$dir/lines" "text(${all#, })" -- "$dir/classes" >/dev/null 2>&1
for i in "${!conds[@]}"; do
	is "a condition on a string: ${conds[i]#*:}" "$(grep -c " c$i=true" "$dir/lines")" "${conds[i]%%:*}"
done
timeout 100 "$DPROBES" stat -q -o "$dir/counts" "text if ${conds[3]#*:}" -- "$dir/classes" >/dev/null 2>&1
is "one that decides" "$(hits "$dir/counts" classes:text)" 2
timeout 100 "$DPROBES" stat -q 'row::method if r.wide < -3' -- "$dir/classes" >/dev/null 2>"$dir/err"
like "a name that is none" "$(<"$dir/err")" 'this function has this, more'
timeout 100 "$DPROBES" trace -q 'diamond(m.in_root)' -- "$dir/classes" >/dev/null 2>"$dir/err"
like "a member of a virtual base" "$(<"$dir/err")" 'the struct has .*in_middle; what is in virtual base classes is not there yet'
timeout 100 "$DPROBES" trace -q -o "$dir/lines" 'diamond(m)' 'rows(call, *p)' -- "$dir/classes" >/dev/null 2>"$dir/err"
like "that there is more is told" "$(cat "$dir/lines")" 'm=\{_vptr\.middle=0x[0-9a-f]+( <[^>]*>)?,in_middle=2,\.\.\.\}'
like "a pointer to a function; of an array without a length nothing" "$(cat "$dir/lines")" 'call=0x[0-9a-f]+ <(_IO_)?puts> \*p=\{n=0,more=\{0,8\}\}'
timeout 100 "$DPROBES" trace -q 'text(s.size)' -- "$dir/classes" >/dev/null 2>"$dir/err"
like "a member that is none" "$(<"$dir/err")" 'the struct has _M_dataplus, _M_string_length'
timeout 100 "$DPROBES" stat -q -o "$dir/counts" 'whole if r.wide == -3 && r.narrow == 5 && r.colour == blue && r.yes && r.owned == 0 && r.name ~ "nnn*"' \
	'point_at if u->x == 5 && s->name == "shared" && s != 0' 'scalars if i == -5 && h == green && p.y == 2 && *q < 0' \
	-- "$dir/classes" >/dev/null 2>"$dir/err"
is "bit fields, pointers and references in conditions" \
	"$(hits "$dir/counts" classes:whole) $(hits "$dir/counts" classes:point_at) $(hits "$dir/counts" classes:scalars)" "1 2 1"
timeout 100 "$DPROBES" trace --json -q -o "$dir/lines" "${strings[@]}" "${library[@]}" 'whole(r)' -- "$dir/classes" >/dev/null 2>&1
/usr/bin/python3 - "$dir/lines" >"$dir/said" 2>&1 <<'END'
import json, sys
args = [json.loads(line)["args"] for line in open(sys.argv[1])]
print([a["s"] for a in args if "moved" in a][5], [len(a["v"]["first"]) for a in args if type(a.get("v")) is dict and "first" in a["v"]],
      [a["r"]["list"] for a in args if "r" in a], [a["o"] for a in args if "u->x" in a], [a["r.matrix"] for a in args if "r.matrix" in a])
END
is "JSON: a text with a zero byte, the beginning of a vector, lists, none" "$(tr '\0' @ <"$dir/said")" \
	"zero@byte [16, 16] [[7, -8]] [None, 'there'] [[[0, 1, 4], [9, 16, 25]]]"
# Another oracle, which has printers of its own
if [ -e /usr/share/gdb/auto-load/usr/lib/x86_64-linux-gnu ] && gdb --version >/dev/null 2>&1; then
	timeout 100 "$DPROBES" trace -q -o "$dir/lines" 'text(s, v)' 'many(v, points)' -- "$dir/classes" >/dev/null 2>&1
	sed 's/^.* classes://' "$dir/lines" | grep -v '[xy]\{200\}\|,\.\.\. ' >"$dir/got"
	cat >"$dir/script" <<'END'
set print elements 200
set print repeats unlimited
break text
commands
silent
printf "text s="
output s
printf " v="
output v
printf "\n"
continue
end
break many
commands
silent
printf "many v="
output v
printf " points="
output points
printf "\n"
continue
end
run >/dev/null 2>&1
END
	timeout 100 gdb -nx -batch -iex 'set auto-load safe-path /' -x "$dir/script" "$dir/classes" 2>/dev/null | grep '^text s=\|^many v=' |
		sed -E 's/std::vector of length [0-9]+, capacity [0-9]+( = )?//g; s/, /,/g; s/ = /=/g; s/=( |$)/={}\1/g; s/\\000/\\x00/g' |
		grep -v '[xy]\{200\}\|,1595\|\.\.\.' >"$dir/theirs"
	is "gdb: strings and vectors" "$(diff "$dir/got" "$dir/theirs" | head -n 6)$(wc -l <"$dir/got")" 10
else
	skip "gdb: strings and vectors" "it is not there, or has no printers"
fi
"${CXX:-g++}" -O1 -g -w -std=c++17 -o "$dir/hostile" "$dir/hostile.cc"
traced hostile 'text(s, v, before=in->before, behind=in->behind)'
is "strings whose address or length is wrong: $(wc -l <"$dir/wanted")" "$(differs)" ""
traced hostile 'text(w, *in)'
is "vectors of these: each of what is in a struct for itself" "$(grep -cE '^text w=.* \*in=\{before=1,s=(<bad address 0x[0-9a-f]+>|"p+"(\.\.\.)?),v=.*,behind=2\}$' "$dir/got")" \
	"$(wc -l <"$dir/wanted")"
is "that end before they begin" "$(grep -cE '^text w=<from 0x[0-9a-f]+ to 0x[0-9a-f]+> ' "$dir/got")" 8
# Its strings are not known
if clang++ -stdlib=libc++ -O1 -g -w -std=c++17 -fstandalone-debug -o "$dir/classes" "$dir/classes.cc" 2>"$dir/err"; then
	traced classes 'many(v, points)' 'point_at(u, *u, u->x, s, n)' 'own(s, v, w, o)'
	grep '^many\|^point_at\|^own' "$dir/wanted" | sed 's/ s->name.* n=/ n=/' >"$dir/all" && mv "$dir/all" "$dir/wanted"
	is "libc++" "$(differs)" ""
else
	skip "libc++" "$(head -n 1 "$dir/err")"
fi
for level in 0 2; do
	if ! rustc -g -C opt-level=$level -o "$dir/things" "$dir/things.rs" 2>"$dir/err"; then
		skip "Rust, -O$level" "$(head -n 1 "$dir/err")"
		continue
	fi
	traced things 'texts(s, v, n)' 'whole(r, s, o, v, sl, x, r.name, r.t, r.e)' 'niche(a, b, c, d)'
	sed -i 's/0x[0-9a-f]*/P/g' "$dir/got"
	# As Rust's {:?} has it, but for its spaces, the names of structs, and its brackets
	perl -i -pe 's/(?<=\w): /=/g; s/, /,/g; s/ \{ /{/g; s/ \}/}/g; tr/[]/{}/; s/\bRow\{/{/g' "$dir/wanted"
	is "Rust, -O$level: $(grep -o '[a-z]=' "$dir/wanted" | wc -l) values are those that the program prints" "$(differs)" ""
	timeout 100 "$DPROBES" stat -q -o "$dir/counts" 'texts if s ~ "some*" && v == "some text" && n > 8' 'whole if r.name == "row2" && r.yes && x == 2' \
		-- "$dir/things" >/dev/null 2>&1
	is "Rust, -O$level: conditions" "$(hits "$dir/counts" things:texts) $(hits "$dir/counts" things:whole)" "1 1"
	timeout 100 "$DPROBES" trace -q 'whole(o.Some)' -- "$dir/things" >/dev/null 2>"$dir/err"
	like "Rust, -O$level: a member of a variant" "$(<"$dir/err")" 'this is one of several variants'
done
# Go, by the locations that its compiler tells
if command -v go >/dev/null; then
	mkdir -p "$dir/gone"
	cat >"$dir/gone/main.go" <<'END'
package main

import "os"

type item struct {
	name string
	list []int
	n    int
}

//go:noinline
func show(s string, it *item, v []int, n int) int { return len(s) + it.n + len(v) + n }

func main() {
	it := &item{"thing", []int{1, 2, 3}, 7}
	if show("hello", it, []int{4, 5}, 9)+show("", it, nil, -1) == 0 {
		os.Exit(1)
	}
}
END
	printf 'module gone\ngo 1.19\n' >"$dir/gone/go.mod"
	(cd "$dir/gone" && GOCACHE="$dir/gocache" go build -o ../gopher .) >"$dir/err" 2>&1
	timeout 100 "$DPROBES" trace -q -o "$dir/lines" 'main.show(s, it->name, it->list, v, n, *it)' -- "$dir/gopher" 2>>"$dir/err"
	is "Go: strings and slices" "$(sed 's/.* gopher:main.show //' "$dir/lines")" \
		's="hello" it->name="thing" it->list={1,2,3} v={4,5} n=9 *it={name="thing",list={1,2,3},n=7}
s="" it->name="thing" it->list={1,2,3} v={} n=-1 *it={name="thing",list={1,2,3},n=7}'
	timeout 100 "$DPROBES" stat -q -o "$dir/counts" 'main.show if s == "hello" && s ~ "h*l*o" && it->name ~ "*hin*"' -- "$dir/gopher" >/dev/null 2>&1
	is "Go: conditions" "$(hits "$dir/counts" gopher:main.show)" 1
else
	skip "Go: strings and slices" "there is no go to build them"
fi
plan
