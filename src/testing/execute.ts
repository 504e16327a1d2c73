import type { Writable } from 'node:stream'
import type { ServerChannel } from 'ssh2'
import { run } from './commands.ts'

/** Runs a command on its channel and reports how it ended; `signal` ends it early, by the signal that is its reason. */
export async function execute(channel: ServerChannel, command: string, signal: AbortSignal): Promise<void> {
  const terminal = { stdin: channel, stdout: channel, stderr: channel.stderr, signal }
  const exit = await run(command, terminal).catch(() => (signal.aborted ? String(signal.reason) : 1))
  // The rest of its input is nobody's, and unread the channel would never close.
  channel.resume()
  await Promise.all([written(channel), written(channel.stderr)])
  if (typeof exit === 'number') channel.exit(exit)
  else channel.exit(exit, false, '')
  channel.end()
}

function written(stream: Writable): Promise<void> {
  return new Promise((resolve) => stream.write('', () => resolve()))
}
