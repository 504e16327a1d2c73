import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { census } from '../../../src/testing/index.ts'
import { type Origin, startOrigin } from '../../support/origin.ts'
import { startPool } from '../../support/pool.ts'
import { type Sshd, startSshd } from '../../support/sshd.ts'
import { until } from '../../support/until.ts'

const isLong = process.env.WARREN_LONG === '1'
const REFUSALS = isLong ? 20_000 : 4_500
const AT_ONCE = 25

/** Resident memory of the ssh child, KiB. */
async function residentOfChild(): Promise<number> {
  const { children } = await census()
  const [pid] = children.find((line) => / ssh$/.test(line))?.split(' ') ?? []
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0)
}

describe('openssh: channels that are refused, without end', function () {
  this.timeout(isLong ? 240_000 : 60_000)
  let sshd: Sshd
  let origin: Origin

  before(async () => {
    ;[sshd, origin] = await Promise.all([startSshd(), startOrigin()])
  })
  after(() => Promise.all([sshd.close(), origin.close()]))

  it('wear a tunnel out: it is succeeded in time, no request is lost, and memory stays flat', async () => {
    const pool = startPool({ transport: 'openssh' })
    const facts: string[] = []
    pool.on('tunnel.opened', ({ generation }) => facts.push(`opened ${generation}`))
    pool.on('tunnel.lost', ({ error }) => facts.push(`lost: ${error.message}`))
    // One who stays holds the tunnel in use, so that it is succeeded, and not just closed.
    const stays = await pool.acquire(sshd.target)
    const answers = new Map<string, number>()
    const memory: number[] = []
    const tell = (answer: string) => answers.set(answer, (answers.get(answer) ?? 0) + 1)
    let left = REFUSALS
    const worker = async () => {
      while (left > 0) {
        left -= 1
        const isGood = left % 50 === 0
        if (left % 1_000 === 0) memory.push(await residentOfChild())
        await pool.use(sshd.target, async (lease) => {
          try {
            const socket = await lease.connect({ port: isGood ? origin.port : 1 })
            socket.destroy()
            tell('connected')
          } catch (error) {
            tell((error as { code: string }).code)
          }
        })
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, worker))
    assert.deepEqual([...answers.keys()].sort(), ['ERR_CHANNEL_REFUSED', 'connected'])
    assert.equal(answers.get('connected'), REFUSALS / 50)
    assert.deepEqual(
      facts.filter((fact) => fact.startsWith('lost')),
      [],
    )
    await until(() => facts.length >= 1 + Math.floor((REFUSALS * 49) / 50 / 4_000), { within: 10_000 })
    // 1.5 KiB for each refusal of one generation, and nothing from one generation to the next.
    assert.ok(Math.max(...memory) - Math.min(...memory) < 12 * 1024, `KiB resident in ssh: ${memory.join(' ')}`)
    stays.release()
    await pool.close()
  })
})
