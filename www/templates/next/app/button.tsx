"use client";
// A button. `onceOptions` are those of TanStack Query's `useMutation`; here its function is called as it is.
import { onceOptions } from "oncekey/react";
import { useState } from "react";

const { mutationFn } = onceOptions(
  (item: string) => `order-${item}`,
  (item) => ["/orders", { method: "POST", body: new URLSearchParams({ item }) }],
);

export function OrderButton({ item }: { item: string }) {
  const [answer, setAnswer] = useState("");
  const order = async () => setAnswer(await mutationFn(item).then((sent) => sent.clone().text(), String));
  return (
    <p>
      <button id="press" type="button" onClick={order}>
        Order a {item}
      </button>
      <output id="pressed">{answer}</output>
    </p>
  );
}
