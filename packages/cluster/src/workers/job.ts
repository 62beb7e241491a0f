import { CAPABILITIES, ERRORS, type ErrorCode, type Evidence, ToolError } from '@tool-hub/core'
import { hashJson, parseJson, SigningKey, sha256 } from '@tool-hub/core/lib'
import type { RegisteredTool } from '@tool-hub/runtime/hub/pipeline'
import type { EventBody } from '@tool-hub/runtime/records/log'
import { z } from 'zod'
import type { BlobStore } from '../store/types.ts'
import type { WorkerProgress } from './worker-events.ts'

/** The name of the secret that jobs and outcomes are signed with. */
export const WORKER_SECRET = 'workers'

const text = z.string()
const capability = z.enum(CAPABILITIES)

/** A decided call, as it travels to a worker. */
const jobSchema = z.strictObject({
  /** Id of the call with the number of the attempt. */
  id: text,
  callId: text,
  /** The queue it is meant for, which says the labels that a worker needs. */
  place: text,
  run: text,
  tool: text,
  /** The name that was called: it selects the dialect. */
  wire: text,
  /** Hash of the definition of the tool. */
  definition: text,
  input: z.unknown(),
  capabilities: z.array(capability),
  /** What policy decided on. */
  targets: z.array(z.strictObject({ capability, value: text })),
  commands: z.array(z.strictObject({ value: text, cwd: text, env: z.array(text) })),
  sandbox: z.enum(['full', 'namespaces', 'none']).optional(),
  rule: text,
  constraints: z.strictObject({
    timeoutMs: z.number().optional(),
    maxBytes: z.number().optional(),
    maxFileBytes: z.number().optional(),
    maxResults: z.number().optional(),
    retries: z.number().optional(),
    runOn: text.optional(),
  }),
  approvedBy: text.optional(),
  caller: text,
  /** The rights of the principal; absent for the owner of the hub. */
  principal: z.looseObject({ name: text }).optional(),
  options: z.strictObject({
    session: text.optional(),
    callerKind: z.enum(['direct', 'script']).optional(),
    grants: z.array(capability).optional(),
    untrusted: z.boolean().optional(),
    idempotencyKey: text.optional(),
  }),
  /** What has tainted the run so far. */
  taintedBy: z.array(text),
  timeoutMs: z.number().positive(),
  /** When the process of the run stops waiting for it. */
  expiresAt: z.number(),
})

export type CallJob = z.output<typeof jobSchema>

const errorSchema = z.strictObject({
  code: z.custom<ErrorCode>((code) => typeof code === 'string' && Object.hasOwn(ERRORS, code)),
  message: text,
  fix: z.strictObject({ key: text.optional(), value: z.unknown().optional(), hint: text }),
  retryable: z.boolean(),
  details: z.record(text, z.unknown()).optional(),
  data: z.unknown().optional(),
  stack: text.optional(),
})

/** The outcome of a job. */
const outcomeSchema = z.strictObject({
  id: text,
  value: z.unknown().optional(),
  error: errorSchema.optional(),
  evidence: z.array(z.custom<Evidence>((value) => typeof value === 'object' && value !== null)),
  notices: z.array(text),
  truncated: z.strictObject({ cutChars: z.number().optional(), artifact: text.optional() }).optional(),
  /** The content is in parts among the blobs of the store. */
  artifacts: z.array(
    z.strictObject({ sha256: text, name: text, mediaType: text, upload: text, parts: z.int().nonnegative() }),
  ),
  /** What it read from outside. */
  taintedBy: z.array(text),
  isUntrusted: z.boolean(),
  /** What it has labelled on the disk of the worker, which the process of the run may use, too. */
  labels: z.array(
    z.union([
      text,
      z.strictObject({ named: text }),
      z.strictObject({ since: z.number(), until: z.number(), folders: z.array(text).readonly() }),
    ]),
  ),
  hasChanged: z.boolean(),
  /** Lines for the record of the run, such as the connections of commands. */
  lines: z.array(z.custom<EventBody>((line) => z.looseObject({ type: text }).safeParse(line).success)),
})

