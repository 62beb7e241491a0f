import type { AskView } from '../../api/types.ts'
import { CommandView } from '../../components/command-view.tsx'
import { DiffView } from '../../components/diff-view.tsx'
import { DetailBlock } from './detail-block.tsx'
import { UrlView } from './url-view.tsx'

const TITLES = { command: 'The command', diff: 'What would change', url: 'Where it would go' } as const

/** What the arguments mean: the parts of a command, the diff of an edit, the address of a URL. */
export function AskViews({ views }: { views: readonly AskView[] }) {
  return views.map((view, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the same file may come twice, and the order never changes.
    <DetailBlock key={index} title={TITLES[view.kind]}>
      {view.kind === 'command' && <CommandView {...view} />}
      {view.kind === 'diff' && <DiffView {...view} />}
      {view.kind === 'url' && <UrlView {...view} />}
    </DetailBlock>
  ))
}
