import { actionNeeds } from '@tool-hub/core'
import { z } from 'zod'

/** All actions of the browser, as policy rules name them. */
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
  tab: z.string().min(1).max(20).optional().describe('Tab id, such as t1. Default: the current tab.'),
  ref: ref.optional().describe('Element ref from the last snapshot, such as e12.'),
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
  button: z.enum(['left', 'right', 'middle']).optional().describe('click: mouse button. Default: left.'),
  double: z.boolean().optional().describe('click: double-click.'),
  modifiers: z
    .array(z.enum(['Alt', 'Control', 'Meta', 'Shift']))
    .max(4)
    .optional()
    .describe('click: modifier keys to hold.'),
  waitUntil: z
    .enum(['load', 'domcontentloaded', 'commit'])
    .optional()
    .describe('open, navigate: how far the page must have loaded. Default: load.'),
  loadState: z.enum(['load', 'domcontentloaded']).optional().describe('wait: how far the page must have loaded.'),
  timeoutMs: z.int().min(100).max(60_000).optional().describe('Timeout in milliseconds. Default: 30000.'),
  timeMs: z.int().min(0).max(30_000).optional().describe('wait: milliseconds to wait.'),
  fullPage: z.boolean().optional().describe('screenshot: the whole page, not only the visible part.'),
  imageType: z.enum(['png', 'jpeg']).optional().describe('screenshot: image format. Default: png.'),
  depth: z.int().min(1).max(50).optional().describe('snapshot: maximum depth of the tree.'),
  maxChars: z
    .int()
    .min(500)
    .max(200_000)
    .optional()
    .describe('snapshot: maximum number of characters. Default: 20000.'),
  expression: z
    .string()
    .min(1)
    .max(50_000)
    .optional()
    .describe('evaluate: JavaScript to run in the page; its value is returned as JSON.'),
  onlyErrors: z.boolean().optional().describe('console: errors only.'),
  limit: z.int().min(1).max(200).optional().describe('console: maximum number of lines, newest last. Default: 50.'),
  path: path.optional().describe('download, pdf, screenshot: the file to write. It must not exist yet.'),
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

/** The validated arguments. */
export type BrowserInput = z.output<typeof browserInput>

const artifact = z.string().optional().describe('The whole, as an artifact.')

const file = z.strictObject({
  path: z.string().optional().describe('Path of the written file, as given in the input.'),
  name: z.string().optional().describe('File name that the page suggests.'),
  from: z.string().optional().describe('URL it was downloaded from.'),
  bytes: z.int().min(0),
  sha256: z.string(),
  artifact,
})

/** The output of the browser tool; which fields are set depends on the action. */
export const browserOutput = z.strictObject({
  action: z.string(),
  tab: z.string().optional().describe('The tab that was used.'),
  url: z.string().optional().describe('Current URL of the tab.'),
  title: z.string().optional().describe('The title of the page.'),
  status: z.int().optional().describe('HTTP status of the page, after a navigation.'),
  browser: z
    .strictObject({
      isRunning: z.boolean(),
      version: z.string().optional(),
      sandbox: z.enum(['own', 'command', 'none']).optional(),
      tabs: z.int(),
    })
    .optional(),
  tabs: z
    .array(z.strictObject({ tab: z.string(), url: z.string(), title: z.string(), isCurrent: z.boolean() }))
    .optional(),
  snapshot: z.strictObject({ text: z.string(), chars: z.int(), isCut: z.boolean(), artifact }).optional(),
  image: z
    .strictObject({
      mediaType: z.string(),
      width: z.number(),
      height: z.number(),
      isCut: z.boolean(),
      data: z.string().describe('The picture, as base64.'),
    })
    .optional(),
  file: file.optional(),
  value: z.strictObject({ json: z.string(), isCut: z.boolean() }).optional().describe('evaluate: the value.'),
  console: z
    .strictObject({
      lines: z.array(z.strictObject({ level: z.string(), text: z.string() })),
      dropped: z.int().describe('Number of older lines that were discarded.'),
    })
    .optional(),
  dialogs: z.array(z.string()).optional().describe('Dialogs that opened since the last action.'),
  refused: z.array(z.string()).optional().describe('The first requests of the page that were refused.'),
  refusedCount: z.int().optional(),
  opened: z.array(z.string()).optional().describe('Tabs that the page opened.'),
  popupsClosed: z.int().optional().describe('Windows that were closed immediately because too many tabs are open.'),
  downloadsStopped: z.int().optional().describe('Downloads that were stopped because no action had requested them.'),
})

/** The validated output of the tool. */
export type BrowserOutput = z.output<typeof browserOutput>

/** Keys that enter no text: navigation, deletion, submission and chords. */
const WRITES_NOTHING =
  /^(?:.*(?:Control|ControlOrMeta|Meta|Alt)\+.+|(?:Shift\+)*(?:Enter|Tab|Escape|Space|Backspace|Delete|Insert|Home|End|PageUp|PageDown|Arrow(?:Up|Down|Left|Right)|F\d{1,2}))$/

/** The policy targets of an action. Keys that enter text and answers to dialogs also count as `type`: they put data into a page. */
export function browserTargets(
  action: string,
  { key, text }: { readonly key?: string | undefined; readonly text?: string | undefined },
): string[] {
  const isTyping =
    (action === 'press' && key !== undefined && !WRITES_NOTHING.test(key)) || (action === 'dialog' && Boolean(text))
  return isTyping ? [action, 'type'] : [action]
}
