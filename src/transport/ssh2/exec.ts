import type { ClientChannel } from 'ssh2'
import { onAbort } from '../../aborts.ts'
import type { ExecResult } from '../../api/lease.ts'
import type { Clock } from '../../clock.ts'
import { TunnelError } from '../../errors.ts'
import type { Run } from '../transport.ts'

/** Writes a command's input and gathers what it says until its channel closes. Rejects when there is too much of it, when time is up, or when the connection is lost. */
export function collect(stream: ClientChannel, run: Run, lost: () => TunnelError | undefined, clock: Clock): Promise<ExecResult> {
  return new Promise<ExecResult>((resolve, reject) => {
    const output = { stdout: [] as Buffer[], stderr: [] as Buffer[] }
    const sizes = { stdout: 0, stderr: 0 }
    let exitCode: number | null = null
    let exitSignal: string | null = null
    const settle = (done: () => void) => {
      clock.clearTimeout(timer)
      takeBack()
      done()
    }
    const fail = (error: unknown) => settle(() => reject(error))
    const timer = clock.setTimeout(
      () => fail(new TunnelError('ERR_EXEC', `the command did not end within ${run.timeoutMillis} ms`)),
      run.timeoutMillis,
    )
    const takeBack = onAbort(run.signal, () => fail(run.signal?.reason))
    const gather = (name: 'stdout' | 'stderr') => (chunk: Buffer) => {
      sizes[name] += chunk.length
      output[name].push(chunk)
      if (sizes[name] > run.maxOutputBytes)
        fail(
          new TunnelError('ERR_EXEC', `the command wrote more than ${run.maxOutputBytes} bytes to ${name}; raise maxOutputBytes`),
        )
    }
    stream.on('data', gather('stdout'))
    stream.stderr.on('data', gather('stderr'))
    stream.on('exit', (code: number | null, signal?: string) => {
      exitCode = code
      exitSignal = signal ?? null
    })
    stream.on('error', fail)
    stream.on('close', () => {
      const error = lost()
      if (error !== undefined) return fail(error)
      settle(() =>
        resolve({ stdout: Buffer.concat(output.stdout), stderr: Buffer.concat(output.stderr), exitCode, signal: exitSignal }),
      )
    })
    stream.resume()
    stream.stderr.resume()
    stream.end(run.input)
  })
}
