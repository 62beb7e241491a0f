import { defineTool, lazyModule } from '@tool-hub/core'
import { z } from 'zod'

const loadTemplateRenderer = lazyModule(() => import('./mustache/template-renderer.ts'))

/** Fills a Mustache template with data. */
export const templateRender = defineTool({
  name: 'core/util.template.render',
  title: 'Render a template',
  description:
    'Fill a Mustache template with JSON data: {{name}}, {{a.b}}, {{#list}}…{{/list}}, {{^missing}}…{{/missing}}, {{>partial}}. ' +
    'Use it for reports, messages and files of a fixed shape. Missing names render as nothing. Not for calculating or ' +
    'filtering (templates have no logic): prepare the data first, with core/util.json.select for instance.',
  input: z.strictObject({
    template: z.string().max(1_000_000).describe('The Mustache template.'),
    data: z.unknown().describe('What the names in the template mean: an object, or any value for {{.}}.'),
    partials: z
      .record(z.string().max(256), z.string().max(1_000_000))
      .default({})
      .describe('Templates that {{>name}} includes, by name; nothing is loaded from disk.'),
    escape: z
      .enum(['html', 'none'])
      .default('html')
      .describe('How {{name}} is written: html escapes & < > " \', none writes it as it is (Markdown, plain text).'),
    maxBytes: z
      .int()
      .min(1024)
      .max(10_485_760)
      .default(1_048_576)
      .describe('The most bytes the rendered text may have.'),
  }),
  output: z.strictObject({ text: z.string().describe('The rendered text.') }),
  examples: [
    { input: { template: 'Hello {{name}}!', data: { name: 'Ada' } } },
    {
      input: {
        template: '# {{title}}\n{{#items}}\n- {{.}}\n{{/items}}\n',
        data: { title: 'Shopping', items: ['bread', 'milk & honey'] },
        escape: 'none',
      },
      note: 'Markdown: no HTML escaping',
    },
  ],
  category: 'util',
  tags: ['template', 'mustache', 'report', 'text'],
  version: '1.0.0',
  async execute({ template, data, partials, maxBytes, ...options }, ctx) {
    const { TemplateRenderer } = await loadTemplateRenderer()
    const renderer = new TemplateRenderer({ ...options, partials: new Map(Object.entries(partials)), maxBytes })
    const text = renderer.render(template, data)
    ctx.evidence({
      type: 'tool',
      ref: ctx.callId,
      summary: `rendered a template of ${template.length} characters into ${text.length}`,
    })
    return { text }
  },
  toModel: ({ text }) => text,
})
