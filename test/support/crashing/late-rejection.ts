import { writeFileSync } from 'node:fs'

// By then it has told of its last test.
it('leaves something behind', () => {
  setTimeout(() => {
    void Promise.reject(new Error('too late'))
    writeFileSync(process.env.CRASHED ?? '', '')
  }, 200)
})
