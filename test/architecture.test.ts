import assert from 'node:assert/strict'
import { dirname, join, normalize } from 'node:path'
import { codeOf, files } from './sources.ts'

interface Import {
  readonly from: string
  readonly isType: boolean
}

/** What a file imports, types and lazy imports included; ours by path from the root. */
function importsOf(file: string): Import[] {
  const found = codeOf(file).matchAll(
    /\b(?:import|export)\s+(type\s)?[^'";]*?\bfrom\s+'([^']+)'|(typeof\s)?\bimport\(\s*'([^']+)'\s*\)|^import '([^']+)'/gm,
  )
  return [...found].map(([, type, from, typeOf, lazy, bare]) => {
    const name = from ?? lazy ?? bare ?? ''
    return { from: name.startsWith('.') ? normalize(join(dirname(file), name)) : name, isType: (type ?? typeOf) !== undefined }
  })
}

/** Leaves that everybody may use: words, errors, time, waiting. They know nothing of the rest. */
const LEAVES = [
  'node:',
  'src/errors.ts',
  'src/clock.ts',
  'src/aborts.ts',
  'src/wait.ts',
  'src/shown.ts',
  'src/secret.ts',
  'src/remote.ts',
]
const OPTIONS = ['src/options', 'src/target', 'src/api/']

/** Who may import what; the longest prefix that fits a file rules it. With `type `, only types of it. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  'machines/': ['xstate', 'machines/'],
  // The contract: words only.
  'src/api/': ['type node:', 'type src/api/', 'type src/errors.ts'],
  'src/errors.ts': [],
  'src/clock.ts': ['node:'],
  'src/aborts.ts': [],
  'src/wait.ts': ['src/aborts.ts'],
  'src/shown.ts': [],
  'src/secret.ts': ['node:'],
  'src/remote.ts': ['type src/api/'],
  // Checked at the edge; the one thing they ask of owners is how long a path may be.
  'src/options': [...LEAVES, ...OPTIONS, 'valibot', 'type src/transport/transport.ts', 'src/owners/directory/path-length.ts'],
  'src/target': [...LEAVES, ...OPTIONS],
  'src/limits/': [...LEAVES, 'src/limits/', 'type src/options.ts'],
  // What the operating system gives: no machines, no actors.
  'src/owners/': [...LEAVES, 'src/owners/', 'type src/api/', 'ssh2', 'tmp'],
  'src/transport/': [
    ...LEAVES,
    'src/transport/',
    'src/owners/',
    'type src/api/',
    'type src/target.ts',
    'type src/trust/',
    'type src/channels/',
    'type ssh2',
  ],
  'src/trust/': [...LEAVES, 'src/trust/', 'src/owners/', 'type src/target.ts'],
  // Stands on `openChannel`, whoever offers it.
  'src/channels/': [
    ...LEAVES,
    'src/channels/',
    'src/owners/',
    'type src/api/',
    'type src/options/',
    'type src/transport/transport.ts',
  ],
  'src/observe/': [...LEAVES, 'src/observe/', 'type src/api/'],
  // It speaks XState's inspection protocol; what that carries of implementation stays here.
  'src/observe/inspect.ts': [...LEAVES, 'type src/api/', 'type xstate'],
  'src/observe/metrics/server.ts': [...LEAVES, 'prom-client', 'src/observe/', 'src/owners/', 'type src/api/'],
  'src/observe/metrics/': ['node:diagnostics_channel', 'prom-client', '@opentelemetry/api', 'src/observe/', 'type src/api/'],
  // A user like any other, with a listener of its own.
  'src/observe/inspector/': [...LEAVES, 'src/observe/inspector/', 'src/owners/', 'type src/api/'],
  // Runs in a browser.
  'src/observe/page/': ['src/observe/page/', 'type src/observe/inspector/wire.ts'],
  // Where machines meet owners.
  'src/actors/': [
    ...LEAVES,
    ...OPTIONS,
    'machines/',
    'xstate',
    'src/actors/',
    'src/owners/',
    'src/channels/',
    'src/observe/',
    'type src/limits/',
    'type src/transport/',
    'type src/trust/',
    'type src/assemble.ts',
  ],
  'src/lazy.ts': ['src/owners/', 'src/transport/', 'src/trust/'],
  'src/assemble.ts': [
    ...LEAVES,
    ...OPTIONS,
    'src/actors/',
    'src/owners/',
    'src/channels/',
    'src/limits/',
    'src/observe/',
    'src/lazy.ts',
    'type src/transport/',
  ],
  'src/pool.ts': [
    'src/observe/tracing.ts',
    ...LEAVES,
    ...OPTIONS,
    'src/http/',
    'src/actors/',
    'src/channels/',
    'src/assemble.ts',
    'src/lease',
    'src/warm.ts',
  ],
  'src/lease': [...LEAVES, ...OPTIONS, 'src/actors/', 'src/channels/', 'src/lease'],
  'src/warm.ts': [...LEAVES, 'type src/target.ts'],
  'src/create-pool.ts': ['src/pool.ts', 'type src/api/'],
  // What ssh would do, as a target; it parses, and decides nothing.
  'src/config/': [...LEAVES, ...OPTIONS, 'src/config/', 'src/owners/load.ts', 'src/trust/pattern.ts', 'ssh-config'],
  'src/index.ts': [
    'src/create-pool.ts',
    'src/config/target-from-config.ts',
    'src/errors.ts',
    'type src/api/',
    'src/monitor/monitor.ts',
  ],
  // Users like any other: what they can do, everybody can.
  'src/cli/': [
    'node:',
    'commander',
    'cli-table3',
    'log-update',
    'winston',
    'yaml',
    'ssh2',
    'src/cli/',
    'src/create-pool.ts',
    'src/errors.ts',
    'src/shown.ts',
    'src/options/nearest.ts',
    'src/testing/index.ts',
    'src/sweep.ts',
    'src/report.ts',
    'type src/observe/shown-report.ts',
    'src/owners/child/tell-systemd.ts',
    'src/monitor/monitor.ts',
    'src/observe/inspector/index.ts',
    'src/observe/metrics/server.ts',
    'src/doctor/',
    'type src/api/',
  ],
  // What pools of other processes have left, and what one would meet here: without a pool.
  'src/report.ts': [...LEAVES, 'src/owners/', 'type src/observe/shown-report.ts'],
  'src/sweep.ts': [...LEAVES, 'src/owners/', 'src/actors/hold.ts'],
  'src/doctor/': [...LEAVES, 'src/doctor/', 'src/owners/', 'src/sweep.ts', 'src/trust/line.ts'],
  'src/testing/': ['node:', 'ssh2', 'tmp', 'src/testing/', 'src/errors.ts', 'type src/api/'],
}
for (const prefix of ['src/monitor/', 'src/http/'])
  Object.assign(MAY_IMPORT, {
    [prefix]: [...LEAVES, 'type src/api/', 'src/create-pool.ts', 'src/options/names.ts', prefix, 'undici'],
  })

const ruleOf = (file: string): string | undefined =>
  Object.keys(MAY_IMPORT)
    .filter((prefix) => file.startsWith(prefix))
    .sort((a, b) => b.length - a.length)[0]

const mayImport = (allowed: readonly string[], { from, isType }: Import): boolean =>
  allowed.some(
    (rule) => from.startsWith(rule) || (isType && rule.startsWith('type ') && from.startsWith(rule.slice('type '.length))),
  )

describe('architecture: who imports what', () => {
  it('has a rule for every file', () => {
    assert.ok(files.length > 100)
    assert.deepEqual(
      files.filter((file) => ruleOf(file) === undefined),
      [],
    )
  })

  for (const [prefix, allowed] of Object.entries(MAY_IMPORT)) {
    const ruled = files.filter((file) => ruleOf(file) === prefix)
    if (ruled.length === 0) continue
    it(`${prefix}: ${ruled.length} file${ruled.length === 1 ? '' : 's'}`, () => {
      const forbidden = ruled.flatMap((file) =>
        importsOf(file)
          .filter((each) => !mayImport(allowed, each))
          .map(({ from, isType }) => `${file} imports ${isType ? 'types of ' : ''}${from}`),
      )
      assert.deepEqual(forbidden, [])
    })
  }

  it('sees machines and owners together only where they meet', () => {
    const both = files.filter((file) => {
      const from = importsOf(file).map((each) => each.from)
      return from.some((name) => name.startsWith('machines/')) && from.some((name) => name.startsWith('src/owners/'))
    })
    assert.deepEqual(
      both.filter((file) => !/^src\/(actors\/|pool\.ts|assemble\.ts)/.test(file)),
      [],
    )
  })

  it('knows what a forbidden import is', () => {
    assert.equal(mayImport(MAY_IMPORT['machines/'] ?? [], { from: 'node:fs', isType: true }), false)
    assert.equal(mayImport(MAY_IMPORT['src/owners/'] ?? [], { from: 'xstate', isType: true }), false)
    assert.equal(mayImport(MAY_IMPORT['src/transport/'] ?? [], { from: 'ssh2', isType: false }), false)
    assert.equal(mayImport(MAY_IMPORT['src/transport/'] ?? [], { from: 'ssh2', isType: true }), true)
    assert.deepEqual(importsOf('src/lazy.ts').filter(({ from }) => from === 'src/transport/ssh2/ssh2.ts').length, 1)
  })
})
