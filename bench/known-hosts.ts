import { createHmac, generateKeyPairSync, randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import type { ResolvedTarget } from '../src/target.ts'
import { createTrust } from '../src/trust/host-keys.ts'

/** Looks up 10,000 targets in a file of 10,000 hashed lines: `npx tsx bench/known-hosts.ts [lines]`. */
const LINES = Number(process.argv[2] ?? 10_000)
const hosts = Array.from({ length: LINES }, (_, i) => `host-${i}.fleet.example.com`)
const strangers = hosts.map((host) => `other-${host}`)

function hashed(host: string): string {
  const salt = randomBytes(20)
  return `|1|${salt.toString('base64')}|${createHmac('sha1', salt).update(host).digest('base64')}`
}

function keyLine(): string {
  const raw = generateKeyPairSync('ed25519').publicKey.export({ format: 'der', type: 'spki' }).subarray(-32)
  const field = (bytes: Buffer) => Buffer.concat([Buffer.from([0, 0, 0, bytes.length]), bytes])
  return `ssh-ed25519 ${Buffer.concat([field(Buffer.from('ssh-ed25519')), field(raw)]).toString('base64')}`
}

function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => [Math.random(), item] as const)
    .sort(([a], [b]) => a - b)
    .map(([, item]) => item)
}

async function measure(what: string, names: readonly string[], file: string, atOnce: number): Promise<void> {
  const trust = createTrust()
  const delay = monitorEventLoopDelay({ resolution: 1 })
  const queue = names.values()
  let known = 0
  const target = (host: string) =>
    ({ host, port: 22, hostKeyName: host, hostKey: { kind: 'known-hosts', files: [file] } }) as unknown as ResolvedTarget
  const worker = async () => {
    for (const host of queue)
      if ((await trust.expect(target(host), new AbortController().signal)).algorithms !== undefined) known++
  }
  delay.enable()
  const began = performance.now()
  const cpu = process.cpuUsage()
  await Promise.all(Array.from({ length: atOnce }, worker))
  const millis = performance.now() - began
  const { user, system } = process.cpuUsage(cpu)
  delay.disable()
  const row = {
    what,
    atOnce,
    known,
    millis: Math.round(millis),
    cpuMillis: Math.round((user + system) / 1_000),
    loopP99: delay.percentile(99) / 1e6,
    loopMax: delay.max / 1e6,
  }
  process.stdout.write(`${JSON.stringify(row)}\n`)
}

const directory = await mkdtemp(join(tmpdir(), 'warren-bench-'))
try {
  const file = join(directory, 'known_hosts')
  const plain = join(directory, 'plain')
  const key = keyLine()
  await writeFile(file, hosts.map((host) => `${hashed(host)} ${key}\n`).join(''))
  await writeFile(plain, hosts.map((host) => `${host} ${key}\n`).join(''))
  for (const atOnce of [LINES, 512, 1]) {
    await measure('plain names', hosts, plain, atOnce)
    await measure('hashed, in order', hosts, file, atOnce)
    await measure('hashed, random order', shuffled(hosts), file, atOnce)
    await measure('hashed, none known', strangers, file, atOnce)
  }
} finally {
  await rm(directory, { recursive: true })
}
