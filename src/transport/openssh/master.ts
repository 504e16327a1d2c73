import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onAbort } from '../../aborts.ts'
import { TunnelError } from '../../errors.ts'
import { socketAppears } from '../../owners/appearance.ts'
import { OwnedChild } from '../../owners/child.ts'
import { loadSsh2 } from '../../owners/client.ts'
import type { OwnedDirectory } from '../../owners/directory/directory.ts'
import { diskError } from '../../owners/directory/disk-error.ts'
import { quietly, unlessAborted } from '../../wait.ts'
import type { Dial, Phase } from '../transport.ts'
import { LoginAgent } from './agent/serve.ts'
import { exitError } from './classify.ts'
import { aliasFor, configText, type JumpBy, NAMES } from './config.ts'
import { givenConfig } from './given-config.ts'
import { HostKey } from './host-key.ts'
import { credentials, prepareIdentities } from './identities.ts'
import type { Programs } from './programs.ts'

/** An ssh that has logged in, at a host whose key is good, and listens on its control socket. */
export interface Master {
  readonly child: OwnedChild
  readonly controlPath: string
  /** Why it ended, once it has, by its own words. */
  endError(): TunnelError
}

/** Files (0600) and names, all of them known to their directory before they are made, for it to remove. */
function claimNames(directory: OwnedDirectory, config: string) {
  const paths = {
    config: directory.claim(NAMES.config, Number.POSITIVE_INFINITY),
    hostKey: directory.claim(NAMES.hostKey, Number.POSITIVE_INFINITY),
    control: directory.claim(NAMES.control),
    agent: directory.claim(NAMES.agent),
  }
  try {
    for (const [path, text] of [
      [paths.config, config],
      [paths.hostKey, ''],
    ] as const)
      writeFileSync(path, text, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    throw diskError(error, 'cannot write what ssh is told')
  }
  return paths
}

function jumpBy({ jump }: Dial, { ssh, setpriv }: Programs): JumpBy | undefined {
  if (jump === undefined) return undefined
  if (jump.controlPath === undefined)
    throw new TunnelError('ERR_UNSUPPORTED', "a target of transport 'openssh' needs jumps of that transport", {
      phase: 'connect',
    })
  return { controlPath: jump.controlPath, ssh, setpriv }
}

/** Starts ssh and waits until it is up. Rejects with a TunnelError that names the phase; everything it made is in the dial's scope. */
export async function startMaster(given: Dial, programs: Programs): Promise<Master> {
  const { target, scope } = given
  // Whoever is asked for a key or a verdict is told when the dial is over, and not only when it was given up.
  const over = new AbortController()
  const takeBack = onAbort(given.signal, () => over.abort(given.signal.reason))
  const dial: Dial = { ...given, signal: over.signal }
  let agent: LoginAgent | undefined
  try {
    given.signal.throwIfAborted()
    const ssh2 = await loadSsh2()
    const prepared = await prepareIdentities(ssh2, dial)
    const expected = await unlessAborted(dial.trust.expect(target, dial.signal), dial.signal)
    const file = target.openssh?.configFile
    const config = configText({
      target,
      hostKeyAlgorithms: expected.algorithms,
      jump: jumpBy(dial, programs),
      given: file === undefined ? undefined : await givenConfig(file, dial.signal),
    })
    const directory = await unlessAborted(dial.directory(), dial.signal)
    const paths = claimNames(directory, config)
    const hostKey = new HostKey(expected, paths.hostKey, dial.signal)

    let phase: Phase = 'connect'
    let trouble: unknown
    const enter = (next: Phase) => {
      phase = next
      dial.enter(next)
    }
    let offered: ReturnType<typeof credentials> | undefined
    agent = await LoginAgent.serve({
      path: paths.agent,
      scope,
      user: target.user,
      hostKey: () => hostKey.good(),
      credentials: () => {
        offered ??= credentials(ssh2, dial, prepared)
        return offered
      },
      asked: () => enter('auth'),
      fail: (error) => over.abort(error),
      noteTrouble: (error) => {
        trouble = error
      },
    })
    dial.signal.throwIfAborted()
    enter('connect')
    const child = await OwnedChild.start({
      file: programs.ssh,
      args: ['-F', paths.config, '-N', aliasFor(target)],
      directory: directory.path,
      environment: programs.environment,
      setpriv: programs.setpriv,
      label: `ssh ${target.id}`,
      scope,
      clock: dial.clock,
    })
    const endError = () =>
      exitError({
        exit: child.exit ?? { code: null, signal: null },
        said: child.said(),
        phase,
        host: target.id,
        directory: directory.path,
        hostKeyTypes: expected.algorithms,
        hop: dial.jump?.name,
      })
    const ended = child.exited.then(async () => {
      if (phase === 'open') return
      const error = (await hostKey.objection()) ?? endError()
      over.abort(error.code === 'ERR_AUTH' && TunnelError.is(trouble) ? trouble : error)
    })
    quietly(ended)
    await socketAppears({ directory: directory.path, name: NAMES.control, scope, clock: dial.clock, signal: dial.signal })
    await unlessAborted(hostKey.good(), dial.signal)
    agent.close()
    directory.free(paths.agent)
    child.forgetSaid()
    phase = 'open'
    return { child, controlPath: join(directory.path, NAMES.control), endError }
  } finally {
    takeBack()
    agent?.close()
  }
}
