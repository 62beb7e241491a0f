import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { pressUntil, said, useConsole } from '../support/console-page.ts'

/** Changes three files: two at a time, and then a third one. */
const EDITS = `// Renames what is in the files.
const rename = (path: string) =>
  tools.core.fs.edit({ path, oldText: 'two', newText: 'TWO' })
    .then(() => 'changed', (error) => error.code)

const both = await Promise.all([
  tools.core.fs.edit({ path: input[0], oldText: 'two', newText: 'first' }).then(() => 'changed', ({ code }) => code),
  tools.core.fs.edit({ path: input[1], oldText: 'two', newText: 'second' }).then(() => 'changed', ({ code }) => code),
])
return [...both, await rename(input[2])]`

describe('the approvals of a script', () => {
  const web = useConsole()
  /** As an agent does: a script that is suspended, because the answers take long, is continued. */
  const run = async (names: readonly string[], code = EDITS) => {
    for (const name of names) web.service.folder.write(name, 'one\ntwo\nthree\n')
    const options = { run: 'scripts' }
    let result = await web.service.agent.call('core/code.run', { code, input: names }, options)
    for (;;) {
      const { script, status } = result.data as { script: string; status: string }
      if (status !== 'suspended' && status !== 'running') return result
      result = await web.service.agent.call('core/code.wait', { script }, options)
    }
  }
  const textOf = (file: string) => readFile(join(web.service.folder.path, file), 'utf8')
  const waiting = () => web.service.owner.approvals.list()

  it('are one card with the script, the lines that wait and each diff, and each is answered on its own', async () => {
    const page = await web.open('/approvals')
    const result = run(['a.txt', 'b.txt', 'c.txt'])
    const rows = page.getByRole('list', { name: 'Waiting' }).getByRole('link')
    await rows.filter({ hasText: 'Script: 2 calls' }).waitFor()
    expect(await rows.count()).toBe(1)
    const source = page.getByRole('figure', { name: 'Script' })
    await source.getByRole('row', { name: /^7 .* waits$/ }).waitFor()
    await source.getByRole('row', { name: /^8 .* waits$/ }).waitFor()
    expect(await source.getByRole('row', { name: /waits/ }).count()).toBe(2)
    await page.getByRole('figure', { name: 'Changes of a.txt' }).getByText('first').waitFor()
    const second = page.getByRole('region', { name: 'core/fs.edit, line 8' })
    await second.getByRole('figure', { name: 'Changes of b.txt' }).waitFor()
    await second.getByText('a person looks at every change').waitFor()
    await second.getByRole('button', { name: 'Deny' }).click()
    await second.getByLabel('Reason for the denial').fill('not this one')
    await second.getByRole('button', { name: 'Deny' }).click()
    await second.getByText('Denied by owner via console').waitFor()
    // The other one still waits, on the same card.
    await rows.filter({ hasText: 'Script: 1 call' }).waitFor()
    expect(await source.getByRole('row', { name: /waits/ }).count()).toBe(1)
    await pressUntil(page, 'a', said(page, 'Allowed core/fs.edit'))
    // The script continues, and asks again: it is the same card.
    await rows.filter({ hasText: 'Script: 1 call' }).waitFor()
    await rows.first().click()
    await source.getByRole('row', { name: /^3 .* waits$/ }).waitFor()
    await page.getByRole('figure', { name: 'Changes of c.txt' }).waitFor()
    await page.getByRole('button', { name: 'Allow' }).first().click()
    expect((await result).data).toMatchObject({
      status: 'completed',
      value: ['changed', 'APPROVAL_DENIED', 'changed'],
    })
    expect(await textOf('a.txt')).toBe('one\nfirst\nthree\n')
    expect(await textOf('b.txt')).toBe('one\ntwo\nthree\n')
    expect(await textOf('c.txt')).toBe('one\nTWO\nthree\n')
  })

  it('are allowed by one answer after a second look, and what was not is shown', async () => {
    const names = ['d.txt', 'e.txt', 'f.txt']
    const result = run(
      names,
      `return Promise.all(input.map((path) =>
  tools.core.fs.edit({ path, oldText: 'two', newText: '2' }).then(() => 'changed', ({ code }) => code)))`,
    )
    await expect.poll(waiting).toHaveLength(3)
    const page = await web.open('/approvals')
    await page.getByRole('row', { name: /^2 .* 3 wait$/ }).waitFor()
    const answers: string[] = []
    page.on('request', (request) => {
      if (request.method() === 'POST' && request.url().includes('/v1/approvals/')) answers.push(request.url())
    })
    const dialog = page.getByRole('dialog', { name: 'Allow 3 calls of the script?' })
    await pressUntil(page, 'A', dialog)
    const listed = dialog.getByRole('list', { name: 'Calls to allow' }).getByRole('listitem')
    expect(await listed.count()).toBe(3)
    for (const name of names) await listed.filter({ hasText: name }).waitFor()
    expect(answers).toEqual([])
    // Somebody else answers one of them while the answers are on their way.
    const late = (await waiting()).find(({ targets }) => targets[0]!.endsWith('f.txt'))!
    await page.route(`**/v1/approvals/${late.id}`, async (route) => {
      if (route.request().method() === 'POST')
        await web.service.owner.approvals.answer(late.id, { decision: 'deny', reason: 'first' })
      await route.continue()
    })
    await expect
      .poll(() => dialog.getByRole('button', { name: 'Allow 3 calls' }).getAttribute('aria-disabled'))
      .toBeNull()
    await dialog.getByRole('button', { name: 'Allow 3 calls' }).dblclick()
    const outcome = page.getByRole('dialog', { name: 'Not all were allowed' })
    await outcome.getByText('2 of 3 were allowed.').waitFor()
    await outcome.getByText('owner was first').waitFor()
    await outcome.getByRole('button', { name: 'Close' }).last().click()
    expect(answers).toHaveLength(3)
    expect((await result).data).toMatchObject({ value: ['changed', 'changed', 'APPROVAL_DENIED'] })
  })

  it('are updated when somebody else answers, and denied together with one reason', async () => {
    const names = ['g.txt', 'h.txt', 'i.txt']
    const code = `return Promise.all(input.map((path) =>
  tools.core.fs.edit({ path, oldText: 'two', newText: '2' }).catch(({ message }) => message)))`
    const result = run(names, code)
    await expect.poll(waiting).toHaveLength(3)
    const [first] = (await waiting()).toSorted((a, b) => a.script!.seq - b.script!.seq)
    // The address of one of the calls leads to the card.
    const page = await web.open(`/approvals/${first!.id}`)
    await page.waitForURL(`**/approvals/script-${first!.script!.id}`)
    const own = page.getByRole('region', { name: 'core/fs.edit, line 2' }).first()
    await own.getByRole('button', { name: 'Allow' }).waitFor()
    const other = web.service.as(await web.service.newToken('colleague', ['read', 'approve']))
    await other.approvals.answer(first!.id, { decision: 'deny', remember: 'once', reason: 'mine' })
    await own.getByText('Denied by token:colleague').waitFor()
    expect(await own.getByRole('button', { name: 'Allow' }).count()).toBe(0)
    await page.getByRole('button', { name: 'Deny all 2' }).click()
    const dialog = page.getByRole('dialog', { name: 'Deny 2 calls of the script?' })
    await dialog.getByLabel('Reason for all of them').fill('wrong branch')
    await dialog.getByRole('button', { name: 'Deny 2 calls' }).click()
    await said(page, 'Denied 2 calls').waitFor()
    const { value } = (await result).data as { value: string[] }
    expect(value[0]).toContain('mine')
    expect(value.slice(1).every((words) => words.includes('wrong branch'))).toBe(true)
    await page.getByRole('link', { name: 'Answered' }).click()
    await page.getByRole('figure', { name: 'Script' }).waitFor()
  })

  it('lead to the script, whose calls say which line made them', async () => {
    const result = run(['m.txt'], "\nreturn tools.core.fs.edit({ path: input[0], oldText: 'two', newText: '2' })")
    await expect.poll(waiting).toHaveLength(1)
    const [request] = await waiting()
    await web.service.owner.approvals.answer(request!.id, { decision: 'allow' })
    await result
    const page = await web.open(`/runs/scripts/${request!.callId}`)
    await page.getByText('line 2 of').waitFor()
    await page.getByRole('link', { name: request!.script!.id, exact: true }).first().click()
    await page.getByRole('figure', { name: 'Script' }).getByText('return tools.core.fs.edit').waitFor()
  })

  it('are not needed for a script that is tried in the console, whose result is readable', async () => {
    const page = await web.open('/tools/core%2Fcode.run?tab=try')
    const code = "console.log('hello')\nawait tools.test.echo({ text: 'a' }).catch(() => {})\nreturn [1, 2]"
    await page.getByRole('textbox', { name: 'code' }).fill(code)
    await page.getByRole('button', { name: 'What would happen' }).click()
    const call = page.getByRole('button', { name: 'Call', exact: true })
    await call.and(page.locator(':not([aria-disabled]):not(:disabled)')).click()
    await page.getByText('completed', { exact: true }).waitFor()
    await page.getByRole('figure', { name: 'Logs' }).getByText('hello').waitFor()
    const calls = page.getByRole('table', { name: 'Calls of the script' })
    await calls.getByRole('row').filter({ hasText: 'test/echo' }).filter({ hasText: '2' }).waitFor()
  })

  it('say so if the source is not there, and if the script is suspended', async () => {
    const result = run(['j.txt', 'k.txt', 'l.txt'])
    await expect.poll(waiting).toHaveLength(2)
    const page = await web.open('/approvals', { profile: {} })
    await page.route('**/v1/approvals/approval-*', async (route) => {
      const response = await route.fetch()
      const approval = await response.json()
      delete approval.script.source
      await route.fulfill({ response, json: { ...approval, isLeft: true } })
    })
    await page.reload()
    await page.getByRole('note').filter({ hasText: 'The source of the script is not available.' }).waitFor()
    expect(await page.getByRole('note').filter({ hasText: 'The script is suspended.' }).count()).toBe(1)
    await page.getByRole('figure', { name: 'Changes of j.txt' }).waitFor()
    for (const { id } of await waiting()) await web.service.owner.approvals.answer(id, { decision: 'deny' })
    await expect.poll(waiting).toHaveLength(1)
    for (const { id } of await waiting()) await web.service.owner.approvals.answer(id, { decision: 'deny' })
    await result
  })
})
