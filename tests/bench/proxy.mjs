// @ts-check
// The floor: a bare reverse proxy.
export default {
  /**
   * @param {Request} request
   * @param {{ ORIGIN: { fetch: typeof fetch } }} env
   */
  fetch(request, env) {
    return env.ORIGIN.fetch(request, { redirect: "manual" });
  },
};
