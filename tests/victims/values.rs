// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// values: functions whose parameters and locals are of many kinds, and inlined in one another.
use std::collections::BTreeMap;

#[derive(Clone, Copy)]
struct Point { x: i32, y: i32 }

struct Node { value: u64, next: Option<Box<Node>> }

trait Shape { fn area(&self, scale: u32) -> u64; }
struct Square { side: u16 }
struct Oblong { wide: u8, high: i64 }
impl Shape for Square {
    #[inline(never)]
    fn area(&self, scale: u32) -> u64 { let s = self.side as u64 * scale as u64; s * s }
}
impl Shape for Oblong {
    #[inline(never)]
    fn area(&self, scale: u32) -> u64 { let w = self.wide as i64 * scale as i64; (w * self.high) as u64 }
}

#[inline(never)]
fn walk(node: &Node, depth: usize) -> u64 {
    let mut total = node.value + depth as u64;
    if let Some(next) = &node.next { total += walk(next, depth + 1); }
    total
}

fn mix(seed: u32, byte: u8) -> u32 { let turned = seed.rotate_left(5); (turned ^ byte as u32).wrapping_mul(0x9e3779b9) }

#[inline(never)]
fn hash(text: &[u8], seed: u32, reverse: bool) -> u32 {
    let mut h = seed;
    for &b in text { h = if reverse { mix(h, !b) } else { mix(h, b) }; }
    h
}

#[inline(never)]
fn middle(a: Point, b: Point, weight: i8) -> Point {
    let w = weight as i32;
    Point { x: (a.x * w + b.x) / (w + 1), y: (a.y * w + b.y) / (w + 1) }
}

#[inline(never)]
fn count(words: &[&str]) -> BTreeMap<char, usize> {
    let mut counts = BTreeMap::new();
    for w in words { for c in w.chars() { *counts.entry(c).or_insert(0) += 1; } }
    counts
}

fn main() {
    let mut node = Node { value: 3, next: None };
    for i in 0..9 { node = Node { value: i * 7, next: Some(Box::new(node)) }; }
    let shapes: Vec<Box<dyn Shape>> = vec![Box::new(Square { side: 7 }), Box::new(Oblong { wide: 3, high: -2 })];
    let mut total = walk(&node, 1);
    for s in shapes.iter() { total = total.wrapping_add(s.area(3)); }
    let p = middle(Point { x: 1, y: 2 }, Point { x: 30, y: -40 }, 2);
    let counts = count(&["some", "words", "here"]);
    println!("{} {} {} {} {:?}", total, hash(b"hello world", 77, false), hash(b"x", 1, true), p.x + p.y, counts);
}
