/** One way to make checks. */
export interface Bar {
  readonly name: string
  readonly perSecond: number
  readonly cpuMillis: number
}

const [ROW, LEFT, WIDTH, TOP] = [26, 210, 420, 46]
const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

/** Checks per second of each way as bars on a logarithmic scale, with CPU per check beside; readable in light and dark. */
export function chartOf(bars: readonly Bar[]): string {
  const most = Math.max(...bars.map(({ perSecond }) => Math.log10(perSecond + 1)))
  const height = TOP + bars.length * ROW + 14
  const rows = bars.map(({ name, perSecond, cpuMillis }, index) => {
    const y = TOP + index * ROW
    const width = (Math.log10(perSecond + 1) / most) * WIDTH
    const isOurs = name.startsWith('pool')
    const said = `${perSecond >= 100 ? perSecond.toFixed(0) : perSecond.toFixed(1)}/s, CPU ${cpuMillis.toFixed(cpuMillis < 1 ? 3 : 1)} ms`
    return `<text x="${LEFT - 8}" y="${y + 14}" text-anchor="end"${isOurs ? ' font-weight="bold"' : ''}>${escaped(name)}</text>
<rect x="${LEFT}" y="${y + 2}" width="${width.toFixed(1)}" height="16" rx="2" fill="${isOurs ? '#2a9d6f' : '#8a94a6'}"/>
<text x="${(LEFT + width + 6).toFixed(1)}" y="${y + 14}">${said}</text>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${LEFT + WIDTH + 190}" height="${height}" font-family="system-ui, sans-serif" font-size="12">
<style>text { fill: #24292f } @media (prefers-color-scheme: dark) { text { fill: #d0d7de } }</style>
<text x="8" y="20" font-size="14" font-weight="bold">HTTP health checks through SSH, one after the other (logarithmic)</text>
${rows.join('\n')}
</svg>
`
}
