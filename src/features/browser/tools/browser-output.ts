import { z } from 'zod'

const artifact = z.string().optional().describe('The whole, as an artifact.')

const file = z.strictObject({
  path: z.string().optional().describe('Where it was written, as it was given.'),
  name: z.string().optional().describe('What the page calls it.'),
  from: z.string().optional().describe('The address that it came from.'),
  bytes: z.int().min(0),
  sha256: z.string(),
  artifact,
})

/** What the browser tool gives back; which parts are there depends on the action. */
export const browserOutput = z.strictObject({
  action: z.string(),
  tab: z.string().optional().describe('The tab that was used.'),
  url: z.string().optional().describe('Where it is now.'),
  title: z.string().optional().describe('The title of the page.'),
  status: z.int().optional().describe('HTTP status of the page, after a navigation.'),
  browser: z
    .strictObject({
      isRunning: z.boolean(),
      version: z.string().optional(),
      sandbox: z.enum(['own', 'jail', 'none']).optional(),
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
      dropped: z.int().describe('Older lines that are not kept.'),
    })
    .optional(),
  dialogs: z.array(z.string()).optional().describe('Dialogs that opened since the last action.'),
  refused: z.array(z.string()).optional().describe('Requests of the page that were refused, the first ones.'),
  refusedCount: z.int().optional(),
  opened: z.array(z.string()).optional().describe('Tabs that the page opened.'),
  popupsClosed: z.int().optional().describe('Windows that were closed at once, since there are too many.'),
  downloadsStopped: z.int().optional().describe('Downloads that no action had asked for.'),
})

/** What the tool gives back. */
export type BrowserOutput = z.output<typeof browserOutput>
