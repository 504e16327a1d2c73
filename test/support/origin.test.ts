import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { get, type RequestOptions, request } from 'node:http'
import { startOrigin } from './origin.ts'
import { collected } from './raw-client.ts'

describe('an origin', () => {
  it('answers on every address it is asked for', async () => {
    await using origin = await startOrigin({ ipv6: true, unix: true })
    const { port, ipv6Port, socketPath = '' } = origin
    for (const where of [{ port }, { host: '::1', port: ipv6Port }, { socketPath }])
      assert.deepEqual(await fetched({ ...where, path: '/health' }), [200, 'ok'])
    assert.deepEqual(await fetched({ port, path: '/status/503' }), [503, ''])
    const [status, body] = await fetched({ port, path: '/bytes/300000' })
    assert.deepEqual([status, body.length], [200, 300_000])
    assert.equal(origin.requests, 5)
    await origin.close()
    assert.equal(existsSync(socketPath), false)
  })

  it('echoes a body', async () => {
    await using origin = await startOrigin()
    const sent = request({ port: origin.port, method: 'POST', path: '/' })
    const answered = new Promise<string>((resolve) =>
      sent.on('response', (answer) => void collected(answer).then((body) => resolve(String(body)))),
    )
    sent.end('there and back')
    assert.equal(await answered, 'there and back')
  })
})

function fetched(options: RequestOptions): Promise<[status: number | undefined, body: string]> {
  return new Promise((resolve, reject) => {
    get(
      { ...options, agent: false },
      (answer) => void collected(answer).then((body) => resolve([answer.statusCode, String(body)]), reject),
    ).on('error', reject)
  })
}
