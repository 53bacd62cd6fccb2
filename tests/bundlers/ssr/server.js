// What a server renders: it imports what it never starts.
import { send, start } from "oncekey";
import { onceOptions } from "oncekey/react";

export async function render() {
  await start();
  return `<main data-server="${typeof send} ${onceOptions("order", () => ["/orders"]).retry}"><form id=order method=post action=/orders><input name=item value=tea><button id=buy>Buy</button></form></main>`;
}
