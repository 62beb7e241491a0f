import { z } from 'zod'
import { actionNeeds } from '../../../lib/index.ts'

/** Everything the browser can do, as policy judges it. */
export const BROWSER_ACTIONS = [
  'status',
  'start',
  'stop',
  'tabs',
  'open',
  'navigate',
  'back',
  'forward',
  'reload',
  'close',
  'snapshot',
  'screenshot',
  'click',
  'type',
  'press',
  'hover',
  'drag',
  'select',
  'fill',
  'wait',
  'evaluate',
  'console',
  'pdf',
  'upload',
  'download',
  'dialog',
] as const

const path = z.string().min(1).max(4_096)
const ref = z.string().min(1).max(40)

const fields = z.strictObject({
  action: z.enum(BROWSER_ACTIONS).describe('What to do. Begin with open, then snapshot to see the page and get refs.'),
  url: z
    .string()
    .min(1)
    .max(8_192)
    .optional()
    .describe('open, navigate: an http or https address. wait: a part of it.'),
  tab: z.string().min(1).max(20).optional().describe('Which tab, such as t1; the current one unless said.'),
  ref: ref.optional().describe('Which element, such as e12, from the last snapshot.'),
  toRef: ref.optional().describe('drag: the element to drop on.'),
  text: z
    .string()
    .max(100_000)
    .optional()
    .describe('type: what to type. wait: text that must appear. dialog: the answer to a prompt.'),
  textGone: z.string().min(1).max(1_000).optional().describe('wait: text that must disappear.'),
  submit: z.boolean().optional().describe('type: press Enter afterwards.'),
  key: z.string().min(1).max(50).optional().describe('press: a key or chord: Enter, ArrowDown, Control+A.'),
  values: z.array(z.string().max(1_000)).min(1).max(100).optional().describe('select: the options, by value or label.'),
  fields: z
    .array(z.strictObject({ ref, value: z.union([z.string().max(100_000), z.boolean()]) }))
    .min(1)
    .max(100)
    .optional()
    .describe('fill: fields with their values; true or false for boxes.'),
  button: z.enum(['left', 'right', 'middle']).optional().describe('click: which button; left unless said.'),
  double: z.boolean().optional().describe('click: twice.'),
  modifiers: z
    .array(z.enum(['Alt', 'Control', 'Meta', 'Shift']))
    .max(4)
    .optional()
    .describe('click: keys held meanwhile.'),
  waitUntil: z
    .enum(['load', 'domcontentloaded', 'commit'])
    .optional()
    .describe('open, navigate: how far the page must have come; load unless said.'),
  loadState: z.enum(['load', 'domcontentloaded']).optional().describe('wait: how far the page must have come.'),
  timeoutMs: z.int().min(100).max(60_000).optional().describe('How long it may take; 30000 unless said.'),
  timeMs: z.int().min(0).max(30_000).optional().describe('wait: so many milliseconds.'),
  fullPage: z.boolean().optional().describe('screenshot: all of the page, not only what is visible.'),
  imageType: z.enum(['png', 'jpeg']).optional().describe('screenshot: png unless said.'),
  depth: z.int().min(1).max(50).optional().describe('snapshot: so many levels of the tree.'),
  maxChars: z.int().min(500).max(200_000).optional().describe('snapshot: the most characters; 20000 unless said.'),
  expression: z
    .string()
    .min(1)
    .max(50_000)
    .optional()
    .describe('evaluate: JavaScript for the page; its value as JSON.'),
  onlyErrors: z.boolean().optional().describe('console: errors only.'),
  limit: z.int().min(1).max(200).optional().describe('console: the last so many lines; 50 unless said.'),
  path: path.optional().describe('download, pdf, screenshot: the file to make. It must not exist yet.'),
  paths: z.array(path).min(1).max(10).optional().describe('upload: the files.'),
  accept: z.boolean().optional().describe('dialog: accept or dismiss the next dialog; others are dismissed.'),
})

/** The arguments of the browser tool. */
export const browserInput = fields.superRefine(
  actionNeeds('browser', {
    navigate: ['url'],
    click: ['ref'],
    type: ['ref', 'text'],
    press: ['key'],
    hover: ['ref'],
    drag: ['ref', 'toRef'],
    select: ['ref', 'values'],
    fill: ['fields'],
    wait: [['text', 'textGone', 'url', 'loadState', 'timeMs']],
    evaluate: ['expression'],
    upload: ['ref', 'paths'],
    download: ['path', 'ref'],
    dialog: ['accept'],
  }),
)

/** The arguments, checked. */
export type BrowserInput = z.output<typeof browserInput>
