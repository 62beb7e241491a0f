import { describe, expect, it } from 'vitest'
import { toolContext } from '../../../../../test/support/tool-context.ts'
import { templateRender } from './template-render.ts'

type Options = { partials?: Record<string, string>; escape?: 'html' | 'none'; maxBytes?: number }

async function render(template: string, data: unknown, options: Options = {}): Promise<string> {
  const input = { template, data, partials: {}, escape: 'html', maxBytes: 1_048_576, ...options } as const
  return ((await templateRender.execute(input, toolContext())) as { text: string }).text
}

describe('core/util.template.render', () => {
  it.each([
    ['Hello {{name}}!', { name: 'Ada' }, 'Hello Ada!'],
    ['{{a.b.c}}', { a: { b: { c: 1.5 } } }, '1.5'],
    ['[{{missing}}{{a.missing}}]', { a: {} }, '[]'],
    ['{{x}} {{{x}}} {{&x}}', { x: '<&">' }, '&lt;&amp;&quot;&gt; <&"> <&">'],
    ['{{#list}}<{{.}}>{{/list}}', { list: [1, 2, 3] }, '<1><2><3>'],
    ['{{^list}}none{{/list}}', { list: [] }, 'none'],
    ['{{#user}}{{name}} of {{city}}{{/user}}', { user: { name: 'Ada' }, city: 'London' }, 'Ada of London'],
    ['{{#a}}{{b.c}}{{/a}}', { a: { b: {} }, b: { c: 'outer' } }, ''],
    ['{{! a comment }}text', {}, 'text'],
    ['{{=<% %>=}}<%x%> {{x}} <%={{ }}=%>{{x}}', { x: 1 }, '1 {{x}} 1'],
    ['{{#on}}\n  yes\n{{/on}}\nend', { on: true }, '  yes\nend'],
    ['{{#on}}\r\nyes\r\n{{/on}}\r\n', { on: true }, 'yes\r\n'],
    ['{{.}}', 'plain', 'plain'],
    ['{{list.length}} {{list.1}}', { list: ['a', 'b'] }, '2 b'],
    ['{{{object}}}', { object: { a: [1] } }, '{"a":[1]}'],
  ])('renders %j', async (template, data, text) => {
    expect(await render(template, data)).toBe(text)
  })

  it('writes values as they are when the text is no HTML', async () => {
    expect(await render('- {{x}}', { x: "milk & 'honey'" }, { escape: 'none' })).toBe("- milk & 'honey'")
  })

  it('includes partials, indented like their tag', async () => {
    expect(await render('list:\n  {{>item}}\nend', { x: 1 }, { partials: { item: 'a {{x}}\n\nb\n' } })).toBe(
      'list:\n  a 1\n\n  b\nend',
    )
    expect(await render('[{{>missing}}]', {})).toBe('[]')
  })

  it('renders a tree with a partial that includes itself', async () => {
    const tree = {
      name: 'a',
      nodes: [
        { name: 'b', nodes: [] },
        { name: 'c', nodes: [{ name: 'd', nodes: [] }] },
      ],
    }
    expect(await render('{{>node}}', tree, { partials: { node: '{{name}}{{#nodes}}({{>node}}){{/nodes}}' } })).toBe(
      'a(b)(c(d))',
    )
  })

  it('never sees what JavaScript objects inherit', async () => {
    const template =
      '[{{constructor.name}}{{toString}}{{__proto__.x}}{{#constructor}}x{{/constructor}}{{>constructor}}]'
    expect(await render(template, {})).toBe('[]')
  })

  it.each([
    ['{{#open}}', /line 1: \{\{#open\}\} is never closed/],
    ['a\nb {{/close}}', /line 2: \{\{\/close\}\} closes no open section/],
    ['{{#a}}{{#b}}{{/a}}{{/b}}', /\{\{\/a\}\} closes no open section/],
    ['{{name', /the tag \{\{ is never closed/],
    ['{{=<%=}}', /change of delimiters/],
    [`{{=${'<'.repeat(17)} >=}}`, /at most 16 characters/],
    ['{{#a}}'.repeat(101), /nest deeper than 100/],
    [`\n{{a${'.a'.repeat(64)}}}`, /line 2: the name a\.a.* has more than 64 parts/],
  ])('says what is wrong with %j', async (template, message) => {
    await expect(render(template, {})).rejects.toMatchObject({
      code: 'INPUT_SCHEMA_INVALID',
      message: expect.stringMatching(message),
    })
  })

  it('stops at its limit while it renders, and says where to put a large text', async () => {
    const list = Array(100).fill('x')
    const failure = render(
      '{{#list}}{{#list}}{{#list}}{{#list}}{{#list}}x{{/list}}{{/list}}{{/list}}{{/list}}{{/list}}',
      { list },
    )
    await expect(failure).rejects.toMatchObject({
      code: 'FILE_TOO_LARGE',
      message: expect.stringContaining('1048576'),
      fix: { hint: expect.stringContaining('write each to a file') },
    })
    await expect(render('é'.repeat(600), {}, { maxBytes: 1024 })).rejects.toMatchObject({ code: 'FILE_TOO_LARGE' })
  })

  it('stops loops and partials that never write anything', async () => {
    const loops = `${'{{#list}}'.repeat(20)}${'{{/list}}'.repeat(20)}`
    await expect(render(loops, { list: Array(100).fill(1) })).rejects.toMatchObject({ code: 'INPUT_SCHEMA_INVALID' })
    await expect(render('{{>p}}', {}, { partials: { p: ' {{>p}}' } })).rejects.toMatchObject({
      code: 'INPUT_SCHEMA_INVALID',
    })
    const partials = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`p${i}`, `{{>p${i + 1}}}{{>p${i + 1}}}`]))
    await expect(render('{{>p0}}', {}, { partials })).rejects.toMatchObject({ code: 'INPUT_SCHEMA_INVALID' })
  })

  it('pays for every part of a name', async () => {
    const name = Array(60).fill('a').join('.')
    const template = `{{#list}}${`{{${name}}}`.repeat(5)}{{/list}}`
    await expect(render(template, { list: Array(20_000).fill(0) })).rejects.toMatchObject({
      code: 'INPUT_SCHEMA_INVALID',
      message: expect.stringContaining('steps'),
    })
  })

  it('refuses to indent many lines far before it builds them', async () => {
    for (const line of ['x\n', 'x\r', 'x\u2028']) {
      const failure = render(`${' '.repeat(20_000)}{{>p}}\n`, {}, { partials: { p: line.repeat(20_000) } })
      await expect(failure).rejects.toMatchObject({ code: 'INPUT_SCHEMA_INVALID' })
    }
  })

  it('pays for a far indented partial each time it stands there', async () => {
    const template = `{{#list}}\n${' '.repeat(400_000)}{{>p}}\n{{/list}}\n`
    const failure = render(template, { list: Array(20_000).fill(0) }, { partials: { p: '' } })
    await expect(failure).rejects.toMatchObject({ code: 'INPUT_SCHEMA_INVALID' })
  })

  it('refuses sections and partials that together nest too deeply', async () => {
    const p = `${'{{#a}}'.repeat(90)}{{>p}}${'{{/a}}'.repeat(90)}`
    await expect(render('{{>p}}', { a: {} }, { partials: { p } })).rejects.toMatchObject({
      code: 'INPUT_SCHEMA_INVALID',
    })
  })

  it('reads a large template in linear time', async () => {
    expect(await render(`{{x${' '.repeat(500_000)}}}${'{{y}} '.repeat(50_000)}`, {})).toHaveLength(50_000)
  })

  it('leaves evidence', async () => {
    const ctx = toolContext()
    await templateRender.execute(
      { template: 'a{{b}}', data: { b: 'secret' }, partials: {}, escape: 'html', maxBytes: 1024 },
      ctx,
    )
    expect(ctx.collected).toEqual([
      { type: 'tool', ref: 'call-1', summary: 'rendered a template of 6 characters into 7' },
    ])
  })
})
