import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type AnyStateMachine, createActor, type StateNode } from 'xstate'
import { destinationMachine, poolMachine, tunnelMachine } from '../../machines/index.ts'

const MACHINES = 'machines'
const machines: Readonly<Record<string, AnyStateMachine>> = {
  tunnel: tunnelMachine,
  destination: destinationMachine,
  pool: poolMachine,
}

// biome-ignore lint/suspicious/noExplicitAny: whatever state node of whatever machine.
type Node = StateNode<any, any>

function nodesOf(node: Node): Node[] {
  return [node, ...Object.values(node.states).flatMap((child) => nodesOf(child as Node))]
}

/** Every name of one kind that a configuration uses: in entries, exits, transitions, delays, invokes. */
function namesIn(node: Node, kind: 'actions' | 'guards'): Set<string> {
  const names = new Set<string>()
  const add = (used: unknown) => {
    if (typeof used === 'string') names.add(used)
    else if (typeof used === 'object' && used !== null && 'type' in used) names.add(String(used.type))
  }
  for (const state of nodesOf(node)) {
    const transitions = [...state.transitions.values()].flat().concat(state.always ?? [])
    if (kind === 'guards') for (const { guard } of transitions) add(guard)
    else for (const used of [...state.entry, ...state.exit, ...transitions.flatMap(({ actions }) => actions)]) add(used)
  }
  return names
}

describe('the machines: their configuration', () => {
  for (const [name, machine] of Object.entries(machines)) {
    const nodes = nodesOf(machine.root)

    it(`${name}: every invoked actor has somebody to hear its error`, () => {
      const invokes = nodes.flatMap((node) => node.invoke)
      assert.ok(invokes.length > 0)
      for (const invoke of invokes) {
        const heard = nodes.some((node) => node.transitions.has(`xstate.error.actor.${invoke.id}`))
        assert.ok(heard, `${String(invoke.src)} (${invoke.id})`)
      }
    })

    it(`${name}: every target exists`, () => {
      let count = 0
      for (const node of nodes)
        for (const { target } of [...node.transitions.values()].flat().concat(node.always ?? []))
          for (const state of target ?? []) {
            assert.ok(nodes.includes(state as Node), `${node.id} → ${(state as Node).id}`)
            count += 1
          }
      assert.ok(count > 0)
    })

    it(`${name}: every state can be reached, and every state but a final one can be left`, () => {
      const reached = new Set<Node>()
      const visit = (node: Node) => {
        if (reached.has(node)) return
        reached.add(node)
        if (node.parent !== undefined) visit(node.parent as Node)
        if (node.initial !== undefined) for (const first of node.initial.target ?? []) visit(first as Node)
        for (const { target } of [...node.transitions.values()].flat().concat(node.always ?? []))
          for (const next of target ?? []) visit(next as Node)
      }
      visit(machine.root)
      assert.deepEqual(
        nodes.filter((node) => !reached.has(node)).map(({ id }) => id),
        [],
      )
    })

    it(`${name}: every action and guard that it names is given, and every one given is used`, () => {
      for (const kind of ['actions', 'guards'] as const) {
        const used = namesIn(machine.root, kind)
        const given = Object.keys(machine.implementations[kind])
        const known = (word: string) => given.includes(word) || word.startsWith('xstate.')
        assert.deepEqual(
          [...used].filter((word) => !known(word)),
          [],
          `${kind} not given`,
        )
        assert.deepEqual(
          given.filter((word) => !used.has(word)),
          [],
          `${kind} not used`,
        )
      }
    })

    it(`${name}: goes round for ever nowhere`, () => {
      assert.ok(Number.isFinite(machine.options.maxIterations))
    })
  }

  it('import xstate and each other, and nothing else', () => {
    const files = readdirSync(MACHINES)
    assert.ok(files.length > 5)
    for (const file of files)
      for (const [, from = ''] of readFileSync(join(MACHINES, file), 'utf8').matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g))
        assert.match(from, /^(xstate|\.\/[\w-]+\.ts)$/, `${file} imports ${from}`)
  })

  it('say what they lack when they are run as they are', () => {
    for (const [name, machine] of Object.entries(machines)) {
      const input = { generation: 1, id: 'x', times: {}, tunnelTimes: {}, closeGraceMillis: 1 }
      const errors: unknown[] = []
      const actor = createActor(machine, { input })
      actor.subscribe({ error: (error) => errors.push(error) })
      assert.doesNotThrow(() => actor.start(), name)
      assert.deepEqual(errors, [])
      actor.stop()
    }
  })
})
