// @ts-check
// The demo's button in React, written as one would there: a mutation, and a button that stays clickable.
import { QueryClient, QueryClientProvider, useMutation } from "@tanstack/react-query";
import { onceOptions } from "oncekey/react";
import { createRoot } from "react-dom/client";

const headers = { "Content-Type": "application/json", Accept: "application/json" };

/** @param {string} item @returns {[string, RequestInit]} */
const request = (item) => ["/orders", { method: "POST", headers, body: JSON.stringify({ item, quantity: 1 }) }];
const once = onceOptions("react-order", request);
/** What the page's switch says. */
const isOff = () => document.documentElement.dataset.once === "off";

function Order() {
  const order = useMutation({
    ...once,
    mutationFn: (/** @type {string} */ item) => (isOff() ? fetch(...request(item)) : once.mutationFn(item)),
  });
  return (
    <section className="card" aria-labelledby="react-title">
      <h2 id="react-title">Mug</h2>
      <code>useMutation(onceOptions("react-order", …))</code>
      <button type="button" aria-disabled={order.isPending} onClick={() => order.mutate("Mug")}>
        Order
      </button>
      <div className="answer" role="status">
        {order.isPending && <p>Sending…</p>}
        {order.isSuccess && <p><strong>Ordered.</strong></p>}
        {order.isError && <p><strong>Did it go through?</strong> Order again: it is not made twice.</p>}
      </div>
    </section>
  );
}

const root = document.getElementById("root");
if (root)
  createRoot(root).render(
    <QueryClientProvider client={new QueryClient()}>
      <Order />
    </QueryClientProvider>,
  );
