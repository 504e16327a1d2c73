import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A certificate for some names, good for a day, and its key; made by openssl, which leaves nothing on the disk. */
export function certificateFor(...names: string[]): { cert: string; key: string } {
  const directory = mkdtempSync(join(tmpdir(), 'cert-'))
  try {
    const [key, cert] = [join(directory, 'key'), join(directory, 'cert')]
    const how = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '1']
    const who = ['-subj', `/CN=${names[0]}`, '-addext', `subjectAltName=${names.map((name) => `DNS:${name}`).join(',')}`]
    execFileSync('openssl', [...how, ...who, '-keyout', key, '-out', cert], { stdio: 'ignore' })
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
  } finally {
    rmSync(directory, { recursive: true })
  }
}
