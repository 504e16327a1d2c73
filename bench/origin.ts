import { startOrigin } from '../test/support/origin.ts'

/** The HTTP target in a process of its own: prints its port, ends with its standard input. */
const origin = await startOrigin()
process.stdout.write(`${origin.port}\n`)
process.stdin.resume().on('end', () => process.exit(0))
