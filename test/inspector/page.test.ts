import assert from 'node:assert/strict'
import { type Browser, chromium, type Page } from 'playwright-core'
import type { PoolOptions } from '../../src/api/options.ts'
import type { Target } from '../../src/api/target.ts'
import { Pool } from '../../src/pool.ts'
import { FakeConnection, unrulyTransport } from '../actors/unruly.ts'
import { makePool, RESTS_LONG, rejection, startHost } from '../pool/world.ts'
import { track } from '../support/hooks.ts'
import { until } from '../support/until.ts'
import { inspect } from './world.ts'

const MANY = process.env.WARREN_LONG === '1' ? 10_000 : 1_000
const LOST = MANY / 2
const number = (count: number) => count.toLocaleString('en-US')

describe('the inspector page in Chromium', function () {
  this.timeout(60_000)
  let browser: Browser
  const troubles: string[] = []

  // One for each test: what it starts and leaves while it runs would be taken for a leak of the pool's.
  beforeEach(async () => {
    browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] })
  })
  afterEach(async () => {
    await browser.close()
    assert.deepEqual(troubles.splice(0), [])
  })

  async function open(url: string, width = 1_280): Promise<Page> {
    const page = await browser.newPage({ viewport: { width, height: 800 } })
    page.on('console', (message) => message.type() === 'error' && troubles.push(message.text()))
    page.on('pageerror', (error) => troubles.push(error.message))
    page.on('request', (request) => {
      if (new URL(request.url()).origin !== new URL(url).origin) troubles.push(`asks elsewhere: ${request.url()}`)
    })
    await page.goto(url)
    await page.getByText('live', { exact: true }).waitFor()
    return page
  }

  it('shows a destination from its opening to its bar, with its statecharts lit, and keeps the token to itself', async () => {
    await using site = await startHost()
    const pool = makePool(RESTS_LONG)
    await using inspector = await inspect(pool)
    const page = await open(inspector.url)
    await page.getByText('No destination yet.').waitFor()
    assert.ok(!page.url().includes(new URL(inspector.url).hash))
    assert.equal(await page.evaluate('document.cookie'), '')
    const lease = await pool.acquire({ ...site.target, label: 'render-7' }, { label: 'nightly build' })
    const row = page.getByRole('treeitem').filter({ hasText: 'render-7' })
    await row.getByText('serving').waitFor()
    await row.click()
    const detail = page.locator('#detail')
    await detail.getByText('nightly build').waitFor()
    await detail.getByText('tcp 127.0.0.1').waitFor()
    assert.deepEqual(
      await detail.locator('#chart-tunnel .state.lit').evaluateAll((lit) => lit.map((state) => state.getAttribute('data-state'))),
      ['open', 'open.leased'],
    )
    lease.release()
    await detail.locator('#chart-tunnel .state.leaf[data-state="open.idle"]').waitFor()
    await detail.locator('#chart-tunnel .edge.taken[data-from="open.leased"][data-to="open.idle"]').waitFor()
    site.host.rotateHostKey()
    site.host.sever()
    await until(() => pool.stats.lost === 1)
    await rejection(pool.acquire(site.target), 'ERR_HOST_KEY')
    await detail.locator('.cause').getByText('ERR_HOST_KEY').waitFor()
    await detail.locator('#chart-destination .state.lit[data-state="barred"]').waitFor()
    await detail.locator('.timeline').getByText('lost', { exact: true }).first().waitFor()
    await page.reload()
    await page.locator('#detail .cause').getByText('ERR_HOST_KEY').waitFor()
    await page.close()
  })

  it('is read and steered by keyboard, in the dark and on a phone', async () => {
    await using site = await startHost()
    await using other = await startHost()
    const pool = makePool()
    await using inspector = await inspect(pool)
    await pool.use({ ...site.target, label: 'alpha' }, () => {})
    await pool.use({ ...other.target, label: 'beta' }, () => {})
    const page = await open(inspector.url, 390)
    await page.getByRole('treeitem').filter({ hasText: 'beta' }).waitFor()
    const overflow = () => page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
    assert.equal(await overflow(), 0)
    await page.keyboard.press('/')
    await page.keyboard.type('BETA')
    await page.getByRole('treeitem').filter({ hasText: 'alpha' }).waitFor({ state: 'detached' })
    await page.keyboard.press('Enter')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowRight')
    await page.getByRole('treeitem', { name: /generation 2/ }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'beta' }).waitFor()
    assert.equal(await overflow(), 0)
    await page.keyboard.press('Escape')
    await page.getByRole('heading', { name: 'beta' }).waitFor({ state: 'hidden' })
    await page.keyboard.press('Escape')
    await page.getByRole('treeitem').filter({ hasText: 'alpha' }).waitFor()
    const ground = () => page.evaluate<string>('getComputedStyle(document.body).backgroundColor')
    const light = await ground()
    await page.emulateMedia({ colorScheme: 'dark' })
    assert.notEqual(await ground(), light)
    await page.keyboard.press('t')
    assert.equal(await ground(), light)
    await page.close()
  })

  it(`stays quick with ${MANY} destinations: only the lines in sight exist`, async () => {
    const lost: FakeConnection[] = []
    const transport = unrulyTransport(
      Object.fromEntries(
        Array.from({ length: MANY }, (_, index) => [
          `host-${index}`,
          async (dial) => {
            const connection = new FakeConnection(dial)
            lost.push(connection)
            return connection
          },
        ]),
      ),
    )
    const options: PoolOptions = { maxTunnels: MANY, drainTimeoutMillis: 0, closeGraceMillis: 5_000 }
    const pool = track(new Pool(options, { transport }))
    const targets: Target[] = Array.from({ length: MANY }, (_, index) => ({
      host: `host-${index}`,
      user: 'fleet',
      identity: { password: 'x' },
      hostKey: 'insecure-accept-any',
      label: `node ${index}`,
    }))
    await pool.warm(targets)
    await using inspector = await inspect(pool)
    const page = await open(inspector.url)
    await page.getByText(`${number(MANY)} destinations`).waitFor()
    assert.ok((await page.getByRole('treeitem').count()) < 60)
    await page.locator('#tree').focus()
    await page.keyboard.press('End')
    await page
      .getByRole('treeitem')
      .filter({ hasText: `node ${MANY - 1}` })
      .waitFor()
    await page.keyboard.press('/')
    const began = performance.now()
    await page.keyboard.type('host-742')
    await page.getByRole('treeitem').filter({ hasText: 'node 742' }).waitFor()
    await until(async () => (await page.getByRole('treeitem').count()) === 2)
    assert.ok(performance.now() - began < 10_000)
    await page.keyboard.press('Escape')
    for (const connection of lost.slice(0, LOST)) connection.lose()
    await page.locator('.filter[data-state="dormant"] b').getByText(number(LOST), { exact: true }).waitFor()
    await page.close()
    await pool.close()
  })
})
