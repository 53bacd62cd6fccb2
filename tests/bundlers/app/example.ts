// What a page in TypeScript writes; only its types are tried.
import "oncekey/bootstrap";
import { type EventDetail, type Options, type SendOptions, renew, send, start } from "oncekey";
import { send as sendExternal } from "oncekey/external";

const options: Options = {
  header: "Idempotency-Key",
  field: "idempotency_key",
  origins: ["https://api.example.com"],
  retry: "3s,3",
  disable: false,
};
const ready: Promise<void> = start(options);
await ready;

const form = document.querySelector("form");
if (form) {
  form.addEventListener("oncekey:retry", (event) => {
    const { key, attempt, reason, delay }: EventDetail = event.detail;
    console.log(`${key}: attempt ${attempt + 1} in ${delay ?? 0} ms, ${reason.toUpperCase()}`);
  });
  await renew(form);
}
document.addEventListener("oncekey:unknown", ({ detail }) => console.log(detail.key));

const named: SendOptions = { intent: "order-7-shipped", retry: "2" };
const answer: Response = await send(new URL("/orders", location.href), { method: "POST", body: new FormData() }, named);
const same: Promise<Response> = sendExternal("/orders", { method: "POST" }, { key: "order-7" });
console.log(answer.status, (await same).ok);

// @ts-expect-error a retry is text, as in the attribute
void send("/orders", { method: "POST" }, { retry: 3 });
// @ts-expect-error there is no such option
void start({ heder: "X" });
