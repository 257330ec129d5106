// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// names: functions of Rust, each called three times; tests/scenario/names.sh compiles it.
use std::hint::black_box;
use zoo::Walk;

mod zoo {
    use std::hint::black_box;
    use std::ops::Add;

    pub struct Cat {
        pub legs: u32,
    }

    pub trait Walk {
        fn walk(&self, n: u32) -> u32;
    }

    impl Walk for Cat {
        #[inline(never)]
        fn walk(&self, n: u32) -> u32 {
            self.legs + black_box(n)
        }
    }

    #[inline(never)]
    pub fn feed(n: u32) -> u32 {
        black_box(n) + 1
    }

    #[inline(never)]
    pub fn twice<T: Add<Output = T> + Copy>(v: T) -> T {
        black_box(v) + v
    }
}

#[inline(never)]
fn call<F: Fn(u32) -> u32>(f: F) -> u32 {
    f(3)
}

fn main() {
    let cat = zoo::Cat { legs: 4 };
    let mut sum = 0u64;

    for i in 0..3 {
        let more = call(#[inline(never)] |n| black_box(n) * i);
        sum += (zoo::feed(i) + cat.walk(i) + zoo::twice(i) + more) as u64 + zoo::twice(7u64);
    }
    println!("{}", sum);
}
