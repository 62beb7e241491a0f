import { actionNeeds, type Content, type Context, defineTool, ToolError } from '@tool-hub/core'
import { z } from 'zod'
import { CANVAS_KINDS, type Canvas, type CanvasDrawing } from '../types.ts'

/** The actions of core/canvas. */
const CANVAS_ACTIONS = ['present', 'update', 'hide', 'list', 'eval', 'snapshot'] as const

const canvas = z.strictObject({
  id: z.string(),
  name: z.string(),
  title: z.string(),
  kind: z.enum(CANVAS_KINDS),
  version: z.int().min(1).describe('The latest version.'),
  bytes: z.int().min(0).max(1e9),
  hidden: z.boolean(),
})

const image = z.strictObject({
  mediaType: z.literal('image/png'),
  data: z.string().describe('The screenshot in base64.'),
})

/** The data of a result. */
const canvasResult = z.strictObject({
  action: z.enum(CANVAS_ACTIONS),
  canvas: canvas.optional(),
  canvases: z.array(canvas).optional(),
  values: z.record(z.string(), z.unknown()).optional().describe('The answers of the form.'),
  value: z.unknown().optional().describe('The return value of the script, as JSON.'),
  image: image.optional(),
  problem: z.string().optional().describe('Why the content could not be drawn.'),
  errors: z.array(z.string()).optional().describe('The last errors of the console of the canvas.'),
})

/** The type of a result. */
export type CanvasResult = z.infer<typeof canvasResult>

const MAX_FIELDS = 50
const words = z.string().max(4_000)
const option = z.union([z.string().max(200), z.number(), z.boolean()])

const field = z.looseObject({
  type: z.enum(['string', 'number', 'integer', 'boolean']),
  title: words.optional(),
  description: words.optional(),
  enum: z.array(option).min(1).max(100).optional(),
})

const form = z.looseObject({
  type: z.literal('object'),
  properties: z.record(z.string().min(1).max(100), field),
  required: z.array(z.string()).optional(),
})

/** Parses a form: the JSON Schema of a flat object of strings, numbers, booleans and choices. */
function readForm(content: string): z.infer<typeof form> {
  const parsed = form.safeParse(readJson(content))
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    throw invalid(`${issue!.path.join('.') || 'the content'}: ${issue!.message}`)
  }
  const count = Object.keys(parsed.data.properties).length
  if (count === 0 || count > MAX_FIELDS) throw invalid(`it has ${count} fields; use 1 to ${MAX_FIELDS}`)
  return parsed.data
}

/** What is wrong with a form; `undefined` if it is valid. */
function formProblem(content: string): string | undefined {
  try {
    readForm(content)
    return undefined
  } catch (error) {
    if (!ToolError.is(error)) throw error
    return `${error.message} ${error.fix.hint}`
  }
}

function readJson(content: string): unknown {
  try {
    return JSON.parse(content)
  } catch (error) {
    throw invalid((error as Error).message)
  }
}

function invalid(why: string): ToolError {
  return new ToolError('INPUT_SCHEMA_INVALID', `Invalid form: ${why}.`, {
    hint: 'Give a JSON Schema: {"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}.',
  })
}

const MAX_WAIT_MS = 3_600_000

