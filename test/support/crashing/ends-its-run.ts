import { existsSync } from 'node:fs'
import { until } from '../until.ts'

it('has its run told to end when another worker is at its second file', async () => {
  await until(() => existsSync(process.env.CRASHED ?? ''), { within: 20_000 })
  process.kill(process.ppid, 'SIGTERM')
  await new Promise(() => {})
})
