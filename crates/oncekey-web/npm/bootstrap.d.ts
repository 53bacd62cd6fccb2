/** Holds submits until the module takes them over. A classic script: it exports nothing. */
export {};