export type JobOutcome = z.output<typeof outcomeSchema>

/** Signs jobs and outcomes with a secret of the store: a worker executes nothing that others put into the queue. */
export class WorkerSeal {
  readonly #key: SigningKey

  constructor(secret: Uint8Array) {
    this.#key = new SigningKey(secret)
  }

  sealJob(job: CallJob): string {
    return this.#seal('job', JSON.stringify(job))
  }

  /** Throws if the job is not signed by a process of this store, is for another queue, or has expired. */
  openJob(sealed: string, { queue, now }: { readonly queue: string; readonly now: number }): CallJob {
    const job = jobSchema.parse(this.#open('job', sealed))
    if (job.place !== queue) throw new ToolError('FORBIDDEN', `The job ${job.id} is for ${job.place}.`)
    if (job.expiresAt <= now) throw new ToolError('CONFLICT', `The job ${job.id} has expired.`)
    return job
  }

  sealOutcome(outcome: JobOutcome): string {
    return this.#seal('outcome', JSON.stringify(outcome))
  }

  /** Throws if the outcome is not that of the job, or not signed by a process of this store. */
  openOutcome(sealed: string, id: string): JobOutcome {
    const outcome = outcomeSchema.parse(this.#open('outcome', sealed))
    if (outcome.id !== id) throw forged('outcome')
    return outcome
  }

  sealProgress(id: string, content: WorkerProgress): string {
    return this.#seal('progress', JSON.stringify({ id, content }), { id })
  }

  openProgress(sealed: string): { readonly id: string; readonly content: WorkerProgress } {
    return this.#open('progress', sealed) as { id: string; content: WorkerProgress }
  }

  #seal(kind: string, body: string, known = {}): string {
    return JSON.stringify({ ...known, body, mac: this.#key.sign(`tool-hub ${kind}`, body) })
  }

  #open(kind: string, sealed: string): unknown {
    const { body, mac } = z.object({ body: text, mac: text }).parse(parseJson(sealed))
    if (!this.#key.isSigned(`tool-hub ${kind}`, body, mac)) throw forged(kind)
    return JSON.parse(body)
  }
}

const definitions = new WeakMap<RegisteredTool, string>()

/** Returns the hash of everything that a call of the tool depends on: tools with the same hash are the same tool. */
export function definitionOf(entry: RegisteredTool): string {
  const known = definitions.get(entry)
  if (known !== undefined) return known
  const { name, version, timeoutMs, retry, results } = entry.tool
  const schemas = [entry.input.jsonSchema(), entry.output?.jsonSchema()]
  const hash = hashJson({ name, version, timeoutMs, retry, results, capabilities: entry.capabilityList, schemas })
  definitions.set(entry, hash)
  return hash
}

function forged(kind: string): ToolError {
  return new ToolError('FORBIDDEN', `The ${kind} was not signed by a process that shares this store.`)
}

type Parts = Pick<BlobStore, 'addPart' | 'part'>

const PART_BYTES = 1_000_000

/** Stores content in parts, for the process of the run to read. They are swept with uploads that were never completed. */
export async function putParts(blobs: Parts, upload: string, content: Uint8Array, at: number): Promise<number> {
  const parts = Math.ceil(content.length / PART_BYTES)
  for (let number = 0; number < parts; number++) {
    const part = content.subarray(number * PART_BYTES, (number + 1) * PART_BYTES)
    await blobs.addPart(upload, { number, content: part, at })
  }
  return parts
}

/** Reads content in parts. Returns `undefined` if a part is missing or the content is not the one with this hash. */
export async function readParts(
  blobs: Parts,
  { upload, parts, hash }: { readonly upload: string; readonly parts: number; readonly hash: string },
): Promise<Uint8Array | undefined> {
  const read: Uint8Array[] = []
  for (let number = 0; number < parts; number++) {
    const part = await blobs.part(upload, number)
    if (!part) return undefined
    read.push(part)
  }
  const content = Buffer.concat(read)
  return sha256(content) === hash ? content : undefined
}
