import { once } from 'node:events'
import { createServer } from 'node:http'
import { chromium } from 'playwright-core'
import { figure, ratioFigure } from '../lib/figure.mjs'
import { measureInRounds, millisecondsOf } from '../lib/measure.mjs'
import { dataOf, projectHub } from '../lib/ours.mjs'
import { withTempFolder } from '../lib/temp-folder.mjs'

const ROWS = 1_000

/** A snapshot of a page with 5,000 elements: the whole governed call, bounded and kept, beside playwright's own. */
export default async function browserSnapshot({ rounds }) {
  return withTempFolder(async (folder) => {
    const server = createServer((_, response) => response.setHeader('content-type', 'text/html').end(page())).listen(
      0,
      '127.0.0.1',
    )
    await once(server, 'listening')
    const url = `http://127.0.0.1:${server.address().port}/`
    const hub = projectHub({ root: folder, runs: `${folder}/runs` })
    const use = (input) => dataOf(hub.callDynamic('core/browser', input))
    const started = await millisecondsOf(() => use({ action: 'start' }))
    const { executable } = await hub.browser.status()
    await use({ action: 'open', url })
    const browser = await chromium.launch({ executablePath: executable, args: ['--no-sandbox'] })
    const plain = await browser.newPage()
    await plain.goto(url)
    const samples = await measureInRounds(
      {
        async ours() {
          let chars = 0
          const ms = await millisecondsOf(async () => {
            chars = (await use({ action: 'snapshot' })).snapshot.chars
          })
          if (chars < 100_000) throw new Error(`The snapshot has ${chars} characters only.`)
          return ms
        },
        playwright: () => millisecondsOf(() => plain.ariaSnapshot({ mode: 'ai' })),
      },
      { rounds },
    )
    await Promise.all([hub.close(), browser.close()])
    server.close()
    return [
      ratioFigure('snapshot : playwright', samples.ours, samples.playwright, { goal: 2 }),
      figure('snapshot', samples.ours, { unit: 'ms' }),
      figure('playwright', samples.playwright, { unit: 'ms' }),
      figure('start', [started], { unit: 'ms' }),
    ]
  })
}

/** Five elements a row, as in a table of a business page. */
function page() {
  const row = (n) =>
    `<div role=row><span role=cell>Order ${n}</span><a href=/order/${n}>Open ${n}</a><button>Pay ${n}</button><input aria-label="Note ${n}"></div>`
  return `<!doctype html><title>Orders</title><h1>Orders</h1>${Array.from({ length: ROWS }, (_, n) => row(n)).join('')}`
}
