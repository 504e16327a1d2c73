/** Processes of fixtures that may outlive a test, whenever they were started: the hooks do not take them for leaks. */
export const fixturePids = new Set<number>()
