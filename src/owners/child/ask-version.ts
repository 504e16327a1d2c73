import { execFile } from 'node:child_process'

const LONGEST_MILLIS = 5_000

/** What `ssh -V` says, which OpenSSH says on stderr; or what the system says when it cannot be run. The process is waited for, and killed when it takes longer than 5 s. */
export function askVersion(ssh: string): Promise<{ said: string } | { failed: string }> {
  return new Promise((resolve) => {
    const options = { timeout: LONGEST_MILLIS, killSignal: 'SIGKILL', env: { LANG: 'C' }, maxBuffer: 65_536 } as const
    execFile(ssh, ['-V'], options, (error, stdout, stderr) => {
      const said = `${stderr}${stdout}`.trim()
      resolve(error !== null && said === '' ? { failed: error.message } : { said })
    })
  })
}
