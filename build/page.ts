import { mkdir, writeFile } from 'node:fs/promises'
import { build } from 'esbuild'
import type { AnyStateMachine } from 'xstate'
import { destinationMachine, poolMachine, tunnelMachine } from '../machines/index.ts'
import { chartOf } from './chart-graph.ts'
import { drawChart } from './chart-svg.ts'

/** Builds the inspector's page into dist/page: its script, style and HTML, and the statecharts as they are in machines/ now. */
const OUT = 'dist/page'
await mkdir(OUT, { recursive: true })
await build({
  entryPoints: ['src/observe/page/page.ts', 'src/observe/page/page.css', 'src/observe/page/index.html'],
  loader: { '.html': 'copy' },
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2022',
  outdir: OUT,
  logLevel: 'warning',
})
const machines = [tunnelMachine, destinationMachine, poolMachine] as unknown as AnyStateMachine[]
const charts = await Promise.all(machines.map((machine) => drawChart(chartOf(machine))))
await writeFile(`${OUT}/charts.svg`, `<svg xmlns="http://www.w3.org/2000/svg">${charts.join('\n')}</svg>\n`)
