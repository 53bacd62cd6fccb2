// @ts-check
// A TCP proxy that does what servers and networks do to warm connections: it hands an order on and then drops the connection
// without the answer, once an order. Chromium sends such a POST again by itself, and no page learns of it.
//
//     cargo xtask serve &
//     node tests/browser/drop.mjs 8788 http://127.0.0.1:8787
//
// Then open http://127.0.0.1:8788 and order once: the demo counts two requests and one order.

import { connect, createServer } from "node:net";
import { pathToFileURL } from "node:url";

/**
 * Starts it on a port (0 is any); `seen` are the heads of the orders that arrived, as bytes on the wire.
 * @param {string} upstream
 * @param {number} [port]
 */
export async function drop(upstream, port = 0) {
  const to = new URL(upstream);
  /** @type {string[]} */
  const seen = [];
  const dropped = new Set();
  const server = createServer((client) => {
    const gate = connect(Number(to.port), to.hostname);
    let requests = 0;
    let text = "";
    client.on("data", (bytes) => {
      gate.write(bytes);
      text += bytes.toString("latin1");
      for (let end = endOf(text); end; end = endOf(text)) {
        const head = text.slice(0, text.indexOf("\r\n\r\n"));
        text = text.slice(end);
        requests += 1;
        if (!head.startsWith("POST /orders ")) continue;
        seen.push(head);
        const key = /^idempotency-key: (.*)$/im.exec(head)?.[1];
        if (requests === 1 || dropped.has(key)) continue;
        dropped.add(key);
        // The gate has the whole request; only the browser's side goes.
        client.destroy();
      }
    });
    gate.on("data", (bytes) => void (client.destroyed || client.write(bytes)));
    gate.on("close", () => client.destroy());
    client.on("close", () => setTimeout(() => gate.destroy(), 5000).unref());
    for (const socket of [client, gate]) socket.on("error", () => {});
  });
  await new Promise((resolve) => server.listen(port, "127.0.0.1", () => resolve(undefined)));
  const address = /** @type {import("node:net").AddressInfo} */ (server.address());
  return { url: `http://127.0.0.1:${address.port}`, seen, close: () => server.close() };
}

/** Where the first whole request in a text ends; 0 is not yet. Requests of a browser's forms have a length. @param {string} text */
function endOf(text) {
  const head = text.indexOf("\r\n\r\n") + 4;
  if (head < 4) return 0;
  const length = Number(/^content-length: (\d+)$/im.exec(text.slice(0, head))?.[1] ?? 0);
  return text.length >= head + length ? head + length : 0;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const [, , port = "8788", upstream = "http://127.0.0.1:8787"] = process.argv;
  console.log(`ready ${(await drop(upstream, Number(port))).url}`);
}
