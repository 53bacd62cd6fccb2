"use client";
// A form action: submits that overlap are calls of one intent, and share one request.
import { send } from "oncekey";
import { useState } from "react";

export function OrderForm() {
  const [answer, setAnswer] = useState("");
  const order = async (data: FormData) => {
    const sent = await send("/orders", { method: "POST", body: data }, { intent: "order" });
    setAnswer(await sent.text());
  };
  return (
    <form action={order}>
      <input name="item" defaultValue="Notebook" />
      <button id="submit">Order</button>
      <output id="submitted">{answer}</output>
    </form>
  );
}
