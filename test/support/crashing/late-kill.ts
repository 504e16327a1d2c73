import { writeFileSync } from 'node:fs'

it('is killed when it has told of its last test', () => {
  setTimeout(() => {
    writeFileSync(process.env.CRASHED ?? '', '')
    process.kill(process.pid, 'SIGKILL')
  }, 200)
})
