import { examineDirectory, examineLeftovers } from './directory.ts'
import type { Finding } from './finding.ts'
import { examineDescriptors, examineProcesses, type Plan } from './limits.ts'
import { examineBinding, examineSetpriv, examineSsh } from './programs.ts'
import { examineInit, examineNode } from './system.ts'
import { examineAgent, examineKnownHosts } from './trust.ts'

/** What a pool would be given. */
export interface Examination extends Plan {
  readonly sshPath: string | undefined
  readonly runtimeDirectory: string | undefined
  readonly knownHosts: string | undefined
  readonly signal: AbortSignal
}

/** Looks at all that a pool of that size needs, and changes nothing. */
export async function examine(given: Examination): Promise<Finding[]> {
  const { runtimeDirectory } = given
  const isOpenssh = given.transport === 'openssh'
  const findings = [
    examineNode(),
    ...(isOpenssh ? [] : [examineBinding()]),
    await examineSsh(given.sshPath, isOpenssh),
    ...(isOpenssh ? [examineSetpriv()] : []),
    examineDescriptors(given),
    examineProcesses(given),
    await examineDirectory(runtimeDirectory),
    await examineLeftovers(runtimeDirectory, given.signal),
    await examineKnownHosts(given.knownHosts),
    await examineAgent(),
    examineInit(),
  ]
  return findings.filter((finding) => finding !== undefined)
}
