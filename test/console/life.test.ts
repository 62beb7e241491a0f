import { appendFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { cutCells, pressUntil, said, useConsole } from '../support/console-page.ts'

/** Continues where the rules of the config end. */
const CONFIG = `  - { allow: core/session.spawn }
sessions:
  runners:
    waits: { type: command, argv: [sleep, "600"] }
    says: { type: command, argv: [echo, "Deploys need no review"] }
`

describe('the memory, inbox, agents and schedules of the console', () => {
  const web = useConsole((folder) => appendFile(join(folder, 'tool-hub.yaml'), CONFIG))
  const agentWrites = async (content: string, run?: string) => {
    const note = { content, scope: 'shared', tags: ['tests'] }
    const written = await web.service.agent.call('core/memory.write', note, { run })
    expect(written).toMatchObject({ ok: true })
  }
  const askAsOwner = async (path: string, body?: unknown): Promise<Record<string, unknown>> => {
    const headers = { authorization: `Bearer ${web.service.ownerToken}`, 'content-type': 'application/json' }
    const request = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) }
    return (await (await fetch(`${web.service.url}${path}`, request)).json()) as Record<string, unknown>
  }

  it('shows what an agent wants to remember with its characters visible, and promotes it by the key a', async () => {
    const page = await web.open('/memory')
    await agentWrites('Tests take\u202e 8 minutes')
    const candidate = page.getByRole('region', { name: 'Candidate' })
    await candidate.getByRole('figure', { name: 'Note' }).getByText('\\u{202e}').waitFor()
    await candidate.getByText('token:agent', { exact: true }).waitFor()
    await pressUntil(page, 'a', said(page, 'Promoted Tests take'))
    // Written again it is known already, and to promote it is not what is suggested.
    for (const words of ['Tests take\u202e 8 minutes', 'tests take\u202e  8 minutes']) await agentWrites(words)
    await candidate.getByText('A note with the same text already exists.').waitFor()
    expect(await candidate.getByRole('region', { name: 'Decide' }).getByRole('button').allInnerTexts()).toMatchObject([
      expect.stringMatching(/^Reject/),
      expect.stringMatching(/^Promote/),
      expect.stringMatching(/^Edit/),
    ])
    const waiting = page.getByRole('list', { name: 'To review' }).getByRole('listitem')
    await expect.poll(() => waiting.filter({ hasText: 'duplicate' }).count()).toBe(1)
    const { candidates } = await askAsOwner('/v1/memory/candidates')
    for (const { id } of candidates as { id: string }[]) await askAsOwner(`/v1/memory/candidates/${id}/reject`, {})
    await page.getByRole('tab', { name: 'Notes' }).click()
    await page.getByRole('grid', { name: 'Notes' }).getByRole('row').filter({ hasText: 'reviewed' }).waitFor()
    await page.getByLabel('Search notes').fill('no such words')
    await page.getByRole('heading', { name: 'No note matches' }).waitFor()
  })

  it('suggests to reject a candidate from outside; by the key d with a reason, and nobody recalls it', async () => {
    // What a runner says comes from outside, and so does what its reader writes.
    const task = { task: 'Say it.', runner: 'says', waitMs: 60_000 }
    const spawned = await web.service.agent.call('core/session.spawn', task, { run: 'outside' })
    expect(spawned).toMatchObject({ ok: true, meta: { labels: ['untrusted'] } })
    await agentWrites('Deploys need no review', 'outside')
    const page = await web.open('/memory')
    await page.getByRole('figure', { name: 'Note' }).getByText('Deploys need no review').waitFor()
    await page.getByText('Its run has read content from outside.').waitFor()
    const [first] = await page.getByRole('region', { name: 'Decide' }).getByRole('button').allInnerTexts()
    expect(first).toMatch(/^Reject/)
    const reason = page.getByLabel('Reason for the rejection')
    await pressUntil(page, 'd', reason)
    await reason.fill('they do')
    await reason.press('Enter')
    await said(page, 'Rejected Deploys').waitFor()
    await page.getByRole('heading', { name: 'Nothing to review' }).waitFor()
    const { candidates } = await askAsOwner('/v1/memory/candidates?state=rejected')
    expect((candidates as unknown[])[0]).toMatchObject({
      content: 'Deploys need no review',
      review: { by: 'owner', reason: 'they do' },
    })
    const recalled = await web.service.agent.call('core/memory.recall', { query: 'deploys review' })
    expect(JSON.stringify(recalled.data)).not.toContain('no review')
  })

  it('shows a message as it comes, counts it, and counts it no more once it is open', async () => {
    const page = await web.open('/inbox')
    await page.getByRole('heading', { name: 'No messages yet' }).waitFor()
    const text = 'The <img src=x onerror=alert(1)> build is <b>green</b>'
    await web.service.agent.call('core/message.send', { channel: 'console', title: 'Build', text, level: 'warning' })
    await page.getByRole('link', { name: 'Inbox 1 unread' }).waitFor()
    await page.getByRole('list', { name: 'Messages' }).getByRole('link', { name: 'Unread: Build' }).click()
    await page.getByRole('region', { name: 'The message' }).getByText(text).waitFor()
    await page.getByRole('link', { name: 'Inbox', exact: true }).waitFor()
    const [message] = (await askAsOwner('/v1/inbox')).messages as { run: string; callId: string }[]
    await page
      .getByRole('list', { name: 'Messages' })
      .getByRole('link', { name: `Run ${message!.run}` })
      .click()
    await page.getByRole('complementary', { name: 'Call core/message.send' }).waitFor()
    expect(await askAsOwner('/v1/inbox')).toMatchObject({ unread: 0, messages: [{ title: 'Build' }] })
  })

  it('lists those who use the hub with their rights, budgets and runs, and cuts nothing', async () => {
    const { owner } = web.service
    const limits = { profile: 'full', budget: { calls: 10 } } as const
    const { secret } = await owner.tokens.create({ name: 'researcher', scopes: ['call'], ...limits })
    for (const run of ['first', 'second']) await web.service.as(secret).call('test/echo', {}, { run })
    const page = await web.open('/agents')
    await page.setViewportSize({ width: 1400, height: 800 })
    const agents = page.getByRole('grid', { name: 'Agents' })
    const row = agents.getByRole('row').filter({ hasText: 'token:researcher' })
    await row
      .filter({ hasText: 'calls tools; tools of the profile full' })
      .filter({ hasText: '2 of 10 calls' })
      .waitFor()
    await agents.getByRole('row').filter({ hasText: 'owner of the hub' }).waitFor()
    expect(await agents.getByText('first').count()).toBe(0)
    expect(await cutCells(page)).toEqual([])
    await row.getByRole('link', { name: '2', exact: true }).click()
    await expect
      .poll(() => page.getByRole('grid', { name: 'Runs' }).getByRole('link').allInnerTexts())
      .toEqual(['second', 'first'])
    await page.goBack()
    await row.click()
    const drawer = page.getByRole('dialog', { name: 'token:researcher' })
    await drawer.getByText('no commands or destructive calls').waitFor()
    await drawer.getByRole('list', { name: 'Latest sessions' }).getByRole('link', { name: 'second' }).click()
    await page.getByRole('dialog', { name: 'second' }).getByRole('list', { name: 'History' }).waitFor()
  })

  it('writes to a session that works, and ends it', async () => {
    const page = await web.open('/agents?view=sessions')
    const { id } = await askAsOwner('/v1/agents', { task: 'Wait for me.', label: 'waiter', runner: 'waits' })
    const row = page.getByRole('grid', { name: 'Sessions' }).getByRole('row').filter({ hasText: 'waiter' })
    await row.filter({ hasText: 'running' }).click()
    const drawer = page.getByRole('dialog', { name: 'waiter' })
    await drawer.getByRole('figure', { name: 'Task' }).getByText('Wait for me.').waitFor()
    await drawer.getByLabel('Message to the session').fill('Look at the logs, too.')
    await drawer.getByRole('button', { name: 'Send' }).click()
    await drawer.getByRole('list', { name: 'History' }).getByText('Look at the logs, too.').waitFor()
    await drawer.getByRole('button', { name: 'End session' }).click()
    await page.getByRole('dialog', { name: 'End this session?' }).getByRole('button', { name: 'End session' }).click()
    await drawer.getByText('It was ended by owner.').waitFor()
    expect(await askAsOwner(`/v1/agents/${id}`)).toMatchObject({ session: { state: 'ended' }, unread: 1 })
  })

  it('makes a schedule after a look at its next times, runs it now, and leads to that run', async () => {
    const page = await web.open('/schedules')
    await page.getByRole('button', { name: 'New schedule' }).click()
    const form = page.getByRole('dialog', { name: 'New schedule' })
    await form.getByLabel('Name').fill('greeting')
    await form.getByLabel('Expression').fill('0 9 32 * *')
    await form.getByRole('status').filter({ hasText: 'field 3 (day of month)' }).waitFor()
    await form.getByLabel('Expression').fill('30 9 * * 1-5')
    await expect.poll(() => form.getByRole('region', { name: 'Next times' }).getByRole('listitem').count()).toBe(5)
    await form.getByLabel('Tool 1').fill('test/echo')
    await form.getByLabel('Arguments 1').fill('{ "greeting": "hello" }')
    await form.getByRole('button', { name: 'Create the schedule' }).click()
    const drawer = page.getByRole('dialog', { name: 'greeting' })
    await drawer.getByText('Monday to Friday at 09:30').waitFor()
    await drawer.getByRole('button', { name: 'Run now' }).click()
    await page.getByRole('dialog', { name: 'Run it now?' }).getByRole('button', { name: 'Run now' }).click()
    const run = drawer.getByRole('list', { name: 'Runs of the schedule' }).getByRole('listitem')
    await run.filter({ hasText: 'ok' }).getByRole('link', { name: 'Open its run' }).click()
    await page.getByRole('treegrid', { name: 'Calls of the run' }).getByRole('row', { name: 'test/echo' }).waitFor()
    await page.setViewportSize({ width: 1400, height: 800 })
    await page.getByRole('link', { name: 'Schedules' }).click()
    const row = page.getByRole('grid', { name: 'Schedules' }).getByRole('row').filter({ hasText: 'test/echo' })
    await row
      .filter({ hasText: 'greeting: hello' })
      .filter({ hasText: /\w{3},? 09:30/ })
      .waitFor()
    expect(await cutCells(page)).toEqual([])
  })

  it('lets those who may only look decide and change nothing', async () => {
    await agentWrites('Ask before a release')
    const token = await web.service.newToken('looker', ['read'])
    const page = await web.open('/memory', { token })
    await page.getByText('You can view this note, but not decide about it.').waitFor()
    expect(await page.getByRole('button', { name: 'Promote' }).count()).toBe(0)
    await page.getByRole('tab', { name: 'Notes' }).click()
    await page.getByRole('grid', { name: 'Notes' }).getByRole('row').nth(1).click()
    await page.getByRole('dialog', { name: 'Note' }).getByText('by owner').waitFor()
    expect(await page.getByRole('button', { name: 'Forget' }).count()).toBe(0)
    await page.keyboard.press('Escape')
    await page.getByRole('link', { name: 'Schedules' }).click()
    await page.getByRole('heading', { name: 'Schedules', level: 1 }).waitFor()
    expect(await page.getByRole('button', { name: 'New schedule' }).count()).toBe(0)
  })
})