const fields = z.strictObject({
  action: z.enum(CANVAS_ACTIONS).describe('present shows a canvas, update adds a version, eval runs a script in it.'),
  canvas: z
    .string()
    .regex(/^[\w.-]{1,64}$/)
    .optional()
    .describe('Id or name of the canvas; for present, its new name. Letters, digits, dot, dash, underscore.'),
  kind: z.enum(CANVAS_KINDS).optional().describe('present: kind of the content.'),
  title: z.string().min(1).max(200).optional().describe('present, update: heading above the content.'),
  content: z
    .string()
    .min(1)
    .max(10_000_000)
    .optional()
    .describe(
      'present, update: the HTML, Markdown, Mermaid text, Vega-Lite JSON with its data inside, or for a form the JSON Schema ' +
        'of a flat object. It has no network: embed images as data: URLs, and styles and scripts inline.',
    ),
  script: z
    .string()
    .min(1)
    .max(100_000)
    .optional()
    .describe('eval: the body of an async function; return a JSON value.'),
  version: z.int().min(1).optional().describe('eval, snapshot: version number. Default: the latest.'),
  width: z.int().min(100).max(3_000).optional().describe('eval, snapshot: pixels. Default: 1024.'),
  height: z.int().min(100).max(3_000).optional().describe('eval, snapshot: pixels. Default: 768.'),
  waitMs: z
    .int()
    .min(1_000)
    .max(MAX_WAIT_MS)
    .default(300_000)
    .describe('form: how long to wait for the answer, in milliseconds.'),
})

const input = fields
  .superRefine(
    actionNeeds('canvas', {
      present: ['content', 'kind'],
      update: ['content', 'canvas'],
      hide: ['canvas'],
      eval: ['script', 'canvas'],
      snapshot: ['canvas'],
    }),
  )
  .superRefine(({ action, kind, content }, context) => {
    const showsForm = (action === 'present' || action === 'update') && kind === 'form' && content !== undefined
    const problem = showsForm ? formProblem(content) : undefined
    if (problem !== undefined) context.addIssue({ code: 'custom', path: ['content'], message: problem })
  })

type Input = z.infer<typeof input>

/** Shows content to people in the console. */
export const canvasTool = defineTool({
  name: 'core/canvas',
  title: 'Canvas',
  description:
    'Show people an HTML page, Markdown, a Mermaid diagram, a Vega-Lite chart or a form in the console, and update it later. ' +
    'A form waits for the person and returns the answers. snapshot shows you what they see. Use it for content that is ' +
    'easier to see than to read. Not for lasting files (write them instead), and never to ask for secrets.',
  input,
  output: canvasResult,
  capabilities: ['canvas'],
  targets: (wish) => ({
    canvas: wish.action === 'list' ? [] : [wish.action, ...(mayHoldScripts(wish) ? ['script'] : [])],
  }),
  timeoutMs: MAX_WAIT_MS + 60_000,
  category: 'other',
  tags: ['person', 'show', 'chart', 'diagram', 'form'],
  version: '1.0.0',
  examples: [
    {
      input: {
        action: 'present',
        canvas: 'flow',
        kind: 'mermaid',
        title: 'How it works',
        content: 'graph LR; ask --> do',
      },
    },
    {
      input: {
        action: 'present',
        kind: 'form',
        title: 'Where should it go?',
        content: '{"type":"object","properties":{"region":{"type":"string","enum":["eu","us"]}},"required":["region"]}',
      },
      note: 'waits for the answer',
    },
  ],
  dialects: { coding: { name: 'canvas' } },
  async execute(input, ctx): Promise<CanvasResult> {
    const { action } = input
    ctx.evidence({ type: 'tool', ref: input.canvas ?? ctx.callId, summary: `canvas ${action}` })
    switch (action) {
      case 'present':
      case 'update':
        return show(input, ctx)
      case 'hide':
        return { action, canvas: summarise(await ctx.canvas.hide(needed(input.canvas, 'canvas', input))) }
      case 'list':
        return { action, canvases: (await ctx.canvas.list()).map(summarise) }
      case 'eval':
        return evaluate(input, ctx)
      case 'snapshot':
        return snapshot(input, ctx)
    }
  },
  toModel: showCanvas,
})

