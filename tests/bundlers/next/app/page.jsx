import { send } from "oncekey";
import { onceOptions } from "oncekey/react";
import { Order } from "./order.jsx";

export default function Page() {
  return (
    <main data-server={`${typeof send} ${onceOptions("order", () => ["/orders"]).retry}`}>
      <Order />
    </main>
  );
}
