import { styleText } from 'node:util'
import type { Outcome } from './outcome.ts'

type Style = Parameters<typeof styleText>[0]

const paint = (isColoured: boolean, style: Style, text: string) => (isColoured ? styleText(style, text) : text)

/** One line for an outcome as it comes. */
export function lineOf({ ok, target, message, latencyMillis }: Outcome, isColoured: boolean): string {
  return `${paint(isColoured, ok ? 'green' : 'red', ok ? 'ok  ' : 'FAIL')} ${target}  ${message}  (${latencyMillis.toFixed(0)} ms)`
}

/** The table at the end, for a terminal. */
export async function tableOf(outcomes: readonly Outcome[], width: number, isColoured: boolean): Promise<string> {
  const { default: Table } = await import('cli-table3')
  const names = outcomes.map(({ target, label }) => (label === undefined ? target : `${label} (${target})`))
  const nameWidth = Math.min(50, Math.max(8, ...names.map((name) => name.length)) + 2)
  const table = new Table({
    head: ['', 'target', 'time', 'result'],
    colWidths: [6, nameWidth, 10, Math.max(30, width - nameWidth - 22)],
    colAligns: ['left', 'left', 'right', 'left'],
    wordWrap: true,
    style: { head: isColoured ? ['bold'] : [], border: [], compact: true },
  })
  outcomes.forEach(({ ok, latencyMillis, message, code, phase }, index) => {
    const where = code === undefined || code === 'HTTP' ? '' : `${code}${phase === undefined ? '' : ` at ${phase}`}: `
    table.push([
      paint(isColoured, ok ? 'green' : 'red', ok ? 'ok' : 'FAIL'),
      names[index] ?? '',
      `${latencyMillis.toFixed(0)} ms`,
      `${where}${message}`,
    ])
  })
  return table.toString()
}

/** What to do about those that failed, each piece of advice once. */
export function adviceOf(outcomes: readonly Outcome[]): string[] {
  const byAdvice = new Map<string, string[]>()
  for (const { advice, target } of outcomes) if (advice !== '') byAdvice.set(advice, [...(byAdvice.get(advice) ?? []), target])
  return [...byAdvice].map(
    ([advice, targets]) => `${targets.length > 3 ? `${targets.length} targets` : targets.join(', ')}: ${advice}`,
  )
}
