import { inflateSync } from 'node:zlib'
import axe from 'axe-core'
import type { Frame, Locator, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { useConsole } from '../support/console-page.ts'
import { startTrap } from '../support/trap.ts'

const CHART = { data: { values: [{ a: 'A', b: 28 }] }, mark: 'bar', encoding: { x: { field: 'a' } } }
const FORM = {
  type: 'object',
  properties: { region: { type: 'string', title: 'Region' }, fast: { type: 'boolean', title: 'Fast' } },
  required: ['region'],
}

describe('the canvas page of the console', () => {
  const web = useConsole()
  const act = (action: string, input: object, run = 'shown') =>
    web.service.agent.call('core/canvas', { action, ...input }, { run })
  const present = async (name: string, kind: string, content: string, title = name) => {
    const { data } = await act('present', { canvas: name, kind, content, title })
    return (data as { canvas: { id: string } }).canvas.id
  }

  it('shows what an agent presents, follows its updates, and steps through the versions', async () => {
    const page = await web.open('/canvas')
    await page.getByRole('heading', { name: 'Nothing is shown' }).waitFor()
    const id = await present('report', 'html', '<h1>First words</h1>', 'The report')
    await page.getByRole('heading', { level: 2, name: 'The report' }).waitFor()
    const words = (text: string) => seen(page.frameLocator('iframe').frameLocator('iframe').getByText(text))
    await words('First words')
    await act('update', { canvas: 'report', content: '<h1>Second words</h1>' })
    await words('Second words')
    await page.getByText('Version 2 of 2').waitFor()
    await page.keyboard.press('[')
    await words('First words')
    await page.waitForURL((url) => url.search === '?version=1')
    await page.getByRole('button', { name: 'Next version' }).click()
    await words('Second words')
    await page.getByRole('button', { name: 'Hide' }).click()
    await page.getByText('Hidden (1)').waitFor()
    await page.getByRole('button', { name: 'Hide' }).waitFor({ state: 'detached' })
    expect(page.url()).toContain(id)
  })

  it('draws Markdown, Mermaid and Vega-Lite in the frame, and says there what is wrong with them', async () => {
    const page = await web.open('/canvas')
    const shown = async (kind: string, content: string) => {
      const name = `${kind}-${content.length}`
      await present(name, kind, content)
      await page.getByRole('link', { name }).click()
      return page.frameLocator('iframe').frameLocator('iframe').locator('#shown')
    }
    const text = await shown('markdown', '# Title\n\n<b>raw</b> [link](https://example.org)')
    await seen(text.getByRole('heading', { name: 'Title' }))
    expect(await text.innerText()).toContain('<b>raw</b>')
    await seen((await shown('mermaid', 'graph LR; ask[Ask] --> do[Do it]')).locator('svg').getByText('Do it'))
    await seen((await shown('vega-lite', JSON.stringify(CHART))).locator('svg'))
    const remote = await shown('vega-lite', JSON.stringify({ ...CHART, data: { url: '/v1/me' } }))
    await seen(remote.getByRole('alert').filter({ hasText: 'data inside' }))
  })

  it('has the colours of the console in dark mode, and a white sheet only below colours of its own', async () => {
    const paths = [
      await present('dark-page', 'html', '<h1>Page</h1>'),
      await present('own-colours', 'html', '<h1 style="color:navy">Page</h1>'),
    ].map((id) => `/canvas/${id}`)
    const page = await web.open(paths[0]!, { profile: { colorScheme: 'dark' } })
    const brightness: number[] = []
    for (const path of paths) {
      await page.goto(`${web.service.url}${path}`)
      await seen(page.frameLocator('iframe').frameLocator('iframe').getByRole('heading'))
      brightness.push(await brightnessOf(page, page.locator('iframe')))
    }
    expect(brightness.map((value) => value > 128)).toEqual([false, true])
  })

  it('takes the answer to a form, which goes to the call that waits', async () => {
    const answered = act('present', { kind: 'form', title: 'Where to?', content: JSON.stringify(FORM) })
    const page = await web.open('/canvas')
    await page.getByRole('link', { name: /Where to/ }).click()
    const form = page.getByRole('region', { name: 'The form' })
    await form.getByRole('button', { name: 'Send' }).click()
    await form.getByLabel('Region').fill('eu')
    await form.getByLabel('Fast').check()
    await form.getByRole('button', { name: 'Send' }).click()
    expect((await answered).data).toMatchObject({ values: { region: 'eu', fast: true }, canvas: { hidden: true } })
    await page.getByRole('heading', { name: 'This form no longer waits for an answer' }).waitFor()
  })

  it('is readable by everybody: axe finds nothing serious, and it fits a phone', async () => {
    const id = await present('seen', 'markdown', '# Seen', 'Seen by everybody')
    await act('update', { canvas: 'seen', content: '# Seen again' })
    const token = await web.service.newToken('looker', ['read'])
    const page = await web.open(`/canvas/${id}`, { token, profile: { reducedMotion: 'reduce' } })
    await page.getByText('Version 2 of 2').waitFor()
    expect(await page.getByRole('button', { name: 'Hide' }).count()).toBe(0)
    await page.evaluate(axe.source)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      expect(await barriers(page)).toEqual([])
    }
    await page.setViewportSize({ width: 360, height: 740 })
    expect(await page.evaluate<number>('document.scrollingElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
    await page.getByRole('link', { name: 'All canvases' }).click()
    await page.getByRole('list', { name: 'Canvases' }).waitFor()
  })

  it('holds a hostile canvas: nothing leaves it, and it reaches nothing, in the console and in a tab of its own', async () => {
    const [trap, control] = await Promise.all([startTrap(), startTrap()])
    const open = await web.open('/live')
    // A profile of its own, since the page is meant to do what is forbidden.
    const context = await open.context().browser()!.newContext()
    try {
      const id = await present('hostile', 'html', trap.html)
      const plain = await context.newPage()
      await plain.goto(`${web.service.url}/#sign-in=${web.service.ownerToken}`)
      await plain.getByRole('navigation', { name: 'Sections' }).waitFor()
      // A trap works: a page that nobody holds falls into it.
      await plain.goto(control.url)
      await plain.evaluate(control.webRtc)
      await expect.poll(() => control.hits()).toEqual(expect.arrayContaining(['GET /', 'udp']))
      for (const path of [`/canvas/${id}`, `/v1/canvases/${id}/view`]) {
        const page = await context.newPage()
        await page.goto(web.service.url + path)
        const frame = await frameOf(page)
        await frame.locator('#done').waitFor({ state: 'attached' })
        // What it tried to read, and what it got for it.
        expect(await frame.locator('#done').textContent()).toBe(trap.expected)
        await frame.evaluate('leave()').catch(() => {})
        await expect.poll(() => frame.url()).toContain('chrome-error')
        expect(page.url()).toBe(web.service.url + path)
        expect(context.pages()).toHaveLength(path.startsWith('/v1') ? 3 : 2)
      }
      expect(trap.hits()).toEqual([])
    } finally {
      await context.close()
      await Promise.all([trap.close(), control.close()])
    }
  })

  it('does not hang with a canvas that never ends', async () => {
    const id = await present('endless', 'html', '<p>begun</p><script>setTimeout(() => { while (true); }, 50)</script>')
    const page = await web.open(`/canvas/${id}`)
    await page.getByRole('heading', { level: 2, name: 'endless' }).waitFor()
    await page.getByRole('link', { name: 'Health' }).click()
    await page.getByRole('heading', { level: 1, name: 'Health' }).waitFor()
  })
})

/** How bright a box is at its lower right corner, from 0 to 255. */
async function brightnessOf(page: Page, box: Locator): Promise<number> {
  const { x, y, width, height } = (await box.boundingBox())!
  const png = await page.screenshot({ clip: { x: x + width - 20, y: y + height - 20, width: 1, height: 1 } })
  const parts: Buffer[] = []
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at))
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT')
      parts.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)))
  // One pixel: a byte for the filter, then red, green and blue.
  const [, red = 0, green = 0, blue = 0] = inflateSync(Buffer.concat(parts))
  return (red + green + blue) / 3
}

/** Waits until it is visible; if the frame is replaced meanwhile, it waits on. */
async function seen(place: Locator): Promise<void> {
  await expect.poll(() => place.isVisible().catch(() => false)).toBe(true)
}

async function barriers(page: Page): Promise<string[]> {
  const options = { resultTypes: ['violations'], iframes: false }
  const { violations } = await page.evaluate<axe.AxeResults>(`axe.run(document, ${JSON.stringify(options)})`)
  return violations.filter(({ impact }) => impact === 'serious' || impact === 'critical').map(({ id }) => id)
}

/** The canvas itself, within the page around it. */
async function frameOf(page: Page): Promise<Frame> {
  const find = () => page.frames().find((frame) => frame.url() === 'about:srcdoc')
  await expect.poll(find).toBeDefined()
  return find()!
}
