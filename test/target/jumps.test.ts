import assert from 'node:assert/strict'
import type { Target } from '../../src/api/target.ts'
import { Targets } from '../../src/target.ts'
import { FINGERPRINT } from './keys.ts'

const defaults = { transport: 'ssh2', keepAliveIntervalMillis: 10_000, keepAliveCountMax: 3 } as const
const plain: Target = { host: 'gpu-7', user: 'ops', identity: { path: '/k' }, hostKey: { pinned: FINGERPRINT } }

describe('jumps of a target', () => {
  it('take user, identity, policy and transport from it, and nothing else', () => {
    const target = new Targets(defaults).resolve({
      ...plain,
      port: 2222,
      hostKeyAlias: 'i-7',
      keepAliveIntervalMillis: 1,
      label: 'seven',
      jumps: [{ host: 'bastion' }],
    })
    const { jump } = target
    assert.ok(jump)
    assert.deepEqual(
      [jump.user, jump.identities, jump.hostKey, jump.transport],
      [target.user, target.identities, target.hostKey, target.transport],
    )
    assert.deepEqual(
      [jump.port, jump.hostKeyName, jump.keepAliveIntervalMillis, jump.label, jump.jump, jump.hops],
      [22, 'bastion', 10_000, undefined, undefined, 0],
    )
    assert.equal(target.hops, 1)
  })

  it('may be targets as they stand, with a label, which makes no other connection of them', () => {
    const targets = new Targets(defaults)
    const bastion: Target = { ...plain, host: 'bastion', label: 'the bastion' }
    const { jump } = targets.resolve({ ...plain, jumps: [bastion] })
    assert.equal(jump?.label, 'the bastion')
    assert.equal(jump.key, targets.resolve({ ...plain, host: 'bastion' }).key)
  })

  it('are each a target with the hops before it as its jump, and the same as that target by itself', () => {
    const targets = new Targets(defaults)
    const target = targets.resolve({
      ...plain,
      jumps: [
        { host: 'outer', user: 'o' },
        { host: 'inner', port: 23 },
      ],
    })
    const inner = targets.resolve({ ...plain, host: 'inner', port: 23, jumps: [{ host: 'outer', user: 'o' }] })
    const outer = targets.resolve({ ...plain, host: 'outer', user: 'o' })
    assert.deepEqual([target.jump?.key, target.jump?.id], [inner.key, inner.id])
    assert.deepEqual([target.jump?.jump?.key, target.jump?.jump?.id], [outer.key, outer.id])
    assert.equal(target.route, 'outer:22 inner:23 gpu-7:22')
    assert.equal(target.hops, 2)
  })

  it('have keys that do not grow with the length of the chain', () => {
    const chain = (length: number) => Array.from({ length }, (_, index) => ({ host: `hop-${index}` }))
    const keyOf = (length: number) => new Targets(defaults).resolve({ ...plain, jumps: chain(length) }).key
    assert.equal(keyOf(100).length, keyOf(1).length)
  })

  it('keep number and identity as long as they are known, and begin anew with the target when they are forgotten', () => {
    const targets = new Targets(defaults)
    const given = { ...plain, jumps: [{ host: 'bastion' }] }
    const before = targets.resolve(given)
    assert.equal(targets.resolve(given), before)
    targets.forget(before.jump?.key ?? '')
    const other = targets.resolve({ ...plain, host: 'bastion' })
    assert.notEqual(other.id, before.jump?.id)
    assert.equal(targets.resolve(given).jump?.id, other.id)
    assert.equal(targets.resolve(given).key, before.key)
  })

  it('do not go with a stream of `connect`', () => {
    const given = { ...plain, jumps: [{ host: 'bastion' }], connect: async () => process.stdin as never }
    assert.throws(() => new Targets(defaults).resolve(given), {
      code: 'ERR_INVALID_OPTION',
      message: /`connect` or `jumps`, not both/,
    })
  })
})
