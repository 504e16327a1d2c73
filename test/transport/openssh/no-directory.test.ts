import assert from 'node:assert/strict'
import { refusal, startPool } from '../../support/pool.ts'

describe('openssh: a tunnel whose directory cannot be made', () => {
  it('fails with the reason and the remedy, not just with a code', async () => {
    await using pool = startPool({ transport: 'openssh', runtimeDirectory: '/nonexistent/base' })
    const target = { host: '127.0.0.1', port: 1, user: 'root', identity: { agent: true } } as const
    const error = await refusal(pool.acquire(target), 'ERR_RUNTIME_DIRECTORY')
    assert.match(error.message, /\/nonexistent\/base/)
    assert.match(error.message, /set runtimeDirectory/)
  })
})
