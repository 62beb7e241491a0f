import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { Approval, QuestionEntry } from '../../../core/src/protocol/approvals.ts'
import { ANSWER_PAGE_CSP, approvalPage, plainPage, questionPage } from './answer-page.ts'

/** Markup, an attribute that would close, a bidi override, an escape sequence, something invisible. */
const HOSTILE = `<img src=x onerror="alert('1')">&amp;\u202egnp.exe\u001b[2J\u200b\u0000`

const COMMON = {
  id: 'approval-1',
  callId: 'call-1',
  run: 'run-1',
  tool: HOSTILE,
  caller: HOSTILE,
  askedAt: '2026-11-15T00:00:00.000Z',
  expiresAt: '2026-11-15T01:00:00.000Z',
  state: 'waiting' as const,
  isOrphan: false,
  mayAnswer: true,
}
const APPROVAL: Approval = {
  ...COMMON,
  input: { [HOSTILE]: HOSTILE },
  targets: [HOSTILE],
  rule: HOSTILE,
  reason: HOSTILE,
  purpose: HOSTILE,
  requests: [HOSTILE],
  labels: [HOSTILE as never],
  taintedBy: [HOSTILE],
  unproven: [HOSTILE],
  views: [
    { kind: 'diff', path: HOSTILE, diff: `+${HOSTILE}`, isNew: true },
    { kind: 'url', url: HOSTILE, addresses: [HOSTILE] },
    { kind: 'url', url: HOSTILE, addresses: [], problem: HOSTILE },
    {
      kind: 'command',
      command: HOSTILE,
      cwd: HOSTILE,
      parts: [{ text: HOSTILE, effect: 'ask', rule: HOSTILE, decides: true }],
    },
  ],
  history: [{ callId: 'call-0', tool: HOSTILE, status: HOSTILE as never, summary: HOSTILE }],
  coverage: { exact: HOSTILE },
  hash: 'h',
}
const QUESTION: QuestionEntry = {
  ...COMMON,
  question: HOSTILE,
  context: HOSTILE,
  options: [HOSTILE],
  defaultAnswer: HOSTILE,
}
const FORM = {
  type: 'object',
  properties: {
    [HOSTILE]: { type: 'string', title: HOSTILE, description: HOSTILE, enum: [HOSTILE] },
    b: { type: 'array', items: { anyOf: [{ const: HOSTILE, title: HOSTILE }] } },
  },
}
const answered = { by: HOSTILE, via: HOSTILE, at: COMMON.askedAt, decision: HOSTILE }

const PAGES = {
  approval: approvalPage(APPROVAL),
  answered: approvalPage({ ...APPROVAL, state: 'answered', answered }),
  script: approvalPage({ ...APPROVAL, script: { id: HOSTILE, sha256: '0', seq: 1, line: 2 } }, `a\n${HOSTILE}\nb`),
  question: questionPage(QUESTION),
  form: questionPage({ ...QUESTION, form: FORM }),
  over: questionPage({ ...QUESTION, state: 'answered', answered }),
  plain: plainPage(HOSTILE, HOSTILE),
}

describe.each(Object.entries(PAGES))('the page of %s', (_, html) => {
  it('shows what strangers wrote as text, and nothing invisible', () => {
    expect(html).toContain(
      '&#60;img src=x onerror=&#34;alert(&#39;1&#39;)&#34;&#62;&#38;amp;\\u{202e}gnp.exe\\u{1b}[2J',
    )
    expect(html).not.toContain('<img')
    expect(html).not.toMatch(/[^\P{C}\n]/u)
  })

  it('has no script, and nothing from elsewhere', () => {
    const tags = new Set(Array.from(html.matchAll(/<([a-z1]+)/g), ([, tag]) => tag))
    for (const tag of ['script', 'link', 'img', 'iframe', 'object', 'a']) expect(tags).not.toContain(tag)
    expect(html).not.toMatch(/<[^>]*\s(?:on\w+|style|src|href|action)\s*=/)
  })

  it('has the one style that its policy allows', () => {
    const styles = Array.from(html.matchAll(/<style>([^<]*)<\/style>/g), ([, style]) => style!)
    expect(styles).toHaveLength(1)
    const hash = createHash('sha256').update(styles[0]!).digest('base64')
    expect(ANSWER_PAGE_CSP).toContain(`style-src 'sha256-${hash}';`)
    expect(ANSWER_PAGE_CSP).toMatch(/^default-src 'none';/)
  })
})

it('says how many fields of a form it does not show', () => {
  const pageOf = (count: number) => {
    const names = Array.from({ length: count }, (_, index) => [`field ${index}`, { type: 'string' }])
    return questionPage({ ...QUESTION, form: { type: 'object', properties: Object.fromEntries(names) } })
  }
  expect(pageOf(100)).not.toContain('more fields')
  expect(pageOf(102)).toContain('2 more fields do not fit on this page')
})

it('offers to answer only while it waits', () => {
  expect(PAGES.approval).toMatch(/value="allow".*value="deny"/)
  for (const html of [PAGES.answered, PAGES.over]) expect(html).not.toContain('<form')
  for (const html of Object.values(PAGES)) expect(html).not.toMatch(/method="get"/i)
})

it('shows the script that makes the call, with its line marked, or that it is not there', () => {
  const script = { id: 'c1-1', sha256: '0', seq: 3, line: 2 }
  const page = approvalPage({ ...APPROVAL, script }, 'const a = 1\nawait tools.a.b()\n')
  expect(page).toContain('line 2 of script c1-1 (its call 3)')
  expect(page).toContain('<pre>\n  1  const a = 1\n▶ 2  await tools.a.b()\n  3</pre>')
  expect(approvalPage({ ...APPROVAL, script })).toContain('The source of the script is not available.')
})

it('shows a call without arguments, and all of a long one', () => {
  expect(approvalPage({ ...APPROVAL, input: undefined })).toContain('<pre>\nnone</pre>')
  const diff = '\n+++x; evil()'
  const page = approvalPage({ ...APPROVAL, views: [{ kind: 'diff', path: 'a', diff, isNew: false }] })
  expect(page).toContain(`<pre>\n${diff}</pre>`)
  const long = { text: `${'x'.repeat(2_000_000)} rm -rf ~` }
  expect(approvalPage({ ...APPROVAL, input: long })).toContain('x rm -rf ~')
})
