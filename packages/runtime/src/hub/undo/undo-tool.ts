import { lstat, readdir, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { defineTool, type FileState, lazyModule, type ReadFiles, ToolError, type WriteFiles } from '@tool-hub/core'
import { errnoOf } from '@tool-hub/core/lib'
import { type FoundEntry, type RestoreFiles, treeDigest } from '@tool-hub/sandbox/files'
import { z } from 'zod'
import { listRuns } from '../../records/log/index.ts'
import { hashOf, type RecordedChange, readChangeHistory, readKept } from '../../records/undo/index.ts'
import type { RunState } from '../run-state.ts'
import { findChanges, readMarks, UNDO_TOOL } from './find-changes.ts'
import type { Step } from './judge-change.ts'
import { compareTree, type Restorer, rehearse } from './restorer.ts'
import { type UndoneChange, undoChanges } from './undo-changes.ts'

const TIMEOUT_MS = 600_000
/** The most evidence items of an undo. Its events contain every change. */
const MAX_EVIDENCE = 100

/** Options of the undo tool. */
interface UndoToolOptions {
  /** Folder of all runs. */
  readonly root: string
  /** The record of the run that the undo belongs to. */
  readonly recordsOf: (run: string) => Promise<RunState['records']>
  /** Whether what runs kept may be on another machine. */
  readonly hasOthers: boolean
}

/** Creates the tool that undoes the file changes of a call or a run. It is not registered in the hub, so no agent finds it. */
export function createUndoTool({ root, recordsOf, hasOthers }: UndoToolOptions) {
  return defineTool({
    name: UNDO_TOOL,
    title: 'Undo changes to files',
    description: 'Undo the file changes of a call or a run. For the owner only.',
    input: z.strictObject({
      run: z.string().describe('The run whose changes are undone.'),
      call: z.string().optional().describe('Undo only the changes of this call.'),
      paths: z.array(z.string()).describe('The paths that will be changed.'),
      force: z.boolean().describe('Also undo changes to files that were changed since.'),
      dryRun: z.boolean().describe('Only report what would happen.'),
    }),
    capabilities: ['read:fs', 'write:fs'],
    targets: ({ paths }) => ({ 'write:fs': paths }),
    timeoutMs: TIMEOUT_MS,
    async execute({ run, call, force, dryRun }, ctx): Promise<UndoneChange[]> {
      const files = ctx.fs as OwnerFiles
      const folder = join(root, run)
      const changes = await findChanges(root, { run, call })
      if (hasOthers) await fetchKept(changes, join(folder, 'undo'), await recordsOf(run))
      const marks = await readMarks(root, changes[0]?.time ?? '')
      const undone = new Set(changes.map(({ callId }) => callId))
      const records = dryRun ? undefined : await recordsOf(ctx.run)
      const report = await undoChanges(changes, {
        restorer: dryRun ? rehearseFiles(files, root, run) : restoreFiles(files, root, run),
        force,
        signal: ctx.signal,
        isUndone: (change) => !force && marks.isUndone(change, undone),
        onJudged: ({ seq }, isUndone) => {
          const outcome = isUndone ? {} : { outcome: 'not undoable' as const }
          records?.append({ type: 'change-undone', callId: ctx.callId, tool: UNDO_TOOL, run, change: seq, ...outcome })
        },
        diff: (step) => diffStep(files, folder, step),
      })
      for (const { path, op, action } of report.slice(0, MAX_EVIDENCE))
        ctx.evidence({ type: 'file', ref: path, summary: `${op}: ${action}` })
      return report
    },
    toModel: (report) => report.map(({ action, path }) => `${action}  ${path}`).join('\n') || 'Nothing to undo.',
  })
}

/** Copies what the run kept on another machine to this one. Trees are not shared: undoing their removal is refused. */
async function fetchKept(
  changes: readonly RecordedChange[],
  folder: string,
  records: RunState['records'],
): Promise<void> {
  for (const { change } of changes) {
    const hash = 'before' in change ? change.before.sha256 : ''
    if (hash === '' || (await lstat(join(folder, hash)).catch(() => undefined))) continue
    await records?.kept?.fetch(hash)
  }
}

function rehearseFiles(files: OwnerFiles, root: string, run: string) {
  const checkKept = async (state: FileState) => {
    for await (const _ of readKept(join(root, run), state));
  }
  const keptTree = (removed: { tree: string; digest: string }) => findTree(root, run, removed)
  return rehearse({ look: (path, options) => files.look(path, options), lookKept, keptTree, checkKept })
}

const loadDiff = lazyModule(() => import('diff'))

const MAX_BYTES = 1_000_000
const MAX_LINES = 60

/** Returns the first lines of a unified diff of a forced step, or `undefined` if the file is not text or too large. */
async function diffStep(files: ReadFiles, folder: string, step: Step): Promise<string | undefined> {
  if (step.do !== 'put-file' && step.do !== 'remove-file') return undefined
  try {
    const now = await presentText(files, step.path)
    const before = step.do === 'put-file' ? await keptText(folder, step.state) : ''
    if (now === undefined || before === undefined) return undefined
    const { createTwoFilesPatch } = await loadDiff()
    // Comparing completely different texts would take minutes for a diff that nobody reads.
    const patch = createTwoFilesPatch('now', 'after undo --force', now, before, undefined, undefined, {
      timeout: 1_000,
    })
    return patch && cut(patch)
  } catch {
    // The diff only helps the reader. Secrets are not shown, and the refusal itself reports a file that cannot be read.
    return undefined
  }
}

async function presentText(files: ReadFiles, path: string): Promise<string | undefined> {
  const { content, bytes } = await files.readBytes(path, { maxBytes: MAX_BYTES })
  return bytes <= MAX_BYTES ? asText(content) : undefined
}

async function keptText(folder: string, state: { sha256: string; bytes: number; mode: number }) {
  if (state.bytes > MAX_BYTES) return undefined
  const pieces: Uint8Array[] = []
  for await (const piece of readKept(folder, state)) pieces.push(piece)
  return asText(Buffer.concat(pieces))
}

function asText(content: Uint8Array): string | undefined {
  if (content.includes(0)) return undefined
  return new TextDecoder('utf-8', { fatal: true }).decode(content)
}

function cut(patch: string): string {
  // The first line consists of equal signs.
  const lines = patch.replace(/\n$/, '').split('\n').slice(1)
  if (lines.length <= MAX_LINES) return lines.join('\n')
  return [...lines.slice(0, MAX_LINES), `… ${lines.length - MAX_LINES} more lines`].join('\n')
}

/** The files handle of the owner's own calls. */
type OwnerFiles = ReadFiles & WriteFiles & RestoreFiles

/** Returns a restorer that uses the files guard and the content that the run, or an undo of it, has kept. */
function restoreFiles(files: OwnerFiles, root: string, run: string): Restorer {
  return {
    look: (path, options) => files.look(path, options),
    async compare({ path, ...removed }) {
      const kept = await findTree(root, run, removed)
      return compareTree({ path, look: files.look }, { path: kept, look: lookKept })
    },
    apply: (step, { isForced }) => apply(files, { root, run }, step, isForced),
  }
}

interface RunFolder {
  readonly root: string
  readonly run: string
}

async function apply(files: OwnerFiles, { root, run }: RunFolder, step: Step, isForced: boolean): Promise<void> {
  switch (step.do) {
    case 'put-file': {
      const { state, replaces } = step
      const overwrite = isForced || replaces !== undefined
      const options = { overwrite, replaces, mode: state.mode, maxBytes: state.bytes }
      await files.writeBytes(step.path, readKept(join(root, run), state), options)
      return
    }
    case 'put-folder':
      return files.putFolder(step.path, step.mode)
    case 'put-tree':
      return files.putTree(step.path, { path: await findTree(root, run, step), digest: step.digest })
    case 'fill-tree':
      return fillTree(files, step.path, await findTree(root, run, step))
    case 'remove-file':
      if (step.replaces === undefined) await files.remove(step.path)
      else await files.changeAll([{ type: 'remove', path: step.path, replaces: step.replaces }])
      return
    case 'remove-folder':
      await files.remove(step.path, { recursive: step.isRecursive })
      return
    case 'move':
      await files.move(step.path, step.to)
  }
}

/** Restores what is missing of a tree from a kept copy. Existing entries are left unchanged. */
async function fillTree(files: RestoreFiles, path: string, kept: string): Promise<void> {
  const now = await files.look(path)
  if (now.type === 'absent') {
    return files.putTree(path, { path: kept, digest: await treeDigest(kept), isPartOfTree: true })
  }
  const was = await lookKept(kept)
  if (now.type !== 'folder' || was.type !== 'folder') return
  for (const name of was.names) await fillTree(files, `${path}/${name}`, `${kept}/${name}`)
}

/** Inspects a path in a kept tree. Only for rehearsals, which have not restored the tree. */
async function lookKept(path: string, options: { readonly digest?: boolean } = {}): Promise<FoundEntry> {
  try {
    const stats = await lstat(path)
    const digest = options.digest ? { digest: await treeDigest(path) } : {}
    if (stats.isFile()) return { type: 'file', sha256: await hashOf(path), mode: stats.mode & 0o777, ...digest }
    if (stats.isSymbolicLink()) return { type: 'link', to: await readlink(path), ...digest }
    return stats.isDirectory() ? { type: 'folder', names: await readdir(path), ...digest } : { type: 'other' }
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return { type: 'absent' }
    throw error
  }
}

/**
 * Finds a kept tree. A tree is kept by moving it, so after an undo and the undo of that, it is where the last removal moved
 * it; its digest stays the same.
 */
async function findTree(
  root: string,
  run: string,
  { tree, digest }: { readonly tree: string; readonly digest: string },
): Promise<string> {
  const own = join(root, run, 'undo', tree)
  if (await isKept(own, digest)) return own
  for (const { id } of (await listRuns(root)).toReversed()) {
    const { changes } = await readChangeHistory(join(root, id))
    for (const { change } of changes.toReversed()) {
      if (change.op !== 'remove-tree' || change.digest !== digest || change.tree === undefined) continue
      const path = join(root, id, 'undo', change.tree)
      if (await isKept(path, digest)) return path
    }
  }
  return own
}

/** Returns `false` if the tree is gone, because a later undo moved it. Throws CONFLICT if it was changed. */
async function isKept(path: string, digest: string): Promise<boolean> {
  const present = await digestOf(path)
  if (present === undefined || present === digest) return present !== undefined
  throw new ToolError('CONFLICT', 'The folder that was kept was changed since.')
}

async function digestOf(path: string): Promise<string | undefined> {
  try {
    return await treeDigest(path)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined
    throw error
  }
}
