const { inspect } = require('node:util')
const { constants } = require('mocha').Runner
const ParallelBuffered = require('mocha/lib/nodejs/reporters/parallel-buffered.cjs')

const LONGEST = 20_000
const CAUSES = 5

/**
 * Puts texts for the objects that an error has. Mocha walks through them all and takes apart what it sends, and an assertion about a socket or a pool has
 * that very socket or pool.
 */
function flatten(error, causes = CAUSES) {
  for (const [key, value] of Object.entries(error)) if (isNoText(value)) error[key] = shown(value)
  if (error.cause instanceof Error && causes > 0) flatten(error.cause, causes - 1)
}

function isNoText(value) {
  return (
    typeof value === 'bigint' ||
    typeof value === 'function' ||
    (typeof value === 'object' && value !== null && !(value instanceof Error))
  )
}

function shown(value) {
  return inspect(value, { depth: 6, maxStringLength: LONGEST, sorted: true }).slice(0, LONGEST)
}

module.exports = class extends ParallelBuffered {
  constructor(runner, options) {
    // Before mocha's own listeners.
    for (const event of [constants.EVENT_TEST_FAIL, constants.EVENT_TEST_RETRY])
      runner.on(event, (_test, error) => flatten(error))
    super(runner, options)
  }
}
