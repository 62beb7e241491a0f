import { describe, expect, it } from 'vitest'
import { askingHub, asksIn } from '../../../../test/support/asking-hub.ts'
import type { WebhookOptions } from '../../../config/src/service.ts'
import { createAnswerPages, hookId, makeAnswerLink } from './answer-links.ts'

const HOOK: WebhookOptions = { url: 'https://chat.example.org/hook', secret: 'a-secret-of-the-first-hook-0123' }
const QUESTIONS: WebhookOptions = {
  url: 'https://forms.example.org/hook',
  secret: 'a-secret-of-the-second-hook-456',
  events: ['question'],
}

function newPages() {
  const { hub, store, clock } = askingHub()
  const pages = createAnswerPages({ hub, store, clock, hooks: [HOOK, QUESTIONS] })
  const sendMail = async () => {
    const result = hub.as({ name: 'token:ada' }).callDynamic('test.sendMail', { to: 'x@example.org' })
    const [ask] = await asksIn(store)
    return { id: ask!.id, link: linkTo(ask!), result }
  }
  const ask = async (question: Record<string, unknown>) => {
    const result = hub.as({ name: 'token:ada' }).callDynamic('test.orderLunch', question)
    const [ask] = await asksIn(store)
    return { link: linkTo(ask!), result }
  }
  return { hub, store, clock, pages, sendMail, ask }
}

function linkTo({ id, expiresAt }: { readonly id: string; readonly expiresAt: number }, hook = HOOK): string {
  return makeAnswerLink({ request: id, hook: hookId(hook.url), expiresAt }, hook.secret)
}

function form(values: Record<string, string>): URLSearchParams {
  return new URLSearchParams(values)
}

describe('a link', () => {
  it('shows the call, however often, and answers it only when the form is sent', async () => {
    const { store, pages, sendMail } = newPages()
    const { id, link, result } = await sendMail()
    for (let look = 0; look < 3; look++) {
      const { status, html } = await pages.show(link)
      expect([status, html.includes('May token:ada call test.sendMail?')]).toEqual([200, true])
    }
    expect(await store.approvals.find(id)).toMatchObject({ state: 'waiting' })
    expect(await pages.answer(link, form({ decision: 'allow', reason: 'fine' }))).toMatchObject({ status: 200 })
    expect(await result).toMatchObject({ ok: true })
    expect((await store.approvals.find(id))!.answer).toMatchObject({ by: 'webhook:chat.example.org', via: 'webhook' })
  })

  it('shows the script that makes the call', async () => {
    const { hub, store, pages } = newPages()
    const code = "const to = 'x@example.org'\nawait tools.test.sendMail({ to })"
    const result = hub.as({ name: 'token:ada' }).callDynamic('core/code.run', { code })
    const [ask] = await asksIn(store)
    const { html } = await pages.show(linkTo(ask!))
    expect(html).toContain('▶ 2  await tools.test.sendMail({ to })')
    await pages.answer(linkTo(ask!), form({ decision: 'allow' }))
    expect((await result).data).toMatchObject({ status: 'completed' })
  })

  it('that was used says who answered, and changes nothing', async () => {
    const { hub, pages, sendMail } = newPages()
    const { id, link, result } = await sendMail()
    await hub.approvals.answer(id, { decision: 'deny', by: 'token:<b>ob' })
    const again = await pages.answer(link, form({ decision: 'allow' }))
    expect(again.status).toBe(409)
    expect(again.html).toContain('token:&#60;b&#62;ob has answered already: deny.')
    expect(again.html).not.toContain('<form')
    expect((await pages.show(link)).html).toContain('has answered already')
    expect((await result).error?.code).toBe('APPROVAL_DENIED')
  })

  it('of nobody opens nothing: changed, signed by another, expired, or for what its hook does not get', async () => {
    const { store, clock, pages, sendMail } = newPages()
    const { id, link } = await sendMail()
    const { expiresAt } = (await store.approvals.find(id))!
    const [hook, ask, until, signature] = link.split('.') as [string, string, string, string]
    const forged = [
      '',
      'constructor',
      `${link}x`,
      `${link}\n`,
      [hook, ask, until, `${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`].join('.'),
      [hook, `${ask}2`, until, signature].join('.'),
      [hook, ask, Number(until) + 1, signature].join('.'),
      [hookId('https://unknown.example.org'), ask, until, signature].join('.'),
      makeAnswerLink({ request: ask, hook, expiresAt }, QUESTIONS.secret),
      linkTo({ id: 'approval-of-nobody', expiresAt }),
      linkTo({ id, expiresAt }, QUESTIONS),
    ]
    for (const bad of forged) {
      expect([bad, (await pages.show(bad)).status]).toEqual([bad, 404])
      expect([bad, (await pages.answer(bad, form({ decision: 'allow' }))).status]).toEqual([bad, 404])
    }
    expect(await store.approvals.find(id)).toMatchObject({ state: 'waiting' })
    await clock.advance(expiresAt - clock.now())
    expect((await pages.show(link)).status).toBe(404)
    expect((await pages.answer(link, form({ decision: 'allow' }))).status).toBe(404)
  })

  it('holds no longer than its ask, whatever it says', async () => {
    const { store, clock, pages, sendMail } = newPages()
    const { id, result } = await sendMail()
    const link = linkTo({ id, expiresAt: clock.now() + 1e9 })
    await clock.advance(60_000)
    expect((await result).error?.code).toBe('APPROVAL_TIMEOUT')
    const late = await pages.answer(link, form({ decision: 'allow' }))
    expect([late.status, late.html.includes('Nobody answered in time.')]).toEqual([409, true])
    expect(await store.approvals.find(id)).toMatchObject({ state: 'expired' })
  })

  it('takes only a clear answer', async () => {
    const { store, pages, sendMail } = newPages()
    const { id, link } = await sendMail()
    for (const bad of [{}, { decision: 'Allow' }, { decision: '' }]) {
      expect((await pages.answer(link, form(bad as Record<string, string>))).status).toBe(400)
    }
    expect(await store.approvals.find(id)).toMatchObject({ state: 'waiting' })
  })
})

