/** The options of every machine: an `always` that went round and round would hang the process; so it throws, and is contained. */
export const bounded = { maxIterations: 10_000 } as const
