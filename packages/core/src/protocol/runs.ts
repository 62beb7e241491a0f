import { z } from 'zod'
import { callEntry, recordLine } from './calls.ts'
import { pageQuery } from './shapes.ts'

export const runEntry = z.object({
  /** Id of the run. */
  run: z.string(),
  /** Who made its first call, as the caller said; empty where nobody has called. */
  caller: z.string(),
  /** The principal that it is of, where that is known. */
  principal: z.string().optional(),
  /** The name of its session, where it has one. */
  label: z.string().optional(),
  /** What it is for: the task of its session, cut after 300 characters. */
  goal: z.string().optional(),
  /** When it started, in milliseconds since 1970. */
  startedAt: z.number(),
  /** When it last recorded something. */
  endedAt: z.number(),
  /** How many calls it has. */
  calls: z.number(),
  /** How many of them failed. */
  failures: z.number(),
  /** How many of them were denied, by a rule or a person. */
  denials: z.number(),
})
export type RunEntry = z.infer<typeof runEntry>

/** `GET /v1/runs`; `caller` is a caller or a principal, `text` is looked for in ids, callers, goals, tools, targets and summaries. */
export const runQuery = pageQuery.extend({
  /** The caller, or the principal. */
  caller: z.string().max(500).optional(),
  /** Looked for in ids, callers, goals, tools, targets and summaries. */
  text: z.string().max(200).optional(),
  /** Only runs that recorded something at this time or later, and started before `to`; milliseconds since 1970. */
  from: z.coerce.number().optional(),
  /** Only runs that started before this time, in milliseconds since 1970. */
  to: z.coerce.number().optional(),
})
export const runList = z.object({ runs: z.array(runEntry), next: z.number().optional() })

/** `GET /v1/runs/{run}`: the run and its calls, oldest first, at most 5,000. */
export const runDetail = z.object({ run: runEntry, calls: z.array(callEntry), isTruncated: z.boolean() })
export type RunDetail = z.infer<typeof runDetail>

/** `GET /v1/runs/{run}/lines`; `after` is `seq` of the last line that the client has. */
export const lineQuery = z.object({
  after: z.coerce.number().int().min(-1).default(-1),
  limit: z.coerce.number().int().min(1).max(1_000).default(200),
})
export const lineList = z.object({ lines: z.array(recordLine) })

/** A file that a call of the run changed; `GET /v1/runs/{run}/changes`, newest first. */
export const fileChange = z.object({
  /** Id of the call. */
  callId: z.string(),
  /** Canonical name of the tool. */
  tool: z.string(),
  /** Absolute path of the file. */
  path: z.string(),
  /** What undoing it would do: restore, remove, move back …; or why it cannot. */
  action: z.string(),
  /** Why it cannot be undone. */
  reason: z.string().optional(),
  /** Unified diff from what the call left to what was there before, where both are text. */
  diff: z.string().optional(),
})
export type FileChangeEntry = z.infer<typeof fileChange>
export const changeList = z.object({ changes: z.array(fileChange) })

/** Body of `POST /v1/runs/{run}/clear-taint`. */
export const clearTaintRequest = z.strictObject({
  /** Why the content from outside is harmless; it is recorded. */
  reason: z.string().min(1).max(2_000),
})
/** The taint that was cleared. */
export const clearedTaint = z.object({
  /** Id of the run. */
  run: z.string(),
  /** Who cleared it. */
  by: z.string(),
  /** Why. */
  reason: z.string(),
  /** What had tainted the run: `mcp:mail/get_unread`, `https://example.org`, a path, `caller`. */
  sources: z.array(z.string()),
  /** Whether the run has read more content from outside meanwhile, so that it is tainted again. */
  isTainted: z.boolean(),
})
export type ClearedTaintEntry = z.infer<typeof clearedTaint>

/** `GET /v1/runs/{run}/taint`: whether the run has read content from outside, and who cleared it of that. */
export const runTaint = z.object({
  /** Whether it has, since it was last cleared. */
  isTainted: z.boolean(),
  /** What tainted it: `mcp:mail/get_unread`, `https://example.org`, a path, `caller`. Empty if it is not tainted. */
  sources: z.array(z.string()),
  /** When its taint was cleared, oldest first; of many, the latest 100. */
  cleared: z.array(
    z.object({
      /** When, in milliseconds since 1970. */
      at: z.number(),
      /** Who cleared it. */
      by: z.string(),
      /** Why. */
      reason: z.string(),
      /** What had tainted it. */
      sources: z.array(z.string()),
    }),
  ),
})
export type RunTaint = z.infer<typeof runTaint>

/** `GET /v1/runs/{run}/run-later`: files that run by themselves and that the run has changed, oldest first, at most 100. */
export const runLaterList = z.object({
  /** In the order in which they were first changed. */
  files: z.array(
    z.object({
      /** Absolute path of the file. */
      path: z.string(),
      /** What runs or obeys it: `a pipeline`, `eslint (started by a git hook or by settings of the project)`. */
      by: z.string(),
      /** Id of the call that changed it last. */
      callId: z.string(),
    }),
  ),
  /** Whether there are more; the record has them all. */
  isTruncated: z.boolean(),
})
export type RunLaterList = z.infer<typeof runLaterList>

/** Body of `POST /v1/runs/{run}/undo`; without `call`, the whole run. */
export const undoRequest = z.strictObject({
  /** Only this call. Default: the whole run. */
  call: z.string().optional(),
  /** Only says what would happen. */
  dryRun: z.boolean().optional(),
  /** Also undoes what was changed again since. */
  force: z.boolean().optional(),
})
export const undoReport = z.object({ ok: z.boolean(), dryRun: z.boolean(), changes: z.array(fileChange) })
export type UndoAnswer = z.infer<typeof undoReport>
