import { z } from 'zod'
import { count, duration, key, rate, size } from './schema-parts.ts'

const budget = {
  calls: key(count, 'Most calls.'),
  time: key(duration, 'Most time in all.'),
  bytes: key(size, 'Most bytes returned in all.'),
  cost: key(z.number().min(0), 'Most cost units in all.'),
}

/** What one run, or one session, may use in all. */
const budgetSchema = z.strictObject(budget)

const toolLimits = z.strictObject({
  ...budget,
  rate: key(rate, 'How fast this tool may be called.'),
  concurrency: key(z.int().min(1), 'Calls of this tool at the same time.'),
})

/** What one command may use. */
const commandLimits = z.strictObject({
  cpu: key(duration, 'Most processor time.', '10m'),
  memory: key(size, 'Most memory.', '2GB'),
  processes: key(z.int().min(1), 'Most processes and threads at once.', 256),
  file: key(size, 'The largest file that it may write.', '1GB'),
  files: key(z.int().min(16), 'Most files open at once.', 1024),
  disk: key(size, 'Most disk space that it may add; then it is ended.', '10GB'),
  newFiles: key(z.int().min(1), 'Most files and folders that it may create; then it is ended.', 500_000),
  output: key(size, 'Most bytes that it may print; then it is ended.', '1GB'),
})

/** Bounds on calls, with units; budgets of the run may stand at the top. */
export const limitsSchema = z
  .strictObject({
    timeout: key(duration, 'Longest time of one call; commands have their own.', '60s'),
    output: key(
      size,
      'Most characters of text that a model gets of one call; the whole is kept as an artifact. Tools set their own, most of them 30KB; this only lowers it.',
    ),
    input: key(size, 'Most bytes of the arguments of one call.', '10MB'),
    depth: key(z.int().min(1), 'Deepest nesting of arguments.', 64),
    entries: key(z.int().min(1), 'Most keys and elements of the arguments of one call, all together.', 50_000),
    read: key(size, 'Most bytes of a file read at once. Without this key a call may ask for up to 10 MiB.', '5MiB'),
    http: key(size, 'Most bytes of one response. Without this key a call may ask for up to 10 MiB.', '5MiB'),
    httpTimeout: key(duration, 'Longest time of one request, with redirects, retries and body.', '15s'),
    download: key(size, 'Most bytes of one download.', '100MiB'),
    undo: key(size, 'Most bytes that a run keeps of what its changes replaced, so that undo brings it back.', '200MB'),
    commands: key(commandLimits, 'What one command may use.'),
    calls: key(count, 'Most calls of a run; short for run.calls.'),
    time: key(duration, 'Most time of a run in all; short for run.time.'),
    bytes: key(size, 'Most bytes returned in a run; short for run.bytes.'),
    cost: key(z.number().min(0), 'Most cost units of a run; short for run.cost.'),
    run: key(budgetSchema, 'What one run may use in all.'),
    session: key(budgetSchema, 'What one session may use in all.'),
    tools: key(z.record(z.string(), toolLimits), 'What one tool may use, by its name.'),
    rate: key(rate, 'How fast tools may be called.'),
    concurrency: key(z.int().min(1), 'Calls at the same time.'),
  })
  .superRefine((limits, ctx) => {
    for (const name of Object.keys(budget) as (keyof typeof budget)[]) {
      if (limits[name] === undefined || limits.run?.[name] === undefined) continue
      ctx.addIssue({ code: 'custom', path: [name], message: `is also said as limits.run.${name}; keep one.` })
    }
  })
