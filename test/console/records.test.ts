import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ApiError } from '@tool-hub/client'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { cutCells, useConsole } from '../support/console-page.ts'

describe('the tools, runs, policy, audit and health of the console', () => {
  const web = useConsole()
  const pathTo = (...names: string[]) => join(web.service.folder.path, ...names)
  const toast = (page: Page, words: string) => page.getByRole('dialog').filter({ hasText: words })

  it('tries a tool: first what would happen, then the call and its result', async () => {
    web.service.folder.write('readme.txt', 'read by a person\n')
    const page = await web.open('/tools')
    const first = page.getByRole('navigation', { name: 'Tools' }).getByRole('link').first()
    expect(await first.getAttribute('aria-current')).toBe('true')
    await page.getByRole('tab', { name: 'About' }).waitFor()
    const legend = page.getByRole('list', { name: 'What the icons mean' })
    await legend.getByText('runs commands').waitFor()
    await page.getByLabel('Search tools').fill('readtext')
    await page.getByRole('link', { name: 'core/fs.readText' }).click()
    await page.getByRole('tab', { name: 'Try it' }).click()
    await page.getByLabel('path').fill('readme.txt')
    const call = page.getByRole('button', { name: 'Call', exact: true })
    expect(await call.isEnabled()).toBe(false)
    await page.getByRole('button', { name: 'What would happen' }).click()
    await page.getByRole('status').filter({ hasText: 'It would run immediately.' }).waitFor()
    await call.click()
    const result = page.getByRole('region', { name: 'The call' })
    await result.getByRole('status').filter({ hasText: 'ok' }).waitFor()
    await result.getByRole('figure', { name: 'Text 1' }).getByText('read by a person').waitFor()
  })

  it('shows in Live what was asked for, and has room for its numbers beside each other and below each other', async () => {
    const page = await web.open('/live')
    web.service.folder.write('asked.txt', 'what it says\n')
    await web.service.agent.call('core/fs.readText', { path: 'asked.txt' })
    await web.service.agent.call('core/memory.recall', { query: 'release day' })
    const rows = page.getByRole('grid', { name: 'Calls' }).getByRole('row')
    await rows
      .filter({ hasText: 'core/fs.readText' })
      .getByRole('gridcell', { name: 'asked.txt', exact: true })
      .waitFor()
    await rows
      .filter({ hasText: 'core/memory.recall' })
      .getByRole('gridcell', { name: 'release day', exact: true })
      .waitFor()
    const strip = page.getByLabel('The last minute', { exact: true })
    await strip.waitFor()
    for (const width of [1400, 1080, 800, 390]) {
      await page.setViewportSize({ width, height: 800 })
      // Every tile with the longest value it gets: none may be wider than its tile, and no tile over another.
      const over = await strip.evaluate((list) => {
        const tiles = [...list.children]
        for (const tile of tiles) tile.querySelector('dd > span')!.textContent = '59.9 min'
        const boxes = tiles.map((tile) => tile.getBoundingClientRect())
        const cut = tiles.filter((tile) => {
          const value = tile.querySelector('dd > span')!.getBoundingClientRect()
          return value.right > tile.getBoundingClientRect().right - 4
        })
        const covered = boxes.filter((box, index) =>
          boxes.some((other, at) => at > index && other.top < box.bottom - 1 && other.left < box.right - 1),
        )
        return { cut: cut.length, covered: covered.length }
      })
      expect(over, `${width} px`).toEqual({ cut: 0, covered: 0 })
    }
  })

  it('shows a call that needs an approval as no failure, in Runs and in Live', async () => {
    const { agent, folder, owner } = web.service
    folder.write('left.txt', 'one\n')
    const edit = { path: 'left.txt', oldText: 'one', newText: 'two' }
    const result = await agent.call('core/fs.edit', edit, { run: 'left', onAsk: 'return' })
    expect(result).toMatchObject({ status: 'approval_required' })
    const page = await web.open('/runs?text=left')
    const run = page.getByRole('grid', { name: 'Runs' }).getByRole('row').filter({ hasText: 'left' })
    await run.getByText('1 waiting').waitFor()
    await page.goto(new URL('/live', page.url()).href)
    const row = page.getByRole('grid', { name: 'Calls' }).getByRole('row').filter({ hasText: 'left.txt' }).first()
    await row.getByText('needs approval').waitFor()
    expect(await row.getAttribute('data-tone')).toBe('warn')
    for (const { id } of await owner.approvals.list())
      await owner.approvals.answer(id, { decision: 'deny', remember: 'once' })
  })

  it('shows a run as a waterfall, with the calls that a call made below it', async () => {
    await web.service.agent.call('test/nests', {}, { run: 'nested' })
    const page = await web.open('/runs')
    await page.getByRole('grid', { name: 'Runs' }).getByRole('link', { name: 'nested' }).click()
    const waterfall = page.getByRole('treegrid', { name: 'Calls of the run' })
    const outer = waterfall.getByRole('row', { name: 'test/nests', level: 1 })
    const inner = waterfall.getByRole('row', { name: 'test/echo', level: 2 })
    await inner.click()
    await page.getByRole('complementary', { name: 'Call test/echo' }).getByText('nested').first().waitFor()
    await outer.getByRole('button', { name: /^Hide the 1 call/ }).click()
    await inner.waitFor({ state: 'hidden' })
  })

  it('lists the files that run by themselves and that a run has changed, each with its call', async () => {
    const { agent, owner } = web.service
    const workflow = { path: '.github/workflows/ci.yml', text: 'on: push', mkdirp: true }
    const asked = agent.call('core/fs.writeText', workflow, { run: 'later' })
    const waiting = () => owner.approvals.list().then((list) => list.find(({ run }) => run === 'later')?.id)
    await expect.poll(waiting).toBeDefined()
    await owner.approvals.answer((await waiting())!, { decision: 'allow', remember: 'once' })
    expect(await asked).toMatchObject({ ok: true })
    const page = await web.open('/runs/later', { profile: { viewport: { width: 390, height: 844 } } })
    const note = page.getByRole('note').filter({ hasText: 'These files run by themselves and were changed' })
    await note.getByText('run or obeyed by a pipeline').waitFor()
    expect(await page.evaluate<number>('document.scrollingElement.scrollWidth - innerWidth')).toBe(0)
    await note.getByRole('link', { name: /ci\.yml$/ }).click()
    await page.getByRole('dialog', { name: 'core/fs.writeText' }).waitFor()
  })

  it('finds runs by text, caller and time, keeps the filters in the address, and removes a run that has ended', async () => {
    const { agent, owner } = web.service
    await agent.call('test/echo', {}, { run: 'searched' })
    await agent.call('test/typed', { path: 'b' }, { run: 'searched-too' })
    await owner.call('test/echo', {}, { run: 'searched-by-owner' })
    const page = await web.open('/runs?text=SEARCHED&within=hour')
    const runs = page.getByRole('grid', { name: 'Runs' })
    const shown = async () => (await runs.getByRole('link').allInnerTexts()).toSorted()
    await expect.poll(shown).toEqual(['searched', 'searched-by-owner', 'searched-too'])
    await page.getByLabel('Caller').selectOption('token:agent')
    await expect.poll(shown).toEqual(['searched', 'searched-too'])
    await page.getByLabel('Search runs').fill('test/typed')
    await expect.poll(shown).toContain('searched-too')
    await expect.poll(shown).not.toContain('searched')
    await page.getByLabel('Time').selectOption('Between two days')
    await page.getByLabel('To', { exact: true }).fill('2020-01-31')
    await page.getByRole('heading', { name: 'No run matches' }).waitFor()
    const address = new URL(page.url())
    expect(Object.fromEntries(address.searchParams)).toMatchObject({ text: 'test/typed', caller: 'token:agent' })
    await page.getByRole('button', { name: 'Clear the filters' }).click()
    await runs.getByRole('link', { name: 'searched', exact: true }).click()
    await page.getByRole('button', { name: 'Remove' }).click()
    await page.getByRole('dialog', { name: 'Remove this run?' }).getByRole('button', { name: 'Remove' }).click()
    await toast(page, 'Run searched was removed').waitFor()
    await expect.poll(shown).toContain('searched-too')
    await expect.poll(shown).not.toContain('searched')
    await expect(owner.runs.get('searched')).rejects.toThrow('not found')
  })

  it('undoes a file change after a look at what that would do', async () => {
    web.service.folder.write('undo.txt', 'before\n')
    const edited = web.service.agent.call(
      'core/fs.edit',
      { path: 'undo.txt', oldText: 'before', newText: 'after' },
      { run: 'undone' },
    )
    await expect.poll(() => web.service.owner.approvals.list()).toHaveLength(1)
    const [ask] = await web.service.owner.approvals.list()
    await web.service.owner.approvals.answer(ask!.id, { decision: 'allow', remember: 'once' })
    expect((await edited).ok).toBe(true)
    const page = await web.open('/runs/undone?tab=changes')
    await page.getByRole('figure', { name: /undo\.txt$/ }).waitFor()
    await page.getByRole('button', { name: 'Undo the whole run' }).click()
    const dialog = page.getByRole('dialog', { name: 'Undo the whole run' })
    await dialog.getByRole('list', { name: 'What would happen' }).getByText('would be restored').waitFor()
    expect(await readFile(pathTo('undo.txt'), 'utf8')).toBe('after\n')
    await dialog.getByRole('button', { name: 'Undo 1 change' }).click()
    await dialog.getByRole('list', { name: 'What was done' }).getByText('restored').waitFor()
    expect(await readFile(pathTo('undo.txt'), 'utf8')).toBe('before\n')
  })

  it('explains a dangerous command with its dangers, and proposes no rule that would let it run unasked', async () => {
    const page = await web.open('/policy?view=explain&tool=core%2Fexec.run')
    const answer = page.getByRole('region', { name: 'Answer' })
    await page.getByLabel('command').fill('rm -rf node_modules')
    await page.getByRole('button', { name: 'Explain', exact: true }).click()
    await answer.getByRole('note').filter({ hasText: 'Risks of this call' }).getByText('Deletes files.').waitFor()
    await answer
      .getByRole('note')
      .getByText(/^Approve it when asked: it deletes files/)
      .waitFor()
    expect(await answer.innerText()).not.toContain('{ allow')
  })

  it('changes a policy after a test on past calls, keeps its comments, and the next call is denied', async () => {
    const call = () => web.service.agent.call('test/typed', { path: 'a' }, { run: 'typed' })
    expect((await call()).ok).toBe(true)
    const page = await web.open('/policy?view=edit')
    const editor = page.getByLabel('Rules of tool-hub.yaml as YAML')
    const text = await editor.inputValue()
    await editor.fill(`${text.trimEnd()}\n  - { deny: test/typed, reason: "not any more" }\n`)
    expect(await page.getByRole('button', { name: 'Save' }).isEnabled()).toBe(false)
    await page.getByRole('button', { name: 'Test on past calls' }).click()
    const changed = page.getByRole('grid', { name: 'Calls whose decision would change' }).getByRole('row')
    await changed.filter({ hasText: 'test/typed' }).filter({ hasText: 'deny' }).first().waitFor()
    await page.getByRole('button', { name: 'Save' }).click()
    const dialog = page.getByRole('dialog', { name: 'Save the rules?' })
    await dialog.getByRole('row').filter({ hasText: 'not any more' }).waitFor()
    await dialog.getByRole('button', { name: 'Save the rules' }).click()
    await toast(page, 'The rules are in effect').waitFor()
    const file = await readFile(pathTo('tool-hub.yaml'), 'utf8')
    expect(file).toContain('# People look at every change first.')
    expect(file).toContain('not any more')
    expect(await call()).toMatchObject({
      status: 'denied',
      error: { message: expect.stringContaining('not any more') },
    })
  })

  it('finds the records whole, and says so when a byte of one was changed', async () => {
    await web.service.agent.call('test/echo', { sum: 100 }, { run: 'touched' })
    const page = await web.open('/audit')
    const verify = page.getByRole('button', { name: 'Verify all runs' })
    await verify.click()
    await page.getByRole('status').filter({ hasText: 'intact' }).waitFor()
    const folder = pathTo('runs', 'touched')
    const name = (await readdir(folder)).find((each) => each.endsWith('.jsonl'))!
    const record = await readFile(join(folder, name), 'utf8')
    await writeFile(join(folder, name), record.replace('"sum":100', '"sum":900'))
    await verify.click()
    await page.getByRole('status').filter({ hasText: 'damaged' }).waitFor()
    const records = page.getByRole('grid', { name: 'Checked records' })
    await records.getByRole('row').filter({ hasText: 'damaged' }).filter({ hasText: 'touched' }).click()
    await page.getByRole('dialog', { name: 'touched' }).getByRole('region', { name: 'Problems' }).waitFor()
    // What is damaged is shown as soon as it is found; the result is kept at the end.
    await page.locator('progress').waitFor({ state: 'detached' })
    await writeFile(join(folder, name), record)
    await page.reload()
    await page
      .getByRole('note')
      .filter({ hasText: /^Last check, .*: 1 of \d+ records were damaged/ })
      .waitFor()
    await page.getByRole('tab', { name: 'Calls' }).click()
    await page.getByLabel('Search calls').fill('test/echo')
    await page.waitForURL(/text=test/)
    const downloading = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export' }).click()
    const saved = await readFile(await (await downloading).path(), 'utf8')
    const tools = saved
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { tool: string }).tool)
    expect(new Set(tools)).toEqual(new Set(['test/echo']))
  })

  it('makes a token whose secret works, also after it was rotated, until it is revoked', async () => {
    const page = await web.open('/live')
    await page.getByRole('link', { name: 'Tokens' }).click()
    await page.getByRole('button', { name: 'New token' }).click()
    const form = page.getByRole('dialog', { name: 'New token' })
    await form.getByLabel('Name').fill('helper')
    await form.getByRole('button', { name: 'Create the token' }).click()
    const shown = page.getByRole('dialog', { name: 'Secret of helper' })
    const secret = await shown.getByRole('figure', { name: 'Secret' }).innerText()
    await shown.getByRole('button', { name: 'I have copied it' }).click()
    const helper = web.service.as(secret.trim())
    expect(await helper.call('test/echo', {})).toMatchObject({ ok: true })
    const tokens = page.getByRole('grid', { name: 'Tokens' })
    await tokens.getByRole('button', { name: 'Rotate helper' }).click()
    const question = page.getByRole('dialog', { name: 'Give this token a new secret?' })
    await question.getByRole('button', { name: 'Rotate' }).click()
    const next = (await shown.getByRole('figure', { name: 'Secret' }).innerText()).trim()
    expect(next).not.toBe(secret.trim())
    await shown.getByRole('button', { name: 'I have copied it' }).click()
    await tokens.getByText('Previous secret until').waitFor()
    for (const client of [helper, web.service.as(next)])
      expect(await client.call('test/echo', {})).toMatchObject({ ok: true })
    await tokens.getByRole('button', { name: 'Revoke helper' }).click()
    await page.getByRole('dialog', { name: 'Revoke this token?' }).getByRole('button', { name: 'Revoke' }).click()
    await toast(page, 'helper is revoked').waitFor()
    await expect(helper.call('test/echo', {})).rejects.toThrow(ApiError)
    const limits = {
      profile: 'coding',
      budget: { calls: 1_000, wallMs: 600_000, bytes: 1e6 },
      rate: { perSecond: 5 },
    } as const
    await web.service.owner.tokens.create({ name: 'limited', scopes: ['call', 'read', 'approve'], ...limits })
    await page.setViewportSize({ width: 1400, height: 800 })
    await page.reload()
    await page.getByRole('grid', { name: 'Tokens' }).getByText('5 requests per second').waitFor()
    expect(await cutCells(page)).toEqual([])
  })

  it('has all sections in reach on a phone: the first ones below the page, every one in a menu', async () => {
    const page = await web.open('/live')
    await page.setViewportSize({ width: 390, height: 844 })
    const bar = page.getByRole('navigation', { name: 'Sections' })
    for (const place of [...(await bar.getByRole('link').all()), bar.getByRole('button', { name: 'Menu' })]) {
      const { x, width } = (await place.boundingBox())!
      expect(x >= 0 && x + width <= 390).toBe(true)
    }
    await bar.getByRole('button', { name: 'Menu' }).click()
    await page.getByRole('navigation', { name: 'All sections' }).getByRole('link', { name: 'Health' }).click()
    await page.getByRole('heading', { level: 1, name: 'Health' }).waitFor()
    await bar.getByRole('button', { name: 'Health, menu of all sections' }).waitFor()
  })

  it('shows rates and how strongly commands are sandboxed', async () => {
    await web.service.agent.call('test/fails', {}, { run: 'rates' })
    const page = await web.open('/health')
    await page.getByRole('figure', { name: 'Calls per minute' }).waitFor()
    await page
      .getByRole('table', { name: 'Errors by tool' })
      .getByRole('row', { name: /test\/fails/ })
      .waitFor()
    const glance = page.locator('dl[aria-label="At a glance"]')
    await glance.getByText('of all runs on disk').waitFor()
    await glance.getByText(/^free of [\d.]+ [KMGT]B$|^nearly full$/).waitFor()
    const { sandbox } = await web.service.owner.health()
    await page.getByRole('region', { name: 'Sandbox' }).getByText(sandbox.level, { exact: true }).waitFor()
  })
})
