// @ts-check
// The platform's rate limit for a local workerd, which has none: so many calls for each key in a period.

/** @param {{ most: number, period: number }} env */
export default function ({ most, period }) {
  /** When the calls of a key came. @type {Map<string, number[]>} */
  const calls = new Map();
  return {
    /** @param {{ key: string }} of */
    async limit({ key }) {
      const now = Date.now();
      const recent = (calls.get(key) ?? []).filter((at) => at > now - period * 1000);
      const success = recent.length < most;
      if (success) recent.push(now);
      calls.set(key, recent);
      return { success };
    },
  };
}
