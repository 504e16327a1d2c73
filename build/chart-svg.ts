import elk from 'elkjs/lib/elk.bundled.js'
import type { ELK, ElkExtendedEdge, ElkNode } from 'elkjs/lib/elk-api.js'
import type { Chart, ChartEdge, ChartState } from './chart-graph.ts'

const CHARACTER = 6.1
const LINE = 13
const HEAD = 26
/** Labels on one edge; the rest are in its tooltip. */
const MOST_LABELS = 2

const OPTIONS = {
  'elk.algorithm': 'layered',
  'elk.direction': 'DOWN',
  'elk.hierarchyHandling': 'INCLUDE_CHILDREN',
  'elk.edgeRouting': 'ORTHOGONAL',
  'elk.json.edgeCoords': 'ROOT',
  'elk.layered.spacing.nodeNodeBetweenLayers': '26',
  'elk.layered.spacing.edgeNodeBetweenLayers': '12',
  'elk.layered.spacing.edgeEdgeBetweenLayers': '10',
  'elk.spacing.nodeNode': '22',
  'elk.spacing.edgeNode': '12',
  'elk.spacing.edgeEdge': '9',
  'elk.spacing.edgeLabel': '3',
  'elk.edgeLabels.placement': 'CENTER',
  'elk.layered.edgeLabels.sideSelection': 'ALWAYS_DOWN',
  'elk.layered.considerModelOrder.strategy': 'NODES_AND_EDGES',
  'elk.layered.cycleBreaking.strategy': 'MODEL_ORDER',
  'elk.layered.nodePlacement.strategy': 'NETWORK_SIMPLEX',
}

// CommonJS: its types call the class a member of what is the class itself.
const Elk = elk as unknown as new () => ELK

