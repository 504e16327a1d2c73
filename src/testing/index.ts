export { census } from './census.ts'
export type { Census, Fleet, FleetHost } from './contract.ts'
export { startFleet } from './fleet.ts'
export { assertNoLeaks } from './leaks.ts'
