import { join } from 'node:path'
import { z } from 'zod'
import type { FileState } from '../../core/change.ts'
import { defineTool } from '../../core/define.ts'
import type { RunRecords } from '../../records/log/run-records.ts'
import { readKept } from '../../records/undo/read-kept.ts'
import { diffStep } from './diff-step.ts'
import { findChanges, readMarks } from './find-changes.ts'
import { findTree } from './find-tree.ts'
import { lookKept } from './look-kept.ts'
import { rehearse } from './rehearse.ts'
import { type OwnerFiles, restoreFiles } from './restore-files.ts'
import { type UndoneChange, undoChanges } from './undo-changes.ts'
import { UNDO_TOOL } from './undo-tool-name.ts'

const TIMEOUT_MS = 600_000
/** The events of the undo tell of every change. */
const MAX_EVIDENCE = 100

/** What the tool needs of its hub. */
interface UndoToolOptions {
  /** Folder of all runs. */
  readonly root: string
  /** The record of the run that the undo belongs to. */
  readonly recordsOf: (run: string) => Promise<RunRecords | undefined>
}

/** Makes the tool that takes back what a call or a run changed. It is not among the tools of a hub: no agent finds it. */
export function createUndoTool({ root, recordsOf }: UndoToolOptions) {
  return defineTool({
    name: UNDO_TOOL,
    title: 'Undo changes to files',
    description: 'Take back what a call or a run changed in files. For the owner only.',
    input: z.strictObject({
      run: z.string().describe('The run whose changes are taken back.'),
      call: z.string().optional().describe('Only those of this call.'),
      paths: z.array(z.string()).describe('What will be touched.'),
      force: z.boolean().describe('Also where something was changed since.'),
      dryRun: z.boolean().describe('Only say what would happen.'),
    }),
    capabilities: ['read:fs', 'write:fs'],
    targets: ({ paths }) => ({ 'write:fs': paths }),
    timeoutMs: TIMEOUT_MS,
    async execute({ run, call, force, dryRun }, ctx): Promise<UndoneChange[]> {
      const files = ctx.fs as unknown as OwnerFiles
      const folder = join(root, run)
      const changes = await findChanges(root, { run, call })
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

function rehearseFiles(files: OwnerFiles, root: string, run: string) {
  const checkKept = async (state: FileState) => {
    for await (const _ of readKept(join(root, run), state));
  }
  const keptTree = (removed: { tree: string; digest: string }) => findTree(root, run, removed)
  return rehearse({ look: (path, options) => files.look(path, options), lookKept, keptTree, checkKept })
}