const escaped = (text: string) =>
  text.replace(/[&<>"]/g, (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[sign] ?? '')

function linesOf({ labels }: ChartEdge): string[] {
  const all = [...labels]
  return all.length <= MOST_LABELS ? all : [...all.slice(0, MOST_LABELS - 1), `+ ${all.length - MOST_LABELS + 1} more`]
}

function nodeOf(state: ChartState): ElkNode {
  const width = Math.max(76, Math.ceil(state.name.length * 7 + 30))
  if (state.states.length === 0) return { id: state.path, width, height: 30 }
  return {
    id: state.path,
    children: state.states.map(nodeOf),
    layoutOptions: { 'elk.padding': `[top=${HEAD + 12},left=16,bottom=16,right=16]`, 'elk.nodeSize.minimum': `(${width},60)` },
  }
}

function edgeOf(edge: ChartEdge, index: number): ElkExtendedEdge {
  const lines = linesOf(edge)
  const width = Math.ceil(Math.max(...lines.map((line) => line.length)) * CHARACTER) + 8
  return {
    id: `edge-${index}`,
    sources: [edge.from],
    targets: [edge.to],
    labels: [{ id: `label-${index}`, text: lines.join('\n'), width, height: lines.length * LINE + 2 }],
  }
}

/** Orthogonal lines with rounded corners. */
function pathThrough(points: ReadonlyArray<{ x: number; y: number }>): string {
  const parts: string[] = []
  points.forEach((point, index) => {
    const before = points[index - 1]
    const after = points[index + 1]
    if (before === undefined) parts.push(`M${point.x} ${point.y}`)
    else if (after === undefined) parts.push(`L${point.x} ${point.y}`)
    else {
      const towards = (to: { x: number; y: number }) => {
        const length = Math.hypot(to.x - point.x, to.y - point.y)
        const radius = Math.min(6, length / 2)
        return `${point.x + ((to.x - point.x) / (length === 0 ? 1 : length)) * radius} ${point.y + ((to.y - point.y) / (length === 0 ? 1 : length)) * radius}`
      }
      parts.push(`L${towards(before)} Q${point.x} ${point.y} ${towards(after)}`)
    }
  })
  return parts.join(' ')
}

function drawState(state: ChartState, node: ElkNode, left: number, top: number): string {
  const x = left + (node.x ?? 0)
  const y = top + (node.y ?? 0)
  const { width = 0, height = 0 } = node
  const isParent = state.states.length > 0
  const kind = `state${isParent ? ' parent' : ''}${state.isFinal ? ' final' : ''}`
  const inner = state.states.map((child) => {
    const placed = node.children?.find(({ id }) => id === child.path)
    return placed === undefined ? '' : drawState(child, placed, x, y)
  })
  const middle = isParent ? y + HEAD / 2 + 4 : y + height / 2
  const at = isParent ? x + 14 + (state.isInitial ? 10 : 0) : x + width / 2 + (state.isInitial ? 5 : 0)
  const dot = state.isInitial ? `<circle class="initial" cx="${isParent ? x + 15 : x + 12}" cy="${middle}" r="3"/>` : ''
  const ring = state.isFinal
    ? `<rect class="ring" x="${x + 3}" y="${y + 3}" width="${width - 6}" height="${height - 6}" rx="6"/>`
    : ''
  return `<g class="${kind}" data-state="${state.path}"><rect x="${x}" y="${y}" width="${width}" height="${height}" rx="9"/>${ring}${dot}<text x="${at}" y="${middle + 4}"${isParent ? '' : ' text-anchor="middle"'}>${escaped(state.name)}</text>${inner.join('')}</g>`
}

function drawEdge(edge: ChartEdge, laid: ElkExtendedEdge, marker: string): string {
  const section = laid.sections?.[0]
  if (section === undefined) return ''
  const path = pathThrough([section.startPoint, ...(section.bendPoints ?? []), section.endPoint])
  const label = laid.labels?.[0]
  const { x = 0, y = 0, width = 0, height = 0, text = '' } = label ?? {}
  const lines = text
    .split('\n')
    .map((line, index) => `<tspan x="${x + width / 2}" y="${y + 10 + index * LINE}">${escaped(line)}</tspan>`)
  const title = `${edge.from} → ${edge.to}: ${[...edge.labels].join(', ')}`
  return `<g class="edge" data-from="${edge.from}" data-to="${edge.to}" data-events="${escaped([...edge.events].join(' '))}"><title>${escaped(title)}</title><path d="${path}" marker-end="url(#${marker})"/><rect class="plate" x="${x}" y="${y}" width="${width}" height="${height}"/><text text-anchor="middle">${lines.join('')}</text></g>`
}

/** A statechart as SVG without a style of its own: the page's classes colour it, and light the states that a machine is in. */
export async function drawChart(chart: Chart): Promise<string> {
  const graph: ElkNode = {
    id: chart.id,
    layoutOptions: { ...OPTIONS, 'elk.padding': '[top=6,left=6,bottom=6,right=6]' },
    children: chart.states.map(nodeOf),
    edges: chart.edges.map(edgeOf),
  }
  const laid = await new Elk().layout(graph)
  const width = Math.ceil(laid.width ?? 0)
  const height = Math.ceil(laid.height ?? 0)
  const marker = `arrow-${chart.id}`
  const states = chart.states.map((state) => {
    const node = laid.children?.find(({ id }) => id === state.path)
    return node === undefined ? '' : drawState(state, node, 0, 0)
  })
  const edges = chart.edges.map((edge, index) => drawEdge(edge, laid.edges?.[index] as ElkExtendedEdge, marker))
  return `<svg xmlns="http://www.w3.org/2000/svg" class="chart" id="chart-${chart.id}" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="Statechart of a ${chart.id}" data-anywhere="${escaped(chart.anywhere.join(' · '))}"><defs><marker id="${marker}" viewBox="0 0 8 8" refX="7" refY="4" markerUnits="userSpaceOnUse" markerWidth="8" markerHeight="8" orient="auto-start-reverse"><path d="M0 0L8 4L0 8z"/></marker></defs>${states.join('')}${edges.join('')}</svg>`
}
