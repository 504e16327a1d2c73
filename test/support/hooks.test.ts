import assert from 'node:assert/strict'
import { mocha } from './mocha.ts'

interface Outcome {
  readonly title: string
  readonly err: { readonly message: string }
}

describe('the hooks', () => {
  let outcomes: { passes: Outcome[]; failures: Outcome[] }

  before(async () => {
    outcomes = await run()
  })

  const said = (title: string): string[] => outcomes.failures.filter((one) => one.title === title).map((one) => one.err.message)

  for (const [title, expected] of [
    ['child', /^left behind:\nkernel: child \d+ sleep(\n|$)/],
    ['grandchild', /kernel: child \d+ sh\nkernel: child \d+ sleep/],
    ['listener', /^left behind:\nkernel: listener tcp 127\.0\.0\.1:\d+(\n|$)/],
    ['socket', /kernel: socket tcp 127\.0\.0\.1:\d+ -> 127\.0\.0\.1:\d+/],
    ['file', /^left behind:\nkernel: open \/etc\/hostname(\n|$)/],
    ['ledger', /^left behind:\nledger: directory \/run\/x of root@h:22#1(\n|$)/],
    ['many listeners', /warning: MaxListenersExceededWarning/],
  ] as const) {
    it(`fail a test, and no other, for what it leaves: ${title}`, () => {
      assert.equal(said(title).length, 1)
      assert.match(said(title)[0] ?? '', expected)
    })
  }

  it('wait for what is about to go, and go on after a failure', () => {
    assert.deepEqual(said('nothing'), [])
    assert.deepEqual(said('nothing, after all that'), [])
    assert.ok(outcomes.passes.some(({ title }) => title === 'nothing, after all that'))
  })

  it('leave a test that fails by itself its own reason', () => {
    assert.deepEqual(said('fails by itself'), ['for a reason of its own'])
  })

  it('find at the end of a file what was left in the course of it', () => {
    const [message] = said('"after all" hook: afterAll in "{root}"')
    assert.match(message ?? '', /^left behind:\nkernel: open \/etc\/hostname(\n|$)/)
  })
})

async function run(): Promise<{ passes: Outcome[]; failures: Outcome[] }> {
  const { stdout, stderr } = await mocha(['leaky/leaky.ts'], ['--reporter', 'json'])
  try {
    return JSON.parse(stdout.slice(stdout.indexOf('{\n')))
  } catch (cause) {
    throw new Error(`no report: ${stdout}${stderr}`, { cause })
  }
}
