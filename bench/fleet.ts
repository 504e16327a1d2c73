import { startFleet } from '../src/testing/index.ts'

/** A fleet in a process of its own, so that the pool's figures are the pool's: prints its targets as JSON, ends with its standard input. */
const fleet = await startFleet({ hosts: Number(process.argv[2] ?? 1) })
const targets = fleet.targets.map(({ host, port, user, identity, hostKey }) => ({ host, port, user, identity, hostKey }))
process.stdout.write(`${JSON.stringify(targets)}\n`)
process.stdin.resume().on('end', () => process.exit(0))