async function show(input: Input, ctx: Context<'canvas'>): Promise<CanvasResult> {
  const { action, kind, title, waitMs } = input
  const content = needed(input.content, 'content', input)
  // Rejects an invalid form before it is shown.
  const form = kind === 'form' ? readForm(content) : undefined
  const shown = await (action === 'present'
    ? ctx.canvas.present({
        kind: needed(kind, 'kind', input),
        content,
        ...given('name', input.canvas),
        ...given('title', title),
      })
    : ctx.canvas.update(needed(input.canvas, 'canvas', input), {
        content,
        ...given('kind', kind),
        ...given('title', title),
      }))
  ctx.evidence({ type: 'text', ref: shown.latest.artifact, summary: `${shown.name}, version ${shown.latest.n}` })
  const canvas = summarise(shown)
  if (shown.kind !== 'form') return { action, canvas }
  const { values = {} } = await ctx.ask({
    question: shown.title,
    form: (form ?? readForm(content)) as never,
    timeoutMs: waitMs,
  })
  return { action, canvas: { ...canvas, hidden: true }, values }
}

async function evaluate(input: Input, ctx: Context<'canvas'>): Promise<CanvasResult> {
  const script = needed(input.script, 'script', input)
  const drawn = await ctx.canvas.evaluate(needed(input.canvas, 'canvas', input), script, input)
  const { value } = drawn
  return { action: input.action, ...describe(drawn), ...given('value', value) }
}

async function snapshot(input: Input, ctx: Context<'canvas'>): Promise<CanvasResult> {
  const drawn = await ctx.canvas.snapshot(needed(input.canvas, 'canvas', input), input)
  const data = Buffer.from(drawn.png).toString('base64')
  if (drawn.problem !== undefined) ctx.notice(`The canvas could not be drawn: ${drawn.problem}`)
  return { action: input.action, ...describe(drawn), image: { mediaType: 'image/png', data } }
}

function describe({ canvas, version, problem, errors }: CanvasDrawing) {
  return { canvas: { ...summarise(canvas), version }, ...given('problem', problem), errors: [...errors] }
}

function given<K extends string, T>(key: K, value: T | undefined): { [P in K]?: T } {
  return (value === undefined ? {} : { [key]: value }) as { [P in K]?: T }
}

function needed<T>(value: T | undefined, name: string, { action }: Input): T {
  if (value !== undefined) return value
  throw new ToolError('INPUT_SCHEMA_INVALID', `canvas ${action} needs ${name}.`, {
    fix: { key: name, hint: `Give ${name}.` },
  })
}

/** HTML may run scripts of the model in the console. The kind of an updated canvas is not known here, so it counts as HTML. */
function mayHoldScripts({ action, kind }: Input): boolean {
  return (action === 'present' || action === 'update') && (kind ?? 'html') === 'html'
}

/** The fields of a canvas that a result contains. */
function summarise({ id, name, title, kind, hidden, latest }: Canvas): NonNullable<CanvasResult['canvas']> {
  return { id, name, title, kind, version: latest.n, bytes: latest.bytes, hidden }
}

/** The short form for a model. */
function showCanvas(result: CanvasResult): Content {
  const { action, canvases, canvas, values, value, image, problem, errors = [] } = result
  if (canvases) return canvases.length === 0 ? 'This run has no canvases.' : canvases.map(line).join('\n')
  const troubles = [
    ...(problem === undefined ? [] : [`It could not be drawn: ${problem}`]),
    ...errors.map((error) => `console: ${error}`),
  ]
  if (action === 'eval')
    return [value === undefined ? 'The script returned nothing.' : JSON.stringify(value), ...troubles].join('\n')
  if (image) {
    const words = [`${canvas!.name}, version ${canvas!.version}`, ...troubles].join('\n')
    return [
      { type: 'text', text: words },
      { type: 'image', data: image.data, mediaType: image.mediaType },
    ]
  }
  if (values) return JSON.stringify(values)
  if (action === 'hide') return `${canvas!.name} is hidden.`
  return `${line(canvas!)}\nPeople see it on the canvas page of the console. Change it with update, look at it with snapshot.`
}

function line({ name, id, kind, version, title, hidden }: NonNullable<CanvasResult['canvas']>): string {
  return `${name} (${id})  ${kind}  version ${version}${hidden ? '  hidden' : ''}  ${title}`
}
