// @ts-check
// Chance that can be had again: the same seed draws the same (mulberry32).

export class Chance {
  /** @param {number} seed */
  constructor(seed) {
    this.state = seed;
  }

  /** A whole number below `end`. @param {number} end */
  below(end) {
    let bits = (this.state = (this.state + 0x6d2b79f5) | 0);
    bits = Math.imul(bits ^ (bits >>> 15), bits | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return ((bits ^ (bits >>> 14)) >>> 0) % end;
  }

  /** @param {number} one in so many */
  once(one) {
    return this.below(one) === 0;
  }

  /** @template T @param {readonly T[]} list @returns {T} */
  pick(list) {
    return list[this.below(list.length)];
  }

  /** @template T @param {number} most @param {() => T} make @returns {T[]} */
  many(most, make) {
    return Array.from({ length: this.below(most + 1) }, make);
  }

  /** @template T @param {T[]} list */
  shuffle(list) {
    for (let at = list.length - 1; at > 0; at--) {
      const other = this.below(at + 1);
      [list[at], list[other]] = [list[other], list[at]];
    }
  }
}
