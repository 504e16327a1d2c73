/** The three statecharts, pure, as they run: load them in Stately's editor, or walk them with `xstate/graph`. */

export { destinationMachine } from './destination.ts'
export type * from './events.ts'
export { poolMachine } from './pool.ts'
export { tunnelMachine } from './tunnel.ts'