describe('the link of a question', () => {
  it('takes an option as it was offered, or a text', async () => {
    const { pages, ask } = newPages()
    const odd = 'so\u200bup & "rice"\r\n'
    const { link, result } = await ask({ question: 'Lunch?', options: ['salad', odd] })
    const { html } = await pages.show(link)
    expect(html).toContain('<button name="option" value="1">so\\u{200b}up &#38; &#34;rice&#34;')
    expect((await pages.answer(link, form({ option: '7' }))).status).toBe(400)
    expect((await pages.answer(link, form({ answer: '' }))).status).toBe(400)
    expect((await pages.answer(link, form({ option: '1' }))).status).toBe(200)
    expect((await result).data).toBe(odd)
    const text = newPages()
    const free = await text.ask({ question: 'Lunch?' })
    expect((await text.pages.answer(free.link, form({ answer: 'rice' }))).status).toBe(200)
    expect((await free.result).data).toBe('rice')
  })

  it('takes the fields of a form, if they fit it', async () => {
    const { pages, ask } = newPages()
    const { link, result } = await ask({
      question: 'What shall it be?',
      form: {
        type: 'object',
        properties: {
          'dish"><script>': { type: 'string', title: 'Dish <b>' },
          guests: { type: 'integer', minimum: 1 },
          hot: { type: 'boolean' },
          size: { type: 'string', enum: ['small', 'large'] },
          sides: { type: 'array', items: { type: 'string', enum: ['rice', 'beans', 'bread'] } },
          note: { type: 'string' },
        },
        required: ['guests', 'hot'],
      },
    })
    const { html } = await pages.show(link)
    expect(html).toContain('Dish &#60;b&#62;')
    expect(html).not.toMatch(/<script|<b>/)
    const few = await pages.answer(link, form({ 'field-1': '0', 'field-2': '0' }))
    expect([few.status, few.html.includes('That cannot be taken')]).toEqual([400, true])
    const sent = form({ 'field-0': 'stew', 'field-1': '4', 'field-2': '1', 'field-3': '1', 'field-5': '' })
    for (const side of ['0', '2', '9', 'constructor']) sent.append('field-4', side)
    expect((await pages.answer(link, sent)).status).toBe(200)
    expect((await result).data).toEqual({
      'dish"><script>': 'stew',
      guests: 4,
      hot: false,
      size: 'large',
      sides: ['rice', 'bread'],
    })
  })
})
