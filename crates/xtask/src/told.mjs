// @ts-check
// Plays the queue of `on_unknown` in local runs: each message becomes a line of the output.

export default {
  /** @param {Request} request */
  async fetch(request) {
    console.log(JSON.stringify({ told: await request.json() }));
    return Response.json({});
  },
};
