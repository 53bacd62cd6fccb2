// Where the packages lie above this folder, as in a monorepo, that one is the root.
export default process.env.NEXT_ROOT ? { turbopack: { root: process.env.NEXT_ROOT } } : {};
