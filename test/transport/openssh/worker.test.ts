import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { startSshd } from '../../support/sshd.ts'

describe('openssh: in a worker thread', () => {
  // The parent-death signal is that of the thread which starts a child, and nobody collects what a terminated worker has started: a zombie of ours.
  it('is refused, and leaves nothing', async () => {
    const base = realpathSync(mkdtempSync(join(tmpdir(), 'worker-')))
    await using sshd = await startSshd()
    const workerData = { base, target: sshd.target }
    const worker = new Worker(new URL('fixtures/worker.mjs', import.meta.url), { workerData })
    try {
      const [said] = await once(worker, 'message', { signal: AbortSignal.timeout(15_000) })
      assert.match(said, /^ERR_UNSUPPORTED: .*main thread/)
      assert.deepEqual(readdirSync(base), [])
    } finally {
      await worker.terminate()
      rmSync(base, { recursive: true, force: true })
    }
  })
})
