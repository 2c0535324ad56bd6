//! Who makes trouble: crashes nodes and starts them again, drains them for a while or for good, freezes them past their term, cuts their
//! lines, steps their clocks, and makes the store slow. One thing at a time for each node, several at once in the world. Heals nothing that
//! it did not break.

use std::sync::Arc;
use std::time::Duration;

use crate::world::{Chance, NodeSlot, World, sleep};

/// The longest that a clock is off without being refused for it, in milliseconds.
const SMALL_SKEW_MS: u64 = 250;

/// So many nodes are never taken out for good.
const NODES_LEFT_MIN: usize = 3;

#[derive(Debug)]
pub struct Nemesis {
    world: Arc<World>,
    chance: Chance,
}

#[derive(Clone, Copy, Debug)]
enum Trouble {
    Crash,
    Stop,
    Retire,
    Freeze,
    Cut,
    Skew,
    Slow,
}

impl Nemesis {
    pub fn new(world: Arc<World>, chance: Chance) -> Nemesis {
        Nemesis { world, chance }
    }

    /// Makes trouble for so long.
    pub async fn rage(&self, how_long: Duration) {
        let until = self.world.now().after(how_long);
        let pause_max = *self.chance.pick(&[1_500, 4_000, 9_000]);
        while self.world.now() < until {
            sleep(self.chance.ms(100, pause_max)).await;
            let node = self.chance.pick(&self.world.nodes).clone();
            let trouble = self.draw();
            tokio::spawn(make(self.world.clone(), node, trouble, self.chance.fork()));
        }
    }

    fn draw(&self) -> Trouble {
        let with_clocks = self.world.plan.clocks_are_off;
        match self.chance.below(if with_clocks { 15 } else { 12 }) {
            0..3 => Trouble::Crash,
            3 => Trouble::Stop,
            4 => Trouble::Retire,
            5..8 => Trouble::Freeze,
            8..11 => Trouble::Cut,
            11 => Trouble::Slow,
            _ => Trouble::Skew,
        }
    }
}

async fn make(world: Arc<World>, node: Arc<NodeSlot>, trouble: Trouble, chance: Chance) {
    // Short, about a term, or well past it.
    let how_long = *chance.pick(&[chance.ms(100, 2_000), chance.ms(3_000, 8_000), chance.ms(8_000, 20_000)]);
    if world.weather.is_clear() {
        return;
    }
    let Some(_alone) = node.trouble() else { return };
    world.say(|| format!("{trouble:?} of node {} for {how_long:?}", node.index));
    match trouble {
        Trouble::Crash => {
            node.crash();
            sleep(how_long).await;
            node.start(&world);
        }
        Trouble::Stop => {
            node.stop().await;
            sleep(how_long).await;
            node.start(&world);
        }
        Trouble::Retire => {
            if world.nodes_expected() > NODES_LEFT_MIN {
                node.retire();
                node.stop().await;
            }
        }
        Trouble::Freeze => {
            node.freeze();
            sleep(how_long).await;
            node.thaw();
        }
        Trouble::Cut => {
            node.set_cut(true);
            sleep(how_long).await;
            node.set_cut(false);
        }
        Trouble::Skew => {
            let far = *chance.pick(&[SMALL_SKEW_MS, SMALL_SKEW_MS, 2_000, 40_000]);
            let off = chance.between(0, far) as i64;
            node.set_off(if chance.percent(50) { off } else { -off });
            sleep(how_long).await;
            node.set_off(0);
        }
        Trouble::Slow => {
            world.weather.set_slow(chance.ms(20, 1_500));
            sleep(how_long).await;
            world.weather.set_slow(Duration::from_millis(2));
        }
    }
}
