import { existsSync } from 'node:fs'
import { until } from '../until.ts'

// Has tests for as long as a worker beside it takes to come to grief.
describe('busy', () => {
  it('until the other has crashed', () => until(() => existsSync(process.env.CRASHED ?? ''), { within: 20_000 }))
  it('and then', () => {})
})
