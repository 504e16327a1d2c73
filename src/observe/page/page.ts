import type { ShownDetail } from '../inspector/wire.ts'
import { DestinationDetail, PoolDetail } from './detail.ts'
import { byId, el, setText } from './dom.ts'
import { HistoryChart } from './history.ts'
import { ask, enter, follow } from './link.ts'
import { Store } from './store.ts'
import { Summary } from './summary.ts'
import { startTheme } from './theme.ts'
import { Tree } from './tree.ts'

const ASK_MILLIS = 1_000

const store = new Store()
const history_ = new HistoryChart()
const search = byId('search') as HTMLInputElement
const pane = byId('detail')
const back = el('button', { type: 'button', class: 'back' }, '← All destinations')
let selection = 'pool'
let detail: DestinationDetail | undefined
const poolDetail = new PoolDetail()
let known: ShownDetail | undefined
let isDue = false
let isLinked: boolean | undefined

/** Everything that came since the last frame is drawn in the next one. */
function soon(): void {
  if (isDue) return
  isDue = true
  requestAnimationFrame(() => {
    isDue = false
    draw()
  })
}

function draw(): void {
  tree.update()
  summary.update()
  drawNothing()
  if (selection === 'pool') poolDetail.update(store.pool)
  else detail?.update(store.rows.get(selection), known?.id === selection ? known : undefined)
}

function drawNothing(): void {
  const nothing = byId('nothing')
  nothing.hidden = !tree.isEmpty
  const isFiltered = store.query !== '' || store.states.size > 0
  const text = isFiltered
    ? 'No destination matches. Esc clears the search and the filter.'
    : store.isReady
      ? 'No destination yet. The first acquire makes one, and it appears here.'
      : isLinked === false
        ? 'Not connected. Open the URL that the inspector printed, with everything after the #.'
        : ''
  setText(nothing, text)
}

async function refresh(): Promise<void> {
  const id = selection
  if (id === 'pool' || document.hidden) return
  const got = await ask(id)
  if (got !== undefined && selection === id) known = got
  soon()
}

function select(id: string, isMeant: boolean): void {
  document.body.classList.toggle('is-detail', isMeant && id !== 'pool')
  if (isMeant && matchMedia('(max-width: 860px)').matches) pane.focus()
  if (id === selection) return
  selection = id
  known = undefined
  detail = id === 'pool' ? undefined : new DestinationDetail(id)
  pane.replaceChildren(back, (detail ?? poolDetail).element)
  pane.scrollTop = 0
  history.replaceState(undefined, '', id === 'pool' ? location.pathname : `#/${encodeURIComponent(id)}`)
  void refresh()
  soon()
}

const tree = new Tree(store, select)
const summary = new Summary(store, soon)

function reset(): void {
  search.value = ''
  store.query = ''
  store.states.clear()
  soon()
}

function leave(): void {
  document.body.classList.remove('is-detail')
  tree.focus()
}

back.addEventListener('click', leave)
search.addEventListener('input', () => {
  store.query = search.value
  byId('tree').scrollTop = 0
  soon()
})
addEventListener('keydown', (event) => {
  const isTyping = event.target === search
  if (event.key === 'Escape') {
    if (document.body.classList.contains('is-detail')) leave()
    else reset()
    if (isTyping) tree.focus()
  } else if (isTyping && (event.key === 'ArrowDown' || event.key === 'Enter')) tree.focus()
  else if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return
  else if (event.key === '/') search.focus()
  else if (event.key === 't') byId('theme').click()
  else return
  event.preventDefault()
})

startTheme()
pane.replaceChildren(back, poolDetail.element)
await enter()
const asked = location.hash.startsWith('#/') ? decodeURIComponent(location.hash.slice(2)) : undefined
follow(
  {
    history: (samples) => history_.start(samples),
    sample: (sample) => history_.add(sample),
    pool: (pool) => {
      store.pool = pool
      soon()
    },
    rows: (rows) => {
      store.put(rows)
      soon()
    },
    gone: (ids) => {
      store.drop(ids)
      soon()
    },
    ready: () => {
      store.isReady = true
      soon()
    },
  },
  (isUp) => {
    if (isUp) store.clear()
    isLinked = isUp
    const link = byId('link')
    link.dataset.up = String(isUp)
    setText(link, isUp ? 'live' : 'not connected')
    soon()
  },
)
if (asked !== undefined) {
  tree.select(asked)
  select(asked, true)
}
setInterval(() => {
  soon()
  void refresh()
}, ASK_MILLIS)
