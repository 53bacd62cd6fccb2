// @ts-check
// A submit that is held, and sent later as it was: the fields of then, the submitter, where it goes.

import { attribute, callMethod, note } from "./values.mjs";

const PLACES = ["action", "method", "target", "enctype"];
/** A form's fields. @typedef {[string, any][]} Fields */
/** The form that is being submitted once more, its fields without the submitter's and with them, and how many it has now without.
 *  @type {[form: any, own: Fields, all: Fields, count: number] | undefined} */
let again;
globalThis.addEventListener?.(
  "formdata",
  ({ target, formData }) => {
    if (again?.[0] != target || !again) return;
    const [, own, all, count] = again;
    const names = [...formData.keys()];
    for (const name of names) formData.delete(name);
    // A library that gathers them itself adds the submitter later.
    for (const [name, value] of names.length > count ? all : own) formData.append(name, value);
  },
  true,
);

/** Stops a submit where it is, and returns what submits it once more. @param {any} event @returns {any} */
export const holdSubmit = (event) => {
  const { target: form, submitter } = event;
  event.preventDefault();
  event.stopImmediatePropagation();
  note("held", form);
  /** @returns {Fields} */
  const fieldsWith = (/** @type {any} */ by) => [...new FormData(form, by)];
  const [own, all] = [fieldsWith(null), fieldsWith(submitter)];
  const places = PLACES.map((name) => attribute(form, name));
  /** @param {any[]} values */
  const place = (values) =>
    PLACES.map((name, at) => {
      const before = attribute(form, name);
      if (before != values[at]) callMethod(form, values[at] == null ? "removeAttribute" : "setAttribute", name, values[at]);
      return before;
    });
  return () => {
    // Who has left comes back for as long as it takes.
    /** @type {any[]} */
    const back = [];
    for (const [node, parent] of [[form, document.body], [submitter, form]])
      if (node && !node.isConnected) {
        node.hidden = true;
        parent.append(node);
        back.push(node);
      }
    const before = place(places);
    again = [form, own, all, fieldsWith(null).length];
    // htmx 1.9 and 2 know a submitter by its focus.
    submitter?.dispatchEvent(new Event("focusin", { bubbles: true }));
    callMethod(form, "requestSubmit", submitter);
    again = undefined;
    place(before);
    for (const node of back) node.remove();
  };
};
