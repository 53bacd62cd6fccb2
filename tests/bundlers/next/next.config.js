// The packages lie above the app.
export default { turbopack: { root: process.env.ONCEKEY_ROOT } };
