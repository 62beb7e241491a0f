import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { useConsole } from '../support/console-page.ts'

/** A tool that reads from outside, and one that sends. */
const PLUGIN = `
const closed = (properties) => ({ type: 'object', properties, additionalProperties: false })
const text = { type: 'string' }
export default {
  name: 'mail',
  tools: [
    { name: 'mail/read', description: 'Reads mail.', input: closed({}), capabilities: [], results: 'outside', execute: () => 'hi' },
    { name: 'mail/send', description: 'Sends mail.', input: closed({ to: text, body: text }), capabilities: ['remote'], results: 'own', execute: () => 'sent' },
    { name: 'mail/post', description: 'Posts.', input: closed({ to: text, body: text }), capabilities: ['remote'], results: 'own', execute: () => 'sent' },
  ],
}
`

describe('content from outside, approved values and suggested rules in the console', () => {
  const web = useConsole(async (folder) => {
    await writeFile(join(folder, 'mail.mjs'), PLUGIN)
    const file = join(folder, 'tool-hub.yaml')
    const config = (await readFile(file, 'utf8')).replace('./plugin.mjs', './plugin.mjs, ./mail.mjs')
    const rules = '  - { allow: "mail/*" }\n  - { ask: mail/send, when: { tainted: true } }\n  - { ask: mail/post }\n'
    await writeFile(file, `${config}${rules}`)
  })
  const toast = (page: Page, words: string) => page.getByRole('dialog').filter({ hasText: words })
  const readMail = (run: string) => web.service.agent.call('mail/read', {}, { run, userText: 'Read my mail.' })

  it('shows what a run has read, and lets approvers clear its taint with a reason', async () => {
    await readMail('mail')
    const [reader, approver] = await Promise.all([
      web.service.newToken('viewer', ['read']),
      web.service.newToken('boss', ['read', 'approve']),
    ])
    const tainted = (page: Page) =>
      page
        .getByRole('note')
        .filter({ hasText: 'This run has read content from outside' })
        .filter({ hasText: 'mail/read' })
    const seen = await web.open('/runs/mail', { token: reader })
    await tainted(seen).waitFor()
    expect(await seen.getByRole('button', { name: /Clear taint/ }).count()).toBe(0)
    const page = await web.open('/runs/mail', { token: approver })
    await tainted(page).getByRole('button', { name: 'Clear taint…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Clear the taint of this run?' })
    await dialog.getByText(/no longer need approval because of content from outside/).waitFor()
    const clear = dialog.getByRole('button', { name: 'Clear taint' })
    expect(await clear.isDisabled()).toBe(true)
    await dialog.getByLabel('Reason').fill('I have read the mail.')
    await clear.click()
    await toast(page, 'The taint was cleared').waitFor()
    const cleared = page.getByRole('note').filter({ hasText: 'Taint cleared by token:boss' })
    await cleared.getByText('I have read the mail.').waitFor()
    await cleared.getByText('mail/read').waitFor()
    expect(await tainted(page).count()).toBe(0)
    await readMail('mail')
    await tainted(page).waitFor()
  })

  it('names the arguments without evidence, and remembers a value for an argument', async () => {
    const send = (to: string) => web.service.agent.call('mail/send', { to, body: 'hello' }, { run: 'sends' })
    await readMail('sends')
    const asked = send('eve@example.org')
    const page = await web.open('/approvals')
    await page.getByRole('link', { name: /mail\/send/ }).click()
    await page.getByText('Nothing shows that the user chose: to').waitFor()
    await page.getByLabel('Remember', { exact: true }).selectOption('Always')
    await page.getByLabel('to "eve@example.org" of mail/send, if everything else comes from the user').check()
    await page.getByRole('button', { name: 'Allow' }).click()
    expect(await asked).toMatchObject({ ok: true })
    expect(await send('eve@example.org')).toMatchObject({ ok: true })
  })

  it('suggests a rule for approved calls, which is added to the text, tested and saved', async () => {
    const { owner, agent } = web.service
    const post = () => agent.call('mail/post', { to: 'ada@example.org', body: 'milk' }, { run: 'posts' })
    for (let made = 0; made < 2; made++) {
      const asked = post()
      const waiting = () => owner.approvals.list().then((list) => list.find(({ tool }) => tool === 'mail/post')?.id)
      await expect.poll(waiting).toBeDefined()
      await owner.approvals.answer((await waiting())!, { decision: 'allow', remember: 'once' })
      expect(await asked).toMatchObject({ ok: true })
    }
    const page = await web.open('/policy?view=suggestions')
    const rule = '{ allow: "mail/post", where: { to: "ada@example.org" }, when: { tainted: false } }'
    const card = page.getByRole('region', { name: 'Saves 2 approvals' })
    await card.getByText(rule).waitFor()
    await card.getByText('of posts').first().waitFor()
    await page.getByText(/rules are compared with \d+ calls of \d+ runs/).waitFor()
    await card.getByRole('button', { name: 'Add to the policy' }).click()
    const editor = page.getByLabel('Rules of tool-hub.yaml as YAML')
    expect(await editor.inputValue()).toContain(`  - { ask: mail/post }\n  - ${rule}\n`)
    await page.getByRole('tab', { name: 'Suggestions' }).click()
    await page.getByRole('link', { name: 'It is in your text' }).click()
    await page.getByRole('button', { name: 'Test on past calls' }).click()
    await page.getByRole('grid', { name: 'Calls whose decision would change' }).waitFor()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('dialog', { name: 'Save the rules?' }).getByRole('button', { name: 'Save the rules' }).click()
    await toast(page, 'The rules are in effect').waitFor()
    expect(await post()).toMatchObject({ ok: true })
    await page.getByRole('tab', { name: 'Suggestions' }).click()
    await page.getByRole('heading', { name: 'There is nothing to suggest' }).waitFor()
  })
})
