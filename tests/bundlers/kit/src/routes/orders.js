/** @type {{ key: string | null, item: unknown }[]} */
export const orders = [];
