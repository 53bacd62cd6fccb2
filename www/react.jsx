// @ts-check
// The demo's button in React, written as one would there: a mutation, and a button that stays clickable.
import { QueryClient, QueryClientProvider, useMutation } from "@tanstack/react-query";
import { onceOptions } from "oncekey/react";
import { createRoot } from "react-dom/client";

const headers = { "Content-Type": "application/json", Accept: "application/json" };

function Order() {
  const order = useMutation({
    ...onceOptions("react-order", (/** @type {string} */ item) => [
      "/orders",
      { method: "POST", headers, body: JSON.stringify({ item, quantity: 1 }) },
    ]),
  });
  return (
    <section className="card">
      <button type="button" aria-disabled={order.isPending} onClick={() => order.mutate("Mug")}>
        Order
      </button>
      <div className="answer" role="status">
        {order.isPending && <p>Sending…</p>}
        {order.isSuccess && <p><strong>Ordered.</strong></p>}
        {order.isError && <p><strong>Not ordered yet.</strong> Order again: the key is kept.</p>}
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
