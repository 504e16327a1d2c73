import assert from 'node:assert/strict'
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeKeyPair } from '../../src/testing/keys.ts'
import { closeServer } from '../../src/testing/server.ts'
import { Warren } from './warren.ts'

interface Finding {
  readonly about: string
  readonly is: string
  readonly what: string
  readonly remedy: string
}

describe('warren doctor', function () {
  this.timeout(60_000)
  let directory: string
  let command: Warren

  before(async () => {
    ;[directory, command] = await Promise.all([mkdtemp(join(tmpdir(), 'doctor-')), Warren.build()])
  })
  after(async () => {
    await Promise.all([command.remove(), rm(directory, { recursive: true, force: true })])
  })

  const at = (name: string) => join(directory, name)
  async function script(name: string, text: string): Promise<string> {
    await writeFile(at(name), `#!/bin/sh\n${text}\n`, { mode: 0o755 })
    return at(name)
  }
  async function examine(surroundings: Parameters<Warren['runIn']>[0], ...args: string[]) {
    const { code, stdout, stderr } = await command.runIn(surroundings, 'doctor', '--json', ...args)
    assert.equal(stderr, '')
    return { code, findings: JSON.parse(stdout) as Finding[] }
  }

  it('finds nothing in the way where nothing is', async () => {
    const known = at('well-known')
    await writeFile(known, `host ${makeKeyPair().public}\n`, { mode: 0o600 })
    const { code, findings } = await examine({}, '--known-hosts', known, '--runtime-directory', tmpdir())
    assert.deepEqual([code, findings.filter(({ is }) => is === 'problem')], [0, []])
    assert.deepEqual(
      findings
        .filter(({ is }) => is === 'well')
        .map(({ about }) => about)
        .includes('known_hosts'),
      true,
    )
  })

  const prlimit = (...limits: string[]) => ['prlimit', ...limits]
  const planted: ReadonlyArray<{
    readonly name: string
    readonly plant: () => Promise<{ args?: string[]; env?: NodeJS.ProcessEnv; by?: string[]; end?: () => Promise<void> }>
    readonly finding: { about: string; is: string; what: RegExp; remedy: RegExp }
  }> = [
    {
      name: 'no ssh',
      plant: async () => ({ args: ['--transport', 'openssh', '--ssh-path', at('nothing')] }),
      finding: { about: 'ssh', is: 'problem', what: /not a program/, remedy: /openssh-client/ },
    },
    {
      name: 'an ssh that is too old',
      plant: async () => ({ args: ['--transport', 'openssh', '--ssh-path', await script('old', 'echo OpenSSH_6.6.1p1 >&2')] }),
      finding: { about: 'ssh', is: 'problem', what: /OpenSSH 6\.6/, remedy: /update it to 8\.0/ },
    },
    {
      name: 'something else called ssh',
      plant: async () => ({ args: ['--ssh-path', await script('other', 'echo Dropbear v2022.83 >&2')] }),
      finding: { about: 'ssh', is: 'problem', what: /not OpenSSH: Dropbear/, remedy: /sshPath/ },
    },
    {
      name: "busybox's setpriv",
      plant: async () => {
        await mkdir(at('bin'))
        await script('bin/busybox', 'exit 1')
        await symlink('busybox', at('bin/setpriv'))
        return { args: ['--transport', 'openssh'], env: { PATH: `${at('bin')}:${process.env.PATH}` } }
      },
      finding: { about: 'setpriv', is: 'note', what: /none of util-linux/, remedy: /util-linux/ },
    },
    {
      name: 'too few descriptors',
      plant: async () => ({ args: ['--tunnels', '1000'], by: prlimit('--nofile=512') }),
      finding: { about: 'descriptors', is: 'problem', what: /^512, and 1000 tunnels/, remedy: /LimitNOFILE=1100/ },
    },
    {
      name: 'too few processes',
      plant: async () => ({ args: ['--transport', 'openssh', '--tunnels', '500'], by: prlimit('--nproc=100') }),
      finding: { about: 'processes', is: 'problem', what: /^100, /, remedy: /LimitNPROC/ },
    },
    {
      name: 'a runtime directory that is not there',
      plant: async () => ({ args: ['--runtime-directory', at('absent')] }),
      finding: { about: 'runtime directory', is: 'problem', what: /absent/, remedy: /runtimeDirectory/ },
    },
    {
      name: 'a runtime directory whose socket paths are too long',
      plant: async () => {
        const path = at('x'.repeat(60))
        await mkdir(path)
        return { args: ['--runtime-directory', path] }
      },
      finding: { about: 'runtime directory', is: 'problem', what: /the limit is 107/, remedy: /at most \d+ bytes/ },
    },
    {
      name: 'a runtime directory that all can write to',
      plant: async () => {
        await mkdir(at('open'))
        await chmod(at('open'), 0o777)
        return { args: ['--runtime-directory', at('open')] }
      },
      finding: { about: 'runtime directory', is: 'problem', what: /not sticky/, remedy: /chmod/ },
    },
    {
      name: 'an XDG_RUNTIME_DIR of somebody else’s',
      plant: async () => ({ env: { XDG_RUNTIME_DIR: '/nonexistent/run' } }),
      finding: { about: 'runtime directory', is: 'note', what: /XDG_RUNTIME_DIR .*cannot be used/, remedy: /unset it/ },
    },
    {
      name: 'no known hosts',
      plant: async () => ({}),
      finding: { about: 'known_hosts', is: 'note', what: /does not exist/, remedy: /accept-new/ },
    },
    {
      name: 'known hosts that others can write to',
      plant: async () => {
        await writeFile(at('loose'), '')
        await chmod(at('loose'), 0o666)
        return { args: ['--known-hosts', at('loose')] }
      },
      finding: { about: 'known_hosts', is: 'problem', what: /others can write/, remedy: /chmod go-w/ },
    },
    {
      name: 'a line of known hosts that is none',
      plant: async () => {
        await writeFile(at('torn'), `# mine\n\nhost ssh-ed25519 AAAA\n`, { mode: 0o600 })
        return { args: ['--known-hosts', at('torn')] }
      },
      finding: { about: 'known_hosts', is: 'problem', what: /line 3 of/, remedy: /mend or remove/ },
    },
    {
      name: 'an agent that has gone',
      plant: async () => ({ env: { SSH_AUTH_SOCK: at('gone') } }),
      finding: { about: 'agent', is: 'problem', what: /does not answer/, remedy: /ssh-agent/ },
    },
    {
      name: 'an agent that is none',
      plant: async () => {
        const server = createServer((socket) =>
          socket
            .on('error', () => {})
            .resume()
            .end('220 hello, I am a mail server\r\n'),
        )
        await new Promise<void>((resolve) => server.listen({ path: at('mail') }, resolve))
        return { env: { SSH_AUTH_SOCK: at('mail') }, end: () => closeServer(server) }
      },
      finding: { about: 'agent', is: 'problem', what: /not an SSH agent/, remedy: /SSH_AUTH_SOCK/ },
    },
    {
      name: 'PID 1 that collects nobody',
      plant: async () => ({ by: ['unshare', '-pf', '--mount-proc'] }),
      finding: { about: 'init', is: 'note', what: /is PID 1/, remedy: /--init/ },
    },
  ]

  for (const { name, plant, finding } of planted) {
    it(`names ${name}, with a remedy`, async () => {
      const { args = [], env = {}, by = [], end } = await plant()
      const { code, findings } = await examine({ env, by }, ...args)
      await end?.()
      const found = findings.find(({ about }) => about === finding.about)
      assert.equal(found?.is, finding.is, JSON.stringify(found))
      assert.match(found.what, finding.what)
      assert.match(found.remedy, finding.remedy)
      assert.equal(code, findings.some(({ is }) => is === 'problem') ? 1 : 0)
    })
  }

  it('says it in lines, with the remedy under what it found', async () => {
    const { code, stdout } = await command.run('doctor', '--ssh-path', at('nothing'), '--transport', 'openssh')
    assert.equal(code, 1)
    assert.match(stdout, /^FAIL {2}ssh +`sshPath`.*\n +→ install it/m)
    assert.match(stdout, /\n1 thing will fail\.\n$/)
  })

  it('refuses a wrong option with 2', async () => {
    assert.equal((await command.run('doctor', '--tunnels', 'many')).code, 2)
    assert.equal((await command.run('doctor', '--transport', 'telnet')).code, 2)
  })
})
