// The Worker as it runs: each test sends requests and counts what took effect.
import { afterAll, beforeAll, expect, test } from "vitest";
import { unstable_startWorker } from "wrangler";

for (const config of ["wrangler.jsonc", "wrangler.exports.jsonc"]) {
  let worker: Awaited<ReturnType<typeof unstable_startWorker>>;
  beforeAll(async () => {
    worker = await unstable_startWorker({ config, dev: { persist: false, server: { port: 0 }, inspector: false } });
    await worker.ready;
  }, 60_000);
  afterAll(() => worker?.dispose());

  const order = (key: string | undefined, item = "Mug") =>
    worker.fetch("http://shop.test/orders", {
      method: "POST",
      headers: { "Content-Type": "application/json", ...(key && { "Idempotency-Key": key }) },
      body: JSON.stringify({ item }),
    });
  const orders = async () => {
    const answer = await worker.fetch("http://shop.test/orders");
    return (await answer.json()) as unknown[];
  };

  test(`${config}: a repeat gets the first answer`, async () => {
    const key = crypto.randomUUID();
    const before = (await orders()).length;
    const [first, second] = [await order(key), await order(key)];
    expect([first.headers.get("idempotency-status"), second.headers.get("idempotency-status")]).toEqual(["executed", "replayed"]);
    expect(await second.json()).toEqual(await first.json());
    expect((await orders()).length).toBe(before + 1);
  });

  test(`${config}: two at once are one effect`, async () => {
    const key = crypto.randomUUID();
    const before = (await orders()).length;
    const answers = await Promise.all([order(key), order(key), order(key)]);
    expect(answers.filter((answer) => answer.headers.get("idempotency-status") === "executed")).toHaveLength(1);
    expect((await orders()).length).toBe(before + 1);
  });

  test(`${config}: another order under the key is refused, and so is one without a key`, async () => {
    const key = crypto.randomUUID();
    await order(key);
    const before = (await orders()).length;
    expect((await order(key, "Cup")).status).toBe(422);
    expect((await order(undefined)).status).toBe(400);
    expect((await orders()).length).toBe(before);
  });
}
