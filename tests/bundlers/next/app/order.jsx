"use client";
// A form action of React's: submits that overlap are calls of one intent, and share one request.
import { send } from "oncekey";
import { useState } from "react";

export function Order() {
  const [answer, setAnswer] = useState("");
  const order = async (data) => {
    const sent = await send("/orders", { method: "POST", body: data }, { intent: "order" });
    setAnswer(await sent.text());
  };
  return (
    <form action={order}>
      <input name="item" defaultValue="tea" />
      <button id="buy">Buy</button>
      <output id="answer">{answer}</output>
    </form>
  );
}
